//! Splits a block of HTML into tags and the text between them.

use std::ops::Range;

use crate::parse_tags::{Dialect, Tag, TagKind, scan_tag};

/// A tag, or the text between two tags.
#[derive(Debug)]
pub(crate) enum Piece {
    Tag(Tag),
    Words(Range<usize>),
}

/// After this many `<` of a block that begin no tag, or tags of `script` and `style` that are never closed, the rest is
/// text and is not scanned.
const MAX_FAILED_SCANS: usize = 100;

/// Splits a range of HTML. Comments, and the content of `script` and `style`, are left out.
pub(crate) fn pieces(text: &str, range: Range<usize>) -> Vec<Piece> {
    let html = &text[..range.end];
    let mut found = Vec::new();
    let mut words = range.start;
    let mut at = range.start;
    let (mut failed_scans, mut ends) = (0, Ends::default());
    while let Some(next) = html[at..].find('<').map(|length| at + length) {
        let (tag, end) = if html[next..].starts_with("<!") || html[next..].starts_with("<?") {
            (None, comment_or_declaration_end(html, next))
        } else if failed_scans >= MAX_FAILED_SCANS {
            at = next + 1;
            continue;
        } else if let Some(tag) = scan_tag(html, next, Dialect::Html) {
            let element_end = ends.of(html, &tag);
            failed_scans += usize::from(element_end.is_none() && opens_script_or_style(&tag));
            let end = element_end.unwrap_or(tag.span.end);
            (Some(tag), end)
        } else {
            failed_scans += 1;
            at = next + 1;
            continue;
        };
        if next > words {
            found.push(Piece::Words(words..next));
        }
        found.extend(tag.map(Piece::Tag));
        (at, words) = (end, end);
    }
    if range.end > words {
        found.push(Piece::Words(words..range.end));
    }
    found.retain(|piece| !matches!(piece, Piece::Words(words) if text[words.clone()].trim().is_empty()));
    found
}

/// The end of a comment or a declaration.
fn comment_or_declaration_end(html: &str, at: usize) -> usize {
    let close = if html[at..].starts_with("<!--") { "-->" } else { ">" };
    html[at..].find(close).map_or(html.len(), |length| at + length + close.len())
}

/// Whether a tag opens an element whose content is not displayed (`script`, `style`).
pub(crate) fn opens_script_or_style(tag: &Tag) -> bool {
    tag.kind == TagKind::Open && ["script", "style"].iter().any(|name| tag.name.eq_ignore_ascii_case(name))
}

/// Finds the ends of `script` and `style` elements, in the order of one text. If one is never closed, no later one is,
/// and the search is not repeated.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    no_script_ends: bool,
    no_style_ends: bool,
}

impl Ends {
    pub(crate) fn of(&mut self, html: &str, tag: &Tag) -> Option<usize> {
        opens_script_or_style(tag).then_some(())?;
        let (close, is_unclosed) = match tag.name.eq_ignore_ascii_case("script") {
            true => ("</script", &mut self.no_script_ends),
            false => ("</style", &mut self.no_style_ends),
        };
        let found = if *is_unclosed { None } else { html[tag.span.end..].find(close) };
        *is_unclosed = found.is_none();
        found.map(|length| tag.span.end + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclosed_html_is_read() {
        let text = "<style>a</style>b<script>c</script>d<style>e<script>f<style>g";
        let words: Vec<Range<usize>> = pieces(text, 0..text.len())
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Words(range) => Some(range),
                Piece::Tag(_) => None,
            })
            .collect();
        assert_eq!(words.into_iter().map(|range| &text[range]).collect::<String>(), "bdefg");
    }

    #[test]
    fn words_are_what_a_reader_sees() {
        let text = "<div class='a'>one <b>two</b><!-- no --> <style>x{}</style><?php ?>3 < 4</div>";
        let words: Vec<&str> = pieces(text, 0..text.len())
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Words(range) => Some(&text[range]),
                Piece::Tag(_) => None,
            })
            .collect();
        assert_eq!(words, ["one ", "two", "3 < 4"]);
    }
}
