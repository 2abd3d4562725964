//! Tells the tags that only lay out words from those that may run code or load other resources.

use std::ops::Range;

use super::literal::is_literal;
use super::plain::may_be_cut;
use crate::parse_html::{Ends, opens_script_or_style};
use crate::parse_tags::{Attribute, Dialect, Tag, TagKind, scan_tag};
use crate::regex;
use crate::words::has_word;

/// Elements that lay out words, pictures and recordings.
const ELEMENTS: &str = "a abbr address article aside audio b bdi bdo blockquote br caption center cite code col colgroup dd \
    del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p \
    picture pre q rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead \
    time tr track tt u ul var video wbr";

/// Attributes of those that change how they look or where they lead.
const ATTRIBUTES: &str = "abbr align alt aria-describedby aria-expanded aria-hidden aria-label aria-labelledby autoplay \
    bgcolor border cellpadding cellspacing cite class classname color colspan controls datetime decoding default dir download \
    face fetchpriority frameborder height hidden href hreflang id itemprop kind label lang loading loop markdown markdown1 \
    markdown-1 media muted name nowrap open playsinline poster referrerpolicy rel reversed role rowspan scope size sizes span \
    src srclang srcset start style tabindex target title translate type valign value v-pre width allowfullscreen allow";

/// Attributes whose text is put into the page as HTML, or names what is rendered in the element's place.
const AS_CODE: [&str; 9] =
    ["is", "html", "srcdoc", "dangerouslysetinnerhtml", "innerhtml", "outerhtml", "textcontent", "__html", "ref"];

/// Elements that run code, load resources or redirect, in whatever spelling.
const ACTIVE: &str = "script style object embed applet base meta link frame frameset portal template slot component form \
    input button textarea select svg math noscript xmp plaintext dialog";

/// How far a malformed tag is read, in bytes.
const MAX_BROKEN_TAG_BYTES: usize = 500;

regex!(PLAIN_STYLE, r"(?i)\A[a-z0-9 :;,.%#()!-]*\z");
regex!(AUTOLINK, r"\A<(?:(?:https?|ftp)://[\w.+@:/?&=#%~,;!$*-]+|(?:mailto:)?[\w.+-]+@[\w.-]+)>");

/// What a tag is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TagEffect {
    Plain,
    /// A component or an element of the site's own, with nothing but plain attributes; by the key of its name.
    Component(String),
    Active,
}

/// Who reads the tags of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagReader {
    Browser,
    Vue,
    Jsx,
}

/// What a tag is, apart from its expressions.
pub(super) fn effect_of(text: &str, tag: &Tag, reader: TagReader) -> TagEffect {
    let name = tag.name.to_ascii_lowercase();
    let is_component = match reader {
        TagReader::Jsx => tag.is_component(),
        TagReader::Vue => tag.name.contains(|c: char| c.is_ascii_uppercase()),
        TagReader::Browser => false,
    };
    let local = name.rsplit([':', '.']).next().unwrap_or_default();
    if tag.kind == TagKind::Close {
        return TagEffect::Plain;
    }
    if !is_component && has_word(ACTIVE, local) || tag.attributes.iter().any(|attribute| runs(text, attribute)) {
        return TagEffect::Active;
    }
    if !is_component && name == "iframe" {
        return frame(text, tag);
    }
    let is_plain = |attribute: &Attribute| {
        has_word(ATTRIBUTES, &attribute.name.to_ascii_lowercase())
            && (!attribute.name.eq_ignore_ascii_case("style")
                || attribute.value.clone().is_none_or(|value| is_plain_style(&text[value])))
    };
    if !is_component && has_word(ELEMENTS, &name) {
        return if tag.attributes.iter().all(is_plain) { TagEffect::Plain } else { TagEffect::Active };
    }
    match reader {
        // An element that no browser knows.
        TagReader::Browser if tag.attributes.is_empty() && !tag.name.contains('-') => TagEffect::Plain,
        TagReader::Jsx if tag.name.is_empty() => TagEffect::Plain,
        _ => TagEffect::Component(tag.name.clone()),
    }
}

/// A frame is known by the host that it shows.
fn frame(text: &str, tag: &Tag) -> TagEffect {
    let source = tag.value(text, "src").unwrap_or_default();
    let host = source.strip_prefix("https://").and_then(|rest| rest.split(['/', '?', '#', '\\']).next());
    match host {
        Some(host) if !host.is_empty() => TagEffect::Component(format!("iframe {host}")),
        _ => TagEffect::Active,
    }
}

fn is_plain_style(style: &str) -> bool {
    let style_lower = style.to_ascii_lowercase();
    PLAIN_STYLE.is_match(style)
        && !["url(", "expression", "position", "behavior", "import"].iter().any(|word| style_lower.contains(word))
}

