//! Turns shortcodes of Hugo (`{{< tab "T" >}}`) and tags of Liquid and GitBook (`{% hint style="info" %}`) into what they
//! say: a title, a text or code. Values (`{{ site.version }}`) stay, since a gap in a sentence would mislead.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::active_tokens::Templates;
use crate::dialect_marks::usual_title;
use crate::parse_lines::lines_after;
use crate::regex;
use crate::sections::code_span_end;
use crate::words::{has_word, on_one_line};

/// Tags of which a quoted argument without a name, or its `name` or `label`, is a title.
const TITLED: &str = "tab details expand collapse accordion step card notice callout admonition alert note tip warning";
/// Tags that control the template or set a value: their arguments are not shown.
const CONTROL: &str = "assign capture if unless for case when else elsif cycle increment decrement set";
/// Tags that lay out what stands between or behind them: without a title they say nothing.
const LAYOUT: &str = "br card cards code column columns content-ref icon step stepper steps tab tabpane tabs";
/// Longest tag, in bytes, and how far back a link is looked for that it stands in.
const LONGEST: usize = 2_000;
/// The fence of code between tags.
const FENCE: &str = "`````";

// The name of an argument, and its value in one of three quotes or none.
regex!(ARGUMENT, r#"(?:([\w-]+)[ \t]*=[ \t]*)?(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^\s"'`=]+))"#);

/// Reads the lines of a page.
#[derive(Debug)]
pub(crate) struct TemplateTags {
    templates: Templates,
    open: Option<Region>,
    /// The last line on which each name is closed, counted from 1.
    ends: HashMap<String, usize>,
}

/// What stands between two tags and is not read as text with tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    Raw,
    Comment,
    Highlight,
}

impl Region {
    fn of(name: &str) -> Option<Self> {
        match name {
            "raw" => Some(Self::Raw),
            "comment" => Some(Self::Comment),
            "highlight" => Some(Self::Highlight),
            _ => None,
        }
    }

    fn ends(self, name: &str) -> bool {
        closed(name).and_then(Self::of) == Some(self)
    }
}

/// The name that a closing tag closes.
fn closed(name: &str) -> Option<&str> {
    name.strip_prefix("end").or(name.strip_prefix('/')).map(str::trim_start)
}

/// A tag on one line.
struct Tag<'l> {
    name: &'l str,
    arguments: &'l str,
    end: usize,
    is_self_closing: bool,
}

impl TemplateTags {
    /// For a text whose tags are read from the byte `body` on.
    pub(crate) fn new(templates: Templates, text: &str, body: usize) -> Self {
        let mut tags = Self { templates, open: None, ends: HashMap::new() };
        for (number, (at, line)) in (1..).zip(lines_after(text, 0)) {
            if at >= body && Self::are_in(line, templates) {
                let names: Vec<&str> = tags.in_line(line, 0).filter_map(|(_, tag)| closed(tag.name)).collect();
                tags.ends.extend(names.into_iter().map(|name| (name.to_owned(), number)));
            }
        }
        tags
    }

