//! Finds tags that make a browser run code or load other resources.

use std::ops::Range;

use super::literal::is_literal;
use crate::parse_html::Ends;
use crate::parse_html::opens_script_or_style;
use crate::parse_tags::Dialect;
use crate::parse_tags::Tag;
use crate::parse_tags::TagKind;
use crate::parse_tags::scan_tag;

/// Elements that run code, load resources or redirect.
const ELEMENTS: [&str; 11] =
    ["script", "style", "object", "embed", "applet", "base", "meta", "link", "frame", "frameset", "portal"];

/// Attributes whose text is put into the page as HTML.
const AS_HTML: [&str; 6] = ["srcdoc", "dangerouslysetinnerhtml", "innerhtml", "set:html", "v-html", "__html"];

/// Attribute names that begin with `on` but are not event handlers.
const NO_HANDLERS: [&str; 3] = ["once", "only", "one"];

/// How far a malformed tag is read, in bytes.
const MAX_BROKEN_TAG_BYTES: usize = 500;

/// Whether a tag is code, apart from its expressions. In JSX a capitalized name is a component, for example `<Frame>`.
pub(super) fn is_code(text: &str, tag: &Tag, dialect: Dialect) -> bool {
    let name = tag.name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
    if ELEMENTS.contains(&name.as_str()) && !(dialect == Dialect::Jsx && tag.is_component()) {
        return tag.kind != TagKind::Close;
    }
    tag.attributes.iter().any(|attribute| {
        let value = attribute.value.clone().map(|range| &text[range]);
        let name = attribute.name.to_ascii_lowercase();
        let is_handler = name.starts_with("on") && name.len() > 2 && !NO_HANDLERS.contains(&name.as_str());
        // Expressions in the attributes of Vue, Alpine and htmx; a literal has no effect.
        let is_template = name.starts_with([':', '@'])
            || ["v-", "x-on", "x-data", "x-init", "x-html", "hx-on"].iter().any(|start| name.starts_with(start));
        let animates = name == "attributename"
            && value.is_some_and(|value| value.to_ascii_lowercase().starts_with("on") || value.ends_with("href"));
        AS_HTML.contains(&name.as_str())
            || is_handler
            || animates
            || value.is_some_and(|value| runs_script(value) || is_template && !is_literal(value))
    })
}

/// Whether a URL runs its own content when it is followed or loaded.
pub fn runs_script(address: &str) -> bool {
    let visible = address.chars().filter(|c| !c.is_whitespace() && !c.is_control() && *c != '\u{feff}').take(200);
    let address = visible.collect::<String>().to_lowercase();
    let is_picture = address.strip_prefix("data:image/").is_some_and(|kind| !kind.starts_with("svg"));
    let scheme = address.split(['/', '?', '#']).next().unwrap_or_default();
    // A scheme written with HTML entities may be any scheme.
    let start = address.split(['/', '?']).next().unwrap_or_default();
    let is_hidden = ["&#", "&colon", "&tab", "&newline"].iter().any(|entity| start.contains(entity));
    ["javascript:", "vbscript:", "livescript:"].iter().any(|script| scheme.contains(script))
        || (address.starts_with("data:") && !is_picture)
        || is_hidden
}

/// The tags in Markdown that are code, outside of displayed code. A `script` or `style` element is one range together
/// with its content. The malformed beginning of such a tag counts too, because browsers accept more than any reader of
/// a page expects.
pub(super) fn tags(text: &str, body: usize, code: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut ends = Ends::default();
    let mut code = code.iter().peekable();
    let mut at = body;
    while let Some(next) = text[at..].find('<').map(|length| at + length) {
        at = next + 1;
        while code.next_if(|range| range.end <= next).is_some() {}
        if code.peek().is_some_and(|range| range.contains(&next)) {
            continue;
        }
        match scan_tag(text, next, Dialect::Html) {
            Some(tag) if is_code(text, &tag, Dialect::Html) => {
                let end = if opens_script_or_style(&tag) { ends.of(text, &tag) } else { None };
                found.push(next..end.unwrap_or(tag.span.end));
            }
            Some(_) => {}
            None => {
                let end = text.floor_char_boundary(text.len().min(next + MAX_BROKEN_TAG_BYTES));
                let broken = &text[next..end];
                let broken = &broken[..broken[1..].find('<').map_or(broken.len(), |length| length + 1)];
                if is_broken_code(broken) {
                    found.push(next..next + broken.len());
                }
            }
        }
    }
    found
}

fn is_broken_code(text: &str) -> bool {
    let inside = text[1..].trim_start_matches('/');
    if !inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let name_end = inside.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inside.len());
    let name = inside[..name_end].to_ascii_lowercase();
    let mut parts = inside.split(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\''));
    let handles = |part: &str| {
        let part = part.to_ascii_lowercase();
        part.starts_with("on") && part.contains('=')
    };
    ELEMENTS.contains(&name.as_str()) || parts.any(handles) || inside.to_ascii_lowercase().contains("javascript:")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> usize {
        tags(text, 0, &[]).len()
    }

    #[test]
    fn tags_that_run_are_told_from_those_that_show() {
        for harmless in [
            "<div class=\"a\">b</div>",
            "<img src=\"a.png\" alt=\"on = off\">",
            "<a href=\"https://x.y\">",
            "a < b, on = 1",
            "<iframe src=\"https://videos.test/1\"></iframe>",
            "<Badge :open=\"true\" v-pre once>",
            "<details open>",
            "<img src=\"data:image/png;base64,AAAA\">",
            "<br/>",
            "<one two>",
        ] {
            assert_eq!(found(harmless), 0, "{harmless}");
        }
        for code in [
            "<script>f()</script>",
            "<SCRIPT src=//x.y>",
            "<img src=x onerror=f()>",
            "<img/src=x/onerror=f()>",
            "<a href=\"javascript:f()\">",
            "<a href=\" java\nscript:f()\">",
            "<a href=\"&#106;avascript:f()\">",
            "<iframe srcdoc=\"<p>\">",
            "<a :href=\"f()\">",
            "<button @click=\"f()\">",
            "<p v-html=\"a\">",
            "<style>a{}</style>",
            "<meta http-equiv=refresh content=0>",
            "<svg onload=f()//",
            "<script src=\"",
            "<a href=\"data:text/html,x\">",
            "<set attributeName=\"onclick\" to=\"f()\">",
            "<svg:script>f()</svg:script>",
        ] {
            assert_eq!(found(code), 1, "{code}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_through(text in "(<|/|>|script|on[a-z]{1,3}=|\"|'|:|javascript:| |\n|\\PC){0,30}") {
            for range in tags(&text, 0, &[]) {
                prop_assert!(text[range].starts_with('<'));
            }
        }
    }
}