/// Whether an attribute may run its value, on any element or component.
fn runs(text: &str, attribute: &Attribute) -> bool {
    let value = attribute.value.clone().map(|range| &text[range]);
    let name = attribute.name.to_ascii_lowercase();
    let is_handler = name.starts_with("on") && name.len() > 2 && !["once", "only", "one"].contains(&name.as_str());
    // Expressions in the attributes of Vue, Astro, Alpine and htmx; a literal has no effect.
    let is_template = name.starts_with([':', '@', '#', '[', '(', '*', '{', '$', '.'])
        || ["v-", "x-", "hx-", "data-hx-", "set:", "client:", "define:", "is:", "bind:", "use:", "ng-"]
            .iter()
            .any(|start| name.starts_with(start))
            && name != "v-pre";
    AS_CODE.contains(&name.as_str())
        || is_handler
        || (is_template && (!name.starts_with(':') || value.is_none_or(|value| !is_literal(value))))
        || value.is_some_and(|value| runs_script(value) || value.contains("{{") || value.contains("{%"))
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

/// The active constructs among the tags of a text, outside of `plain` code: of each its range, and its key where it is known by
/// its name. A `script` or `style` element is one range together with its content. A `<` that begins nothing plain counts
/// to the end of its line, because browsers accept more than any reader of a page expects.
pub(super) fn tags(text: &str, body: usize, plain: &[Range<usize>], reader: TagReader) -> Tags {
    let mut found = Tags::default();
    let mut ends = Ends::default();
    let mut code = plain.iter().peekable();
    let mut at = body;
    // What else is broken up to here is a part of the last one.
    let mut broken_end = body;
    // Whether no comment that begins from here on ends.
    let mut is_unclosed = false;
    while let Some(next) = text[at..].find('<').map(|length| at + length) {
        at = next + 1;
        while code.next_if(|range| range.end <= next).is_some() {}
        if let Some(range) = code.peek().filter(|range| range.contains(&next)) {
            at = range.end;
            continue;
        }
        let rest = &text[next..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            let closed = if is_unclosed { None } else { comment.find("-->") };
            let Some(closed) = closed else {
                // Readers differ on where it ends, so what stands behind it is looked through like any other text.
                is_unclosed = true;
                if next >= broken_end {
                    broken_end = next + rest.find('\n').unwrap_or(rest.len());
                    found.spans.push(next..broken_end);
                    found.active.push((next..broken_end, None));
                }
                at = next + "<!--".len();
                continue;
            };
            let end = next + closed + "<!---->".len();
            let inside = &comment[..closed];
            let is_plain = !inside.starts_with(['>', '-'])
                && !["--", "<!"].iter().any(|sign| inside.contains(sign))
                && !may_be_cut(text, &(next..end), plain);
            found.spans.push(next..end);
            if !is_plain {
                found.active.push((next..end, None));
            }
            at = end;
            continue;
        }
        let autolink = AUTOLINK.find(rest);
        match scan_tag(text, next, Dialect::Html) {
            _ if autolink.is_some_and(|found| !runs_script(&found.as_str()[1..])) => {}
            Some(tag) => {
                found.spans.push(tag.span.clone());
                match effect_of(text, &tag, reader) {
                    _ if may_be_cut(text, &tag.span, plain) => found.active.push((tag.span.clone(), None)),
                    TagEffect::Plain => {}
                    TagEffect::Component(name) => {
                        found.active.push((tag.span.clone(), Some(format!("component {name}"))));
                    }
                    TagEffect::Active => {
                        let end = if opens_script_or_style(&tag) { ends.of(text, &tag) } else { None };
                        found.active.push((next..end.unwrap_or(tag.span.end), None));
                    }
                }
                at = tag.span.end;
            }
            None if next >= broken_end
                && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?%".contains(c)) =>
            {
                let limit = text.floor_char_boundary(text.len().min(next + MAX_BROKEN_TAG_BYTES));
                let broken = &text[next..limit];
                let end = broken.find('\n').unwrap_or(broken.len());
                broken_end = next + end;
                found.active.push((next..broken_end, None));
            }
            None => {}
        }
    }
    found
}

/// The tags and comments of a text.
#[derive(Debug, Default)]
pub(super) struct Tags {
    pub(super) spans: Vec<Range<usize>>,
    pub(super) active: Vec<(Range<usize>, Option<String>)>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> usize {
        tags(text, 0, &[], TagReader::Browser).active.len()
    }

    #[test]
    fn tags_that_run_are_told_from_those_that_show() {
        for harmless in [
            "<div class=\"a\">b</div>",
            "<img src=\"a.png\" alt=\"on = off\">",
            "<a href=\"https://x.y\">",
            "a < b, on = 1",
            "<b v-pre>",
            "<Words>",
            "<details open>",
            "<img src=\"data:image/png;base64,AAAA\">",
            "<br/>",
            "see <https://x.y/?a=b> and <a.b@x.y>",
            "<!-- a note -->",
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
            "<iframe src=\"https://videos.test/1\"></iframe>",
            "<component is=\"script\">",
            "<one two>",
            "<p class=\"{{ f() }}\">",
            "<p style=\"background: url(//x.y)\">",
            "<!-- a -- b -->",
            "<!-- a",
            "<?php f() ?>",
            "<a href=\"x",
        ] {
            assert_eq!(found(code), 1, "{code}");
        }
    }

    #[test]
    fn a_comment_without_an_end_hides_nothing() {
        let text = "<!-- a\nb\n<script>f()</script>\n";
        let active: Vec<&str> =
            tags(text, 0, &[], TagReader::Browser).active.into_iter().map(|(range, _)| &text[range]).collect();
        assert_eq!(active, ["<!-- a", "<script>f()"]);
    }

    proptest! {
        #[test]
        fn any_text_is_looked_through(text in "(<|/|>|script|on[a-z]{1,3}=|\"|'|:|javascript:| |\n|\\PC){0,30}") {
            for reader in [TagReader::Browser, TagReader::Vue] {
                for (range, _) in tags(&text, 0, &[], reader).active {
                    prop_assert!(text[range].starts_with('<'));
                }
            }
        }
    }
}