    /// The tags of a line from a byte on, each with the byte at which it begins, wherever they stand.
    fn in_line<'l>(&self, line: &'l str, from: usize) -> impl Iterator<Item = (usize, Tag<'l>)> {
        let mut at = from;
        std::iter::from_fn(move || {
            while let Some(next) = line[at..].find('{').map(|length| at + length) {
                let tag = self.tag(line, next);
                at = tag.as_ref().map_or(next + 1, |tag| tag.end);
                if let Some(tag) = tag {
                    return Some((next, tag));
                }
            }
            None
        })
    }

    /// Whether a line has words or signs beside its tags.
    fn has_words_beside(&self, line: &str) -> bool {
        let mut from = 0;
        let mut found = false;
        for (at, tag) in self.in_line(line, 0) {
            found |= !line[from..at].trim().is_empty();
            from = tag.end;
        }
        found || !line[from..].trim().is_empty()
    }

    /// Whether a text may have a tag.
    pub(crate) fn are_in(text: &str, templates: Templates) -> bool {
        match templates {
            Templates::Braces => text.contains("{%"),
            Templates::Shortcodes => text.contains("{{<") || text.contains("{{%"),
            Templates::Commands => text.contains("{{#"),
        }
    }

    /// The lines of a tag at the beginning of a text, if it has several.
    pub(crate) fn on_lines<'t>(&self, text: &'t str) -> Option<&'t str> {
        let words = text.trim_start_matches([' ', '\t']);
        (self.open.is_none() && words.starts_with('{')).then_some(())?;
        let tag = self.tag(words, 0)?;
        let inside = &words[2..tag.end];
        (!["{%", "{{", "\n\n"].iter().any(|sign| inside.contains(sign))).then_some(())?;
        let end = text.len() - words.len() + tag.end;
        let end = text[end..].find('\n').map_or(text.len(), |length| end + length + 1);
        text[..end].trim_end().contains('\n').then(|| &text[..end])
    }

    /// Whether the next line is code or a comment, up to a tag.
    pub(crate) fn is_verbatim(&self) -> bool {
        matches!(self.open, Some(Region::Comment | Region::Highlight))
    }

    /// The line `number` outside of fenced code, as text; it may become several lines.
    pub(crate) fn line<'l>(&mut self, line: &'l str, number: usize) -> Cow<'l, str> {
        if self.open.is_none() && !Self::are_in(line, self.templates) {
            return line.into();
        }
        let (mut out, mut at, mut from) = (String::new(), 0, 0);
        let mut has_words = false;
        // Found when first needed, once for the line.
        let mut has_words_beside = None;
        let mut endless: Vec<Region> = Vec::new();
        while let Some(next) = line[at..].find(['{', '`']).map(|length| at + length) {
            let tag = self.tag(line, next);
            match (self.open, tag) {
                (Some(open), Some(tag)) if open.ends(tag.name) => {
                    self.keep(&mut out, &line[from..next], &mut has_words);
                    if open == Region::Highlight {
                        out.push_str(if out.ends_with('\n') || out.is_empty() { "" } else { "\n" });
                        out.push_str(&format!("{FENCE}\n"));
                        has_words = true;
                    }
                    self.open = None;
                    (at, from) = (tag.end, tag.end);
                }
                (None, Some(tag)) if !is_destination(&line[..next]) => {
                    self.keep(&mut out, &line[from..next], &mut has_words);
                    let last_end = |name: &str| self.ends.get(name).copied().unwrap_or_default();
                    self.open = Region::of(tag.name).filter(|region| {
                        let ends_here = || self.in_line(line, tag.end).any(|(_, tag)| region.ends(tag.name));
                        let may_end = !tag.is_self_closing && !endless.contains(region);
                        let ends =
                            may_end && (last_end(tag.name) > number || (last_end(tag.name) == number && ends_here()));
                        if may_end && !ends {
                            endless.push(*region);
                        }
                        ends
                    });
                    match self.open {
                        Some(Region::Highlight) => {
                            let language = ARGUMENT.find(tag.arguments).map_or("", |found| found.as_str());
                            out.push_str(&format!("\n{FENCE}{}\n", language.trim_matches(['"', '\''])));
                            has_words = true;
                        }
                        Some(_) => {}
                        None => {
                            let said = said(&tag);
                            let is_kept = said.is_empty()
                                && !is_silent(tag.name)
                                && (tag.arguments.contains(['"', '\''])
                                    || (last_end(tag.name) < number
                                        && *has_words_beside.get_or_insert_with(|| self.has_words_beside(line))));
                            let shown = if is_kept { &line[next..tag.end] } else { &said };
                            has_words |= is_kept;
                            out.push_str(shown);
                        }
                    }
                    (at, from) = (tag.end, tag.end);
                }
                _ if line.as_bytes()[next] == b'`' && self.open.is_none() => {
                    at = code_span_end(line, next, line.len());
                }
                _ => at = next + 1,
            }
        }
        if from == 0 && self.open != Some(Region::Comment) {
            return line.into();
        }
        self.keep(&mut out, &line[from..], &mut has_words);
        let (indent, words) = out.split_at(out.len() - out.trim_start_matches([' ', '\t']).len());
        match has_words {
            true if out.ends_with('\n') => out.into(),
            true => format!("{out}\n").into(),
            // The line has tags alone.
            false if words.trim().is_empty() => "\n".into(),
            false => format!("\n{indent}{}\n\n", words.trim()).into(),
        }
    }

    fn keep(&self, out: &mut String, text: &str, has_words: &mut bool) {
        if self.open != Some(Region::Comment) && !(out.ends_with('\n') && text.trim().is_empty()) {
            *has_words |= !text.trim().is_empty();
            out.push_str(text);
        }
    }

    /// The tag that begins at a byte of a line.
    fn tag<'l>(&self, line: &'l str, at: usize) -> Option<Tag<'l>> {
        let rest = &line[at..];
        let (opening, closing) = match self.templates {
            Templates::Braces if rest.starts_with("{%") => ("{%", "%}"),
            Templates::Shortcodes if rest.starts_with("{{<") => ("{{<", ">}}"),
            Templates::Shortcodes if rest.starts_with("{{%") => ("{{%", "%}}"),
            Templates::Commands if rest.starts_with("{{#") && !line[..at].ends_with('\\') => ("{{", "}}"),
            _ => return None,
        };
        // Up to the next tag only, so that a page of tags without an end is searched once.
        let inside = &rest[opening.len()..rest.floor_char_boundary(LONGEST).max(opening.len())];
        let inside = &inside[..inside.find(opening).unwrap_or(inside.len())];
        let inside = &inside[..inside.find(closing)?];
        let end = at + opening.len() + inside.len() + closing.len();
        let inside = inside.trim_matches(['-', ' ', '\t']);
        let is_self_closing = inside.ends_with('/');
        let inside = inside.trim_end_matches([' ', '/']);
        // Escaped: readers see the shortcode.
        (!inside.starts_with("/*")).then_some(())?;
        let length_of_name = inside.find([' ', '\t']).unwrap_or(inside.len());
        let (name, arguments) = match inside.strip_prefix("/ ") {
            Some(_) => (inside, ""),
            None => inside.split_at(length_of_name),
        };
        Some(Tag { name, arguments, end, is_self_closing })
    }
}

