//! Extracts a heading's text and explicit id from the source, for anchors in which spaces and expressions count.

use std::ops::Range;

use crate::sections::SourceText;

/// The text of a heading with its original spaces: some anchor styles count them, and many drop non-breaking spaces.
/// Only for a heading without inline markup; otherwise `words`.
pub(crate) fn with_own_spaces(raw: &str, words: String) -> String {
    let source_words = raw.trim().trim_matches('#').trim();
    let is_same = (source_words.contains("  ") || source_words.contains('\u{a0}'))
        && source_words.split_whitespace().eq(words.split_whitespace());
    if is_same { source_words.to_owned() } else { words }
}

/// The text of a heading with the spaces beside tags and expressions at its ends, which the parser trims. `raw` is the
/// source of the heading, `start` its byte offset.
pub(crate) fn with_edge_spaces(source: &SourceText<'_>, words: &str, start: usize, raw: &str) -> String {
    let text = source.text;
    let indent = raw.len() - raw.trim_start().trim_start_matches('#').trim_start().len();
    let (first, last) = (start + indent, start + raw.trim_end().len());
    let blanked = source.blanked;
    let blanked = &blanked[blanked.partition_point(|span| span.start < first)..];
    let blanked = &blanked[..blanked.partition_point(|span| span.end <= last)];
    let is_blank = |range: Range<usize>| text.as_bytes()[range].iter().all(u8::is_ascii_whitespace);
    let front =
        blanked.iter().fold(first, |at, span| if is_blank(at..span.start.max(at)) { span.end.max(at) } else { at });
    let back = blanked.iter().rev().fold(last, |at, span| if is_blank(span.end.min(at)..at) { span.start } else { at });
    let back = back.max(front);
    let inner = &text[front..back];
    let before = back - inner.trim_start().len();
    let after = before + inner.trim().len();
    let edge_text = |range: Range<usize>| {
        let mut out = String::new();
        let mut at = range.start;
        for span in blanked.iter().filter(|span| range.start <= span.start && span.end <= range.end) {
            out.push_str(&text[at..span.start]);
            out.push_str(expression_content(text, span));
            at = span.end;
        }
        out + &text[at..range.end]
    };
    edge_text(first..before) + words + &edge_text(after..last)
}

/// The content of an expression, verbatim; empty for a tag.
pub(crate) fn expression_content<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    let inner = |text: &'t str| text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    text.get(span.clone()).and_then(inner).unwrap_or_default()
}

/// The content of a code span, verbatim.
pub(crate) fn code_inside(raw: &str) -> &str {
    let code = raw.trim_matches('`');
    code.strip_prefix(' ').and_then(|code| code.strip_suffix(' ')).unwrap_or(code)
}

/// The id in `## Words {#id}` and in `## Words { id="id" }`, or between other delimiters.
pub(crate) fn explicit_id(line: &str, open: char, close: char) -> Option<&str> {
    let line = line.trim_end().trim_end_matches('#').trim_end();
    let (_, attributes) = line.strip_suffix(close)?.rsplit_once(open)?;
    let mut words = attributes.trim_start_matches(':').split_whitespace();
    let id =
        words.find_map(|word| word.strip_prefix('#').or_else(|| word.strip_prefix("id=")))?.trim_matches(['"', '\'']);
    (!id.is_empty()).then_some(id)
}

/// The id in `## Words {/* #id */}` and in `## Words <!-- #id -->`.
pub(crate) fn id_in_comment(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let comment = match line.strip_suffix("-->") {
        Some(line) => line.rsplit_once("<!--")?.1,
        None => line.strip_suffix('}')?.rsplit_once('{')?.1.trim().strip_prefix("/*")?.strip_suffix("*/")?,
    };
    comment.split_whitespace().next()?.strip_prefix('#').filter(|id| !id.is_empty())
}

/// The text of a heading without the attribute list at its end (`{ .wide data-toc-label="Short" }`).
pub(crate) fn without_attributes(words: &str) -> &str {
    let attributes = words.trim_end().strip_suffix('}').and_then(|rest| rest.rsplit_once('{'));
    let Some((before, attributes)) = attributes else { return words };
    let attributes = attributes.trim_start_matches(':').trim();
    let is_list = attributes.starts_with('.')
        || (attributes.starts_with("data-") && is_name(attributes))
        || attributes.split_once('=').is_some_and(|(name, _)| is_name(name));
    if is_list { before } else { words }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

#[cfg(test)]
mod tests {
    use crate::{AnchorStyle, Format};

    /// The anchors that Docusaurus 3.10 generates.
    #[test]
    fn docusaurus_counts_every_space_and_every_expression_of_a_heading() {
        for (heading, anchor) in [
            ("a <b/> b", "a--b"),
            ("<b/> b", "-b"),
            ("<a name=\"x\"/><a name=\"y\"/> Words", "-words"),
            ("<b/>b", "b"),
            ("a <b/>", "a-"),
            ("a <b/> <c/> d", "a---d"),
            ("a <Icon/> b <Icon/>", "a--b-"),
            ("a <b x=\"1\"> y </b> z", "a--y--z"),
            ("**a** <b/> `c`", "a--c"),
            ("[a](b \"c d\") <b/>", "a-"),
            ("a {x} b", "a-x-b"),
            ("a {\"y z\"} b", "a-y-z-b"),
            ("{x} a {y}", "x-a-y"),
            ("a {/* c */} b", "a--c--b"),
            ("a {/* #own */}", "own"),
            ("a <b/> {#own}", "own"),
            ("a &nbsp; b", "a--b"),
            ("a   b", "a---b"),
            ("a `b  c` d", "a-b--c-d"),
            ("![pic](x.png) b", "pic-b"),
        ] {
            let text = format!("## {heading}\n");
            let page = crate::parse_as("a.mdx", text.as_bytes(), Format::Mdx, AnchorStyle::Docusaurus);
            assert_eq!(page.headings[0].anchor, anchor, "{heading}");
        }
    }

    /// The anchors that Astro 7 generates.
    #[test]
    fn starlight_counts_spaces_beside_tags_of_a_heading() {
        for (heading, anchor) in [
            ("a <b/> b", "a--b"),
            ("a <Icon/> b <Icon/>", "a--b-"),
            ("[a <b/>](b)", "a-"),
            ("[<b/> a](b)", "-a"),
            ("a {\"y z\"} b", "a-y-z-b"),
            ("a `b  c` d", "a-b--c-d"),
            ("![pic](b.png) b", "-b"),
            ("a ![alt](b.png) b", "a--b"),
            ("a ![alt][r]", "a-"),
            ("a [![alt](b.png)](c) d", "a--d"),
            ("![a *b*](b.png) `c`", "-c"),
        ] {
            let text = format!("## {heading}\n\n[r]: b.png\n");
            for style in [AnchorStyle::Starlight, AnchorStyle::GithubSlugger] {
                let page = crate::parse_as("a.mdx", text.as_bytes(), Format::Mdx, style);
                assert_eq!(page.headings[0].anchor, anchor, "{heading}");
            }
        }
    }

    #[test]
    fn docusaurus_reads_ids_in_comments_of_markdown() {
        let text = b"## a <!-- #own -->\n\n## b <!-- c --> d\n";
        let page = crate::parse_as("a.md", text, Format::Markdown, AnchorStyle::Docusaurus);
        let anchors: Vec<&str> = page.headings.iter().map(|heading| heading.anchor.as_str()).collect();
        assert_eq!(anchors, ["own", "b--d"]);
    }
}
