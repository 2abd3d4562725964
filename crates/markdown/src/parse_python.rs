//! Rewrites what Python-Markdown reads otherwise than CommonMark into the same number of bytes that a parser of CommonMark
//! reads alike: definitions, HTML whose content is Markdown, and lines that begin with an inline element.

use std::borrow::Cow;

use crate::lines_from::{Fence, FenceLine};
use crate::parse_lines::lines_after;
use crate::regex;

// An element whose content is Markdown, alone on its line. One with an id stays what it is: the id is an anchor.
regex!(
    OPENS,
    r#"\A {0,3}<(figure|div|section|article|aside|details|center|p|figcaption)\b([^<>]*\smarkdown\b[^<>]*)>[ \t]*\z"#
);
regex!(CLOSES, r"\A[ \t]*</(figure|div|section|article|aside|details|center|p|figcaption)>[ \t]*\z");
regex!(INLINE, r"\A {0,3}</?(?:img|br|a|span|b|i|em|strong|kbd|sub|sup|small|code)\b[^<>]*>[ \t]*\z");

/// The text as a parser of CommonMark has to see it, byte by byte as long.
pub(crate) fn rewritten(text: Cow<'_, str>, body: usize) -> Cow<'_, str> {
    let mut edits: Vec<(std::ops::Range<usize>, u8)> = Vec::new();
    let mut fence = Fence::default();
    let (mut open, mut blank_lines, mut may_be_term) = (Vec::new(), 0, false);
    for (start, line) in lines_after(&text, body) {
        let words = line.trim_end_matches(['\n', '\r']);
        if words.trim().is_empty() {
            blank_lines += 1;
            continue;
        }
        if fence.line(line) == FenceLine::Inside {
            (blank_lines, may_be_term) = (0, false);
            continue;
        }
        let indent = words.len() - words.trim_start_matches(' ').len();
        let is_definition = words[indent..].starts_with(": ") && indent < 4 && may_be_term && blank_lines < 2;
        if is_definition {
            edits.push((start + indent..start + indent + 1, b'-'));
        } else if let Some(found) = OPENS.captures(words).filter(|found| !found[2].contains("id=")) {
            open.push(found[1].to_owned());
            edits.push((start..start + words.len(), b' '));
        } else if CLOSES.captures(words).is_some_and(|found| open.last().is_some_and(|name| *name == found[1])) {
            open.pop();
            edits.push((start..start + words.len(), b' '));
        } else if words[indent..].starts_with('<') && INLINE.is_match(words) {
            let end = start + line.len();
            if !line_words(&text[end..]).trim().is_empty() {
                edits.push((start + words.len()..end, b' '));
            }
        }
        may_be_term = is_definition || indent < 4 && !words.starts_with('#') || may_be_term && indent >= 4;
        blank_lines = 0;
    }
    if edits.is_empty() {
        return text;
    }
    let mut bytes = text.as_bytes().to_vec();
    for (range, byte) in edits {
        // A whole line, or ASCII: the text is still UTF-8.
        bytes[range].fill(byte);
    }
    String::from_utf8(bytes).map_or(text, Cow::Owned)
}

fn line_words(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::anchors::AnchorStyle;
    use crate::page::Format;
    use crate::parse::parse_as;

    #[test]
    fn definitions_html_and_inline_elements_are_read_as_python_markdown_does() {
        let text = "# A\n\nterm\n\n: def [a](a.md)\n\n    more [b](b.md)\n\n<figure markdown=\"span\">\n  ![c](c.png)\n  <figcaption>d</figcaption>\n</figure>\n\n\
                    <img src=\"z.png\">\n[e](e.md)\n\n```\n: [no](no.md)\n<div markdown>\n```\n\nwords\n\n    [code](code.md)\n\n<div id=\"x\" markdown>\n[f](f.md)\n</div>\n";
        let targets = |anchors| {
            let page = parse_as("a.md", text.as_bytes(), Format::Markdown, anchors);
            page.links.iter().map(|link| link.target.clone()).collect::<Vec<_>>()
        };
        assert_eq!(targets(AnchorStyle::Python), ["a.md", "b.md", "c.png", "z.png", "e.md"]);
        assert_eq!(targets(AnchorStyle::GitHub), ["a.md", "z.png"]);
    }

    proptest! {
        #[test]
        fn nothing_is_longer_or_shorter(text in "([:<>/ a-c\u{e9}\n`]|<figure markdown>|</figure>|<br>|\n\n|\n: |    ){0,40}") {
            let rewritten = rewritten(text.as_str().into(), 0);
            prop_assert_eq!(rewritten.len(), text.len());
            parse_as("a.md", text.as_bytes(), Format::Markdown, AnchorStyle::Python);
        }
    }
}