/// Whether no argument of a tag is for readers.
fn is_control(name: &str) -> bool {
    name.is_empty() || name.starts_with('#') || closed(name).is_some() || has_word(CONTROL, name)
}

/// Whether a tag that says nothing may be left out: of others, only a build knows what stands in their place.
fn is_silent(name: &str) -> bool {
    is_control(name) || has_word(LAYOUT, name)
}

/// What a tag says to readers; empty for those that lay out words or end what another began, and those of which that is
/// not known.
fn said(tag: &Tag<'_>) -> String {
    if is_control(tag.name) {
        return String::new();
    }
    let arguments: Vec<(&str, &str, bool)> = ARGUMENT
        .captures_iter(tag.arguments)
        .map(|found| {
            let group = |at| found.get(at).map(|group| group.as_str());
            let quoted = group(2).or(group(3)).or(group(4));
            (group(1).unwrap_or_default(), quoted.or(group(5)).unwrap_or_default(), quoted.is_some())
        })
        .collect();
    let quoted = |keys: &str| {
        arguments.iter().find(|(key, _, is_quoted)| *is_quoted && has_word(keys, key)).map(|(_, value, _)| *value)
    };
    match tag.name {
        "embed" => return quoted("url").map_or_else(String::new, |url| format!("<{url}>")),
        "file" => {
            let Some(source) = quoted("src") else { return String::new() };
            let name = quoted("caption").filter(|caption| !caption.is_empty());
            return format!("[{}]({source})", name.unwrap_or_else(|| source.rsplit('/').next().unwrap_or(source)));
        }
        _ => {}
    }
    let positional = |wanted: bool| {
        arguments.iter().find(|(key, _, is_quoted)| key.is_empty() && *is_quoted == wanted).map(|(_, value, _)| *value)
    };
    let of_titled = || has_word(TITLED, tag.name).then(|| quoted("name label").or(positional(true))).flatten();
    let kind = || {
        let given = arguments.iter().find(|(key, ..)| has_word("type style kind", key)).map(|(_, value, _)| *value);
        let usual = [given, positional(false), Some(tag.name)].into_iter().flatten().map(usual_title);
        usual.into_iter().find(|title| !title.is_empty()).map(Cow::from)
    };
    let title = quoted("title header caption summary heading").or_else(of_titled).map(Cow::from).or_else(kind);
    let mut said = title
        .filter(|title| !title.is_empty())
        .map_or_else(String::new, |title| format!("**{}** ", on_one_line(&title.replace("**", ""))));
    if tag.name.starts_with("swagger") || tag.name.starts_with("api-method") {
        let of_api = arguments.iter().filter(|(key, ..)| has_word("method path name status in type", key));
        of_api.for_each(|(_, value, _)| said.push_str(&format!("`{}` ", value.replace('`', ""))));
    }
    said.push_str(quoted("text content description").or_else(|| quoted("term_id")).unwrap_or_default());
    said
}

