//! The chat for the pages of a docs site: its options, a preview, and what to put into the site.

use docent_access::{Key, KeyKind, KeyRecord};
use docent_types::{Project, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::dashboard::AuthorizedRequest;
use crate::icon::Icon;
use crate::layout::Section;
use crate::pages::keys::has_ended;
use crate::pages::snippets::{KEY, in_script, snippet};
use crate::parts::{empty, notice};
use crate::text::relative_time;

const ASSISTANT_KEY: &str = "docent_assistant_";

/// An option of the chat: its name, the words of the form, and an example. Several lines become one with `|`.
struct ChatOption {
    name: &'static str,
    label: &'static str,
    example: &'static str,
}

const OPTIONS: [ChatOption; 8] = [
    ChatOption { name: "title", label: "Title", example: "Ask the docs" },
    ChatOption { name: "label", label: "Words of the button", example: "Ask" },
    ChatOption { name: "welcome", label: "Welcome", example: "What are you looking for?" },
    ChatOption { name: "placeholder", label: "Words in the field", example: "Ask a question" },
    ChatOption { name: "note", label: "Words below the field", example: "Answers can be wrong." },
    ChatOption { name: "starters", label: "Questions to begin with, one a line", example: "How do I …?" },
    ChatOption { name: "help", label: "Where to turn to: an address or a URL", example: "support@example.com" },
    ChatOption { name: "base", label: "Where the docs begin", example: "/docs" },
];

/// The custom property of a colour without its prefix, the words of the form, and what it is unless it is chosen.
const COLOURS: [(&str, &str, &str); 3] =
    [("accent", "Colour", "#4f46e5"), ("accent-text", "Words on that colour", "#ffffff"), ("link", "Links", "#4338ca")];

/// The chat as its owner wants it.
struct Chat {
    server: String,
    domain: String,
    key: String,
    /// The colours that were chosen, by their custom properties without the prefix.
    colours: Vec<(&'static str, String)>,
    /// The options that were given, in order.
    options: Vec<(&'static str, String)>,
}

impl Chat {
    fn in_url(request: &AuthorizedRequest<'_>, project: &Project) -> Self {
        let text = |name| request.http.query(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let lines =
            |text: String| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ");
        let mode = text("mode").filter(|mode| mode == "search").map(|mode| ("mode", mode));
        let theme = text("theme").filter(|theme| theme == "light" || theme == "dark").map(|theme| ("theme", theme));
        let colours = COLOURS.iter().filter_map(|(name, _, usual)| Some((*name, text(name)?, *usual)));
        let colours = colours.filter(|(_, colour, usual)| is_colour(colour) && colour != usual);
        let options = OPTIONS.iter().filter_map(|option| Some((option.name, lines(text(option.name)?))));
        Self {
            server: request.base_url(),
            domain: project.domain.to_string(),
            key: text("key").filter(|key| key.starts_with(ASSISTANT_KEY)).unwrap_or_else(|| KEY.to_owned()),
            colours: colours.map(|(name, colour, _)| (name, colour)).collect(),
            options: mode.into_iter().chain(theme).chain(options).collect(),
        }
    }

    fn has_key(&self) -> bool {
        self.key != KEY
    }

    fn value(&self, name: &str) -> &str {
        self.options.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let keys = [("domain", self.domain.as_str()), ("key", self.key.as_str())];
        keys.into_iter().chain(self.options.iter().map(|(name, value)| (*name, value.as_str())))
    }

    fn script(&self) -> String {
        format!("{}/widget.js", self.server)
    }

    /// The colours as declarations.
    fn properties(&self) -> String {
        let declarations = self.colours.iter().map(|(name, colour)| format!("--docent-{name}: {colour}"));
        declarations.collect::<Vec<_>>().join("; ")
    }

    /// The element for a page.
    fn html(&self) -> String {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        let attributes: String =
            self.all().map(|(name, value)| format!("\n  data-{name}=\"{}\"", escaped(value))).collect();
        format!("<script type=\"module\" src=\"{}\"{attributes}></script>", self.script())
    }

    /// A script that does the same, for generators that load scripts of the site.
    fn javascript(&self) -> String {
        let options: Map<String, Value> = self.all().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let [script, options] = [self.script().into(), Value::Object(options)].map(|value| in_script(&value));
        format!("import({script}).then(({{ init }}) => init({options}));")
    }

    /// The attributes of the element as JSON, for generators that are configured with them.
    fn attributes(&self, source: &str) -> String {
        let names = [("type".to_owned(), "module".into()), (source.to_owned(), self.script().into())];
        let data = self.all().map(|(name, value)| (format!("data-{name}"), Value::from(value)));
        in_script(&Value::Object(names.into_iter().chain(data).collect()))
    }

    fn snippets(&self) -> Markup {
        let json = self.attributes("src");
        let head = format!("head: [[\"script\", {json}]],");
        let starlight = format!("head: [{{ tag: \"script\", attrs: {json} }}],");
        let mkdocs = "extra_javascript:\n  - docent.js";
        let mdbook = "[output.html]\nadditional-js = [\"docent.js\"]";
        let sphinx = "html_static_path = [\"_static\"]\nhtml_js_files = [\"docent.js\"]";
        html! {
            (snippet("html", "HTML, Hugo, Jekyll and any template", &self.html()))
            (snippet("docusaurus", "Docusaurus: docusaurus.config.js", &format!("scripts: [{json}],")))
            (snippet("vitepress", "VitePress: .vitepress/config.mts", &head))
            (snippet("starlight", "Starlight: astro.config.mjs, inside starlight({ … })", &starlight))
            (snippet("script", "Mintlify, MkDocs, mdBook, Sphinx: a file docent.js", &self.javascript()))
            p.soft { "Mintlify loads that file from the folder of the docs by itself. The others name it:" }
            (snippet("mkdocs", "MkDocs: mkdocs.yml, the file in the folder of the docs", mkdocs))
            (snippet("mdbook", "mdBook: book.toml, the file beside it", mdbook))
            (snippet("sphinx", "Sphinx: conf.py, the file in _static", sphinx))
            @if !self.colours.is_empty() { (snippet("css", "The colours, in a stylesheet of the site", &format!(":root {{ {} }}", self.properties()))) }
            p.soft { "Where the site has a Content-Security-Policy, add " code { (self.server) } " to " code { "script-src" } " and " code { "connect-src" } "." }
        }
    }

    fn form(&self) -> Markup {
        let key = if self.has_key() { self.key.as_str() } else { "" };
        html! {
            form.fields method="get" {
                div { label for="key" { "Assistant key" } input #key name="key" value=(key) placeholder=(KEY) autocomplete="off" spellcheck="false"; }
                @for ChatOption { name, label, example } in OPTIONS {
                    div {
                        label for=(name) { (label) }
                        @if name == "starters" { textarea id=(name) name=(name) rows="3" placeholder=(example) { (self.value(name).replace(" | ", "\n")) } }
                        @else { input id=(name) name=(name) value=(self.value(name)) placeholder=(example); }
                    }
                }
                @for (name, label, usual) in COLOURS {
                    div { label for=(name) { (label) } input id=(name) type="color" name=(name) value=(self.colours.iter().find(|(known, _)| *known == name).map_or(usual, |(_, colour)| colour)); }
                }
                div { label for="theme" { "Light or dark" } select #theme name="theme" {
                    option value="" { "As the page" }
                    @for theme in ["light", "dark"] { option value=(theme) selected[self.value("theme") == theme] { (theme) } }
                } }
                div { label for="mode" { "What it does" } select #mode name="mode" { option value="" { "Answers and searches" } option value="search" selected[self.value("mode") == "search"] { "Searches only" } } }
                div { button type="submit" { "Show" } }
            }
        }
    }

    fn preview(&self, fingerprint: &str) -> Markup {
        let value = |name| Some(self.value(name)).filter(|value| !value.is_empty());
        html! {
            docent-chat #preview data-properties=(self.properties()) data-theme=[value("theme")] data-note=[value("note")] data-domain=(self.domain) data-key=(self.key) data-mode=[value("mode")]
                data-title=[value("title")] data-welcome=[value("welcome")] data-placeholder=[value("placeholder")]
                data-starters=[value("starters")] data-help=[value("help")] data-base=[value("base")] data-hotkey="off" data-user=(fingerprint) {}
            script type="module" src="/widget.js" {}
        }
    }
}

pub(crate) async fn widget(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let chat = Chat::in_url(request, project);
    let keys = request.is_owner().then(|| format!("/dashboard/{}/keys", project.domain));
    let keys = keys.as_deref();
    let records = request.parts().keys.keys(Some(&project.id)).await.map_err(HttpError::internal)?;
    let hash = Key::parse(&chat.key).map(|key| key.hash());
    let known = records.iter().find(|record| Some(record.hash) == hash);
    let body = html! {
        p { "One script puts a chat on every page of the docs. It needs an assistant key, which is public, with the origins of your site, and of this page for the preview: " @match keys { Some(keys) => a href=(keys) { "make one" }, None => "an owner makes one" } "." }
        (chat.form())
        @if chat.has_key() { (where_used(known, &chat.server, keys, request.parts().clock.now())) }
        h2 { "Preview" }
        @if chat.has_key() { p.soft { "It asks with the key, as your readers do. What is asked here is not counted among their questions." } (chat.preview(request.parts().assistant.preview_fingerprint())) } @else { (empty(Icon::Chat, "The chat is here once it has a key", "Give an assistant key above; it is public.", keys.map(|keys| (keys, "Make a key")))) }
        h2 { "For your site" }
        (chat.snippets())
    };
    Ok(request.page("Chat on your site", Section::Widget, Some(project), &body))
}

/// Where a key may be used from, and whether the preview may use it.
fn where_used(key: Option<&KeyRecord>, server: &str, keys: Option<&str>, now: Timestamp) -> Markup {
    let Some(key) = key.filter(|key| key.grant.kind == KeyKind::Assistant && !has_ended(key, now)) else {
        let why = "This key is none of the project's assistant keys, or it was revoked or has expired. ";
        return notice(
            "bad",
            &html! { p { (why) @if let Some(keys) = keys { a href=(keys) { "See the keys" } "." } } },
        );
    };
    let origins: Vec<&str> = key.grant.allow_origin.iter().map(|origin| origin.as_str()).collect();
    let is_of_preview =
        |origin: &&str| server.strip_prefix(*origin).is_some_and(|path| path.is_empty() || path.starts_with('/'));
    html! {
        @if origins.is_empty() {
            p.soft { "This key may be used on the pages of any site. " @if let Some(keys) = keys { a href=(keys) { "Make one" } " for the origins of yours." } }
        } @else {
            p.soft { "This key may be used on the pages of " @for (at, origin) in origins.iter().enumerate() { @if at > 0 { ", " } code { (origin) } } "." }
            @if !origins.iter().any(is_of_preview) {
                p.soft { "The preview is not among them, so the chat below says that the key is not for this site." }
            }
        }
        @if let Some(at) = key.grant.expires_at { p.soft { "It ends " (relative_time(at, now)) ", and the chat with it." } }
    }
}

/// Whether this is a colour as `#rrggbb`.
fn is_colour(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(welcome: &str) -> Chat {
        Chat {
            server: "https://docent.example.com".to_owned(),
            domain: "acme".to_owned(),
            key: KEY.to_owned(),
            colours: vec![("accent", "#0f766e".to_owned()), ("accent-text", "#fafafa".to_owned())],
            options: vec![("welcome", welcome.to_owned())],
        }
    }

    #[test]
    fn no_text_leaves_its_quotes() {
        let hostile = chat("\"</script><script>alert(1)//");
        assert!(
            hostile.html().contains("data-welcome=\"&quot;&lt;/script>&lt;script>alert(1)//\""),
            "{}",
            hostile.html()
        );
        for text in [hostile.javascript(), hostile.attributes("src")] {
            assert!(!text.contains('<') && text.contains(r#"\"\u003c/script>"#), "{text}");
        }
    }

    #[test]
    fn colours_are_declared() {
        assert_eq!(chat("").properties(), "--docent-accent: #0f766e; --docent-accent-text: #fafafa");
    }

    #[test]
    fn a_colour_is_six_digits() {
        assert!(is_colour("#0f766e") && !is_colour("#0f766") && !is_colour("red") && !is_colour("#0f766e;x"));
    }
}
