//! Finds the marks on which the parser would spend quadratic time.
//!
//! For a closing `_` or `~`, the parser scans every mark that is still open in the paragraph and does not remember a
//! failed search; for a line that begins with `[^`, it scans the rest of the page. Neither slows a real page down, but
//! a page crafted for it takes seconds. So the cost is estimated before parsing, and the marks beyond the limit are
//! read as text. A large page with too large a share of marks is not parsed as Markdown at all.

/// Most open marks that the parser may scan for all closing marks of a page: some hundredths of a second.
const MAX_SCANNED_MARKS: usize = 30_000_000;

/// Most bytes that the parser may scan for the footnotes of a page; eight times as many if the page is pure ASCII,
/// which is scanned faster.
const MAX_FOOTNOTE_SCAN_BYTES: usize = 128 << 20;

/// In bytes: a larger page is not prose if more than [`MAX_PUNCTUATION_PERCENT`] percent of it are marks.
const LARGE_PAGE_BYTES: usize = 512 << 10;
const MAX_PUNCTUATION_PERCENT: usize = 40;

/// Whether too much of a large page is ASCII punctuation, line breaks and tabs. These cost many times as much to parse
/// as words and yield nothing. They are a tenth of prose, and a quarter of tables and code.
pub(crate) fn has_too_much_punctuation(text: &str) -> bool {
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() || matches!(byte, b'\n' | b'\r' | b'\t');
    let marks = || text.as_bytes().chunks(1 << 12).map(|chunk| chunk.iter().filter(|byte| is_mark(byte)).count());
    text.len() > LARGE_PAGE_BYTES && marks().sum::<usize>() > text.len() / 100 * MAX_PUNCTUATION_PERCENT
}

/// The byte offsets of the marks beyond the limit, in order. The estimate may be too high, but never too low: a mark
/// counts as open until its paragraph ends.
pub(crate) fn costly(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let has_footnotes = text.contains("[^");
    let max_footnote_bytes =
        if has_footnotes && text.is_ascii() { 8 * MAX_FOOTNOTE_SCAN_BYTES } else { MAX_FOOTNOTE_SCAN_BYTES };
    // Most pages have so few marks that no arrangement of them is expensive, and counting them is cheap.
    let marks: usize = bytes.chunks(usize::from(u8::MAX)).map(count_marks).sum();
    let footnotes = if has_footnotes { text.matches("[^").count() } else { 0 };
    if marks.saturating_mul(marks) <= MAX_SCANNED_MARKS && footnotes.saturating_mul(bytes.len()) <= max_footnote_bytes {
        return Vec::new();
    }
    let (mut open, mut scanned_marks, mut footnote_bytes) = (0_usize, 0_usize, 0_usize);
    let mut found = Vec::new();
    let mut line_begins = true;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            // The `\r` of `\r\n`; alone it would be a line break.
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
            b'\n' | b'\r' => {
                line_begins = true;
                if ends_paragraph(bytes, at + 1) {
                    open = 0;
                }
            }
            mark @ (b'*' | b'_' | b'~') => {
                let length = bytes[at..].iter().take_while(|byte| **byte == mark).count();
                if mark != b'*' && closes(bytes, at, at + length) {
                    scanned_marks = scanned_marks.saturating_add(open * length);
                    if scanned_marks > MAX_SCANNED_MARKS {
                        found.extend(at..at + length);
                    }
                }
                open += 1;
                // A `*` may begin a list item, and a footnote may be in one.
                line_begins &= mark == b'*';
                at += length;
                continue;
            }
            b'[' if line_begins && has_footnotes => {
                line_begins = false;
                if bytes.get(at + 1) == Some(&b'^') {
                    footnote_bytes = footnote_bytes.saturating_add(bytes.len() - at);
                    if footnote_bytes > max_footnote_bytes {
                        found.push(at);
                    }
                }
            }
            b' ' | b'\t' | b'>' | b'-' | b'+' | b'.' | b')' | b'0'..=b'9' => {}
            _ => line_begins = false,
        }
        at += 1;
    }
    found
}

/// The number of marks in a piece short enough for a byte to hold it, so that many bytes are counted at once.
fn count_marks(piece: &[u8]) -> usize {
    piece.iter().fold(0_u8, |marks, byte| marks + u8::from(matches!(byte, b'*' | b'_' | b'~'))).into()
}

fn ends_paragraph(bytes: &[u8], at: usize) -> bool {
    bytes[at..].iter().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
}

/// Whether a run of marks may close emphasis: it follows a non-whitespace byte, and no ASCII letter or digit follows.
fn closes(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| bytes[at]);
    let is_after_words = before.is_some_and(|byte| !byte.is_ascii_whitespace());
    is_after_words && bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_too_much_is_a_word() {
        for text in [
            "_a_ **b** snake_case __c__ ".repeat(1_000),
            "_a_ *b* *c*\n\n".repeat(100_000),
            "[^a]: b\n\n".repeat(2_000),
        ] {
            assert_eq!(costly(&text), [0; 0]);
        }
        for (unit, byte) in [
            ("*a_ ", b'_'),
            ("> 1. [^a]: b\n", b'['),
            ("[^\u{e9}]: b\n", b'['),
            ("a\r[^b]: c", b'['),
            ("aa ~b~~ cc", b'~'),
        ] {
            let text = unit.repeat(400_000 / unit.len());
            let found = costly(&text);
            assert!(!found.is_empty() && found.len() < text.len() / 4, "{unit} {}", found.len());
            assert!(found.iter().all(|at| text.as_bytes()[*at] == byte) && found.is_sorted(), "{unit}");
        }
    }

    #[test]
    fn a_large_page_of_marks_is_told_from_words_tables_and_code() {
        let page = |unit: &str| unit.repeat((1 << 20) / unit.len());
        for unit in ["[a](", "# a\nb\n", "<a\n", "a\n", "[]", "> ~a~"] {
            assert!(has_too_much_punctuation(&page(unit)), "{unit}");
            assert!(!has_too_much_punctuation(&page(unit)[..LARGE_PAGE_BYTES]), "{unit}");
        }
        let code = "```js\nexport const retry = (times) => { return call({ times, delay: 2 ** times }); }\n```\n\n";
        for unit in ["- See the [guide](/guides/a), *please*.\n", "| a | b | 3 |\n", "  \"name\": \"value\",\n", code] {
            assert!(!has_too_much_punctuation(&page(unit)), "{unit}");
        }
    }

    proptest! {
        #[test]
        fn a_page_of_usual_size_keeps_its_marks(text in "([*_~> \n.a]|\\[\\^a\\]: ){0,300}") {
            prop_assert_eq!(costly(&text), [0; 0]);
        }
    }
}