/// Whether what follows on a line is inside of a link destination or the value of an attribute.
fn is_destination(before: &str) -> bool {
    let before = &before[before.floor_char_boundary(before.len().saturating_sub(LONGEST))..];
    let is_open = |opening: &str, closing: char| {
        before.rfind(opening).is_some_and(|at| !before[at + opening.len()..].contains(closing))
    };
    is_open("](", ')')
        || is_open("=\"", '"')
        || is_open("='", '\'')
        || before.ends_with('=')
        || (before.trim_start().starts_with('[') && before.contains("]:"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ActiveTokens, AttributeLists, translate};

    fn plain(templates: Templates, text: &str) -> String {
        let tokens = ActiveTokens { templates, templates_in_code: true, ..ActiveTokens::default() };
        translate(text, 0, AttributeLists::Disabled, tokens, |line| line)
            .map_or_else(|| text.to_owned(), |composed| composed.text)
    }

    #[test]
    fn tags_become_what_they_say() {
        for (text, expected) in [
            ("{% hint style=\"info\" %}\nWords.\n{% endhint %}\n", "\n**Info**\n\nWords.\n\n"),
            ("{% tabs %}\n{% tab title=\"A b\" %}\nx\n{% endtab %}\n", "\n\n**A b**\n\nx\n\n"),
            (
                "{% code title=\"a.js\" %}\n```js\n{% x %}\n```\n{% endcode %}\n",
                "\n**a.js**\n\n```js\n{% x %}\n```\n\n",
            ),
            ("{% embed url=\"https://a.org\" %}\n", "\n<https://a.org>\n\n"),
            ("{% file src=\"x/f.pdf\" %}\n", "\n[f.pdf](x/f.pdf)\n\n"),
            ("a {%- if page.x == \"y\" -%} b {% endif %}c `{% raw %}`\n", "a  b c `{% raw %}`\n"),
            ("{% raw %}{{ x }} {% if %}{% endraw %}\n", "{{ x }} {% if %}\n"),
            (
                "{% highlight ruby %}\na = {% b %}\n```\n{% endhighlight %}\nc\n",
                "\n`````ruby\na = {% b %}\n```\n`````\nc\n",
            ),
            ("{% comment %}\n```\na\n{% endcomment %}\nb\n", "\n\n\n\nb\n"),
            (
                "[a]({% link _a.md %}) <a href=\"{% link b.md %}\">\n[c]: {% link c.md %}\n",
                "[a]({% link _a.md %}) <a href=\"{% link b.md %}\">\n[c]: {% link c.md %}\n",
            ),
            ("{% include note.html content=\"Be *brief*.\" %}\n", "\nBe *brief*.\n\n"),
            (
                "{% swagger method=\"get\" path=\"/users\" summary=\"S\" %}\n{% swagger-parameter name=\"limit\" in=\"query\" %}\nx\n{% endswagger-parameter %}\n{% endswagger %}\n",
                "\n**S** `get` `/users`\n\n\n`limit` `query`\n\nx\n\n\n",
            ),
            ("{% comment /%}\na\n{% comment %}b\n{% raw %}\n", "\na\n{% comment %}b\n\n"),
            ("{% comment %}a{% endcomment %}b{% comment %}\nc\n", "b\nc\n"),
            ("a {% b\n{% x {% if y %}c\n", "a {% b\n{% x c\n"),
            ("{{ site.version }}\n", "{{ site.version }}\n"),
        ] {
            assert_eq!(plain(Templates::Braces, text), expected, "{text}");
        }
    }

    #[test]
    fn commands_of_mdbook_say_nothing() {
        let text = "{{#title Note}}\na `{{#b}}` \\{{#c}} {{#playground d.rs}}e\n";
        assert_eq!(plain(Templates::Commands, text), "\na `{{#b}}` \\{{#c}} e\n");
    }

    #[test]
    fn shortcodes_become_what_they_say() {
        for (text, expected) in [
            ("{{< tabs >}}\n{{% tab \"Linux\" %}}\nx\n{{% /tab %}}\n", "\n\n**Linux**\n\nx\n\n"),
            ("  {{< note >}}\n  x\n  {{< /note >}}\n", "\n  **Note**\n\n  x\n\n"),
            ("{{% alert title=\"T\" color=\"warning\" %}}x{{% /alert %}}\n", "**T** x\n"),
            ("A {{< glossary_tooltip text=\"pod\" term_id=\"pod\" >}} runs.\n", "A pod runs.\n"),
            (
                "A {{< glossary_tooltip term_id=\"pod\" >}} runs v{{< skew currentVersion >}}.\n",
                "A pod runs v{{< skew currentVersion >}}.\n",
            ),
            ("Use {{< param \"version\" >}}.\n{{< param x >}}\n", "Use {{< param \"version\" >}}.\n\n"),
            ("{{< feature-state state=\"beta\" >}}\n", "{{< feature-state state=\"beta\" >}}\n"),
            ("{{% info %}}a{{% /info %}}\n", "**Info** a\n"),
            ("{{% x %}}a{{% /x %}} {{% x %}}\n", "a \n"),
            (
                "{{< comment id=\"3\" >}}\na\n{{< highlight text=\"x\" />}}\nb\n",
                "{{< comment id=\"3\" >}}\na\n\nx\n\nb\n",
            ),
            ("[a]({{< ref \"x.md\" >}}) {{< icon \"star\" >}}b\n", "[a]({{< ref \"x.md\" >}}) b\n"),
            ("{{< highlight go \"linenos=table\" >}}\nx\n{{< / highlight >}}\n", "\n`````go\nx\n`````\n"),
            ("a\n{{< figure\n  src=\"b.png\"\n  caption=\"C\"\n>}}\nd {{< e\n", "a\n\n**C**\n\nd {{< e\n"),
            ("{{</* tab */>}} {% x %}\n", "{{</* tab */>}} {% x %}\n"),
            ("```\n{{< tab >}}\n```\n", "```\n{{< tab >}}\n```\n"),
        ] {
            assert_eq!(plain(Templates::Shortcodes, text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(parts in proptest::collection::vec(prop::sample::select(vec![
            "{%", "%}", "{{<", ">}}", "{{%", "%}}", " ", "end", "/", "raw", "highlight", "comment", "tab", "=", "\"a\"", "\"", "`", "```", "\n", "\u{e9}", "](", ")", "#", "-",
        ]), 0..40)) {
            plain(Templates::Braces, &parts.concat());
            plain(Templates::Shortcodes, &parts.concat());
        }
    }
}
