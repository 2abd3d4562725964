//! Marks that would cost the parser the square of their number.
//!
//! For a `_` or a `~` that closes, the parser looks through every mark that is still open in the paragraph, and does not remember
//! that it looked in vain; for a line that begins with `[^`, it reads through the rest of the page. Real pages pay nothing
//! for either, and a page that is made so pays seconds. So what they would cost is added up before it is paid, and what is
//! too much becomes a word. A large page of hardly anything but marks is not read as Markdown at all.

/// How many open marks may be looked through for a page's closing ones, all in all: some hundredths of a second.
const MOST_STEPS: usize = 30_000_000;

/// How many bytes may be read through for the footnotes of a page; of ASCII alone, which is read faster, eight times as
/// many.
const MOST_READ_THROUGH: usize = 128 << 20;

/// In bytes: a larger page is not prose when more than [`MOST_OF_A_HUNDRED`] percent of it are marks.
const LARGE: usize = 512 << 10;
const MOST_OF_A_HUNDRED: usize = 40;

/// Whether a large page is made of marks. To read those costs many times what it costs to read words, and tells nothing:
/// of prose they are a tenth, of tables and code a quarter.
pub(crate) fn are_all_there_is(text: &str) -> bool {
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() || matches!(byte, b'\n' | b'\r' | b'\t');
    let marks = || text.as_bytes().chunks(1 << 12).map(|some| some.iter().filter(|byte| is_mark(byte)).count());
    text.len() > LARGE && marks().sum::<usize>() > text.len() / 100 * MOST_OF_A_HUNDRED
}

/// The bytes of those marks that come after the page has had its share, in order. Counted a little too much, never too
/// little: a mark counts as open until its paragraph ends.
pub(crate) fn costly(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let has_footnotes = text.contains("[^");
    let most_read = if has_footnotes && text.is_ascii() { 8 * MOST_READ_THROUGH } else { MOST_READ_THROUGH };
    // Most pages have so few marks that no order of them costs much, and counting is done in no time.
    let marks: usize = bytes.chunks(usize::from(u8::MAX)).map(marks_of).sum();
    let footnotes = if has_footnotes { text.matches("[^").count() } else { 0 };
    if marks.saturating_mul(marks) <= MOST_STEPS && footnotes.saturating_mul(bytes.len()) <= most_read {
        return Vec::new();
    }
    let (mut open, mut steps, mut read) = (0_usize, 0_usize, 0_usize);
    let mut found = Vec::new();
    let mut line_begins = true;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            // The first half of a line's end; alone it would be a whole one.
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
                    steps = steps.saturating_add(open * length);
                    if steps > MOST_STEPS {
                        found.extend(at..at + length);
                    }
                }
                open += 1;
                // A star may begin an item, and a footnote may stand in one.
                line_begins &= mark == b'*';
                at += length;
                continue;
            }
            b'[' if line_begins && has_footnotes => {
                line_begins = false;
                if bytes.get(at + 1) == Some(&b'^') {
                    read = read.saturating_add(bytes.len() - at);
                    if read > most_read {
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

/// How many marks a piece has, which is so short that a byte can hold it: many are counted side by side then.
fn marks_of(piece: &[u8]) -> usize {
    piece.iter().fold(0_u8, |marks, byte| marks + u8::from(matches!(byte, b'*' | b'_' | b'~'))).into()
}

fn ends_paragraph(bytes: &[u8], at: usize) -> bool {
    bytes[at..].iter().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
}

/// Whether a run may close emphasis: something precedes it, and no word continues after it.
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
            assert!(are_all_there_is(&page(unit)), "{unit}");
            assert!(!are_all_there_is(&page(unit)[..LARGE]), "{unit}");
        }
        let code = "```js\nexport const retry = (times) => { return call({ times, delay: 2 ** times }); }\n```\n\n";
        for unit in ["- See the [guide](/guides/a), *please*.\n", "| a | b | 3 |\n", "  \"name\": \"value\",\n", code] {
            assert!(!are_all_there_is(&page(unit)), "{unit}");
        }
    }

    proptest! {
        #[test]
        fn a_page_of_usual_size_keeps_its_marks(text in "([*_~> \n.a]|\\[\\^a\\]: ){0,300}") {
            prop_assert_eq!(costly(&text), [0; 0]);
        }
    }
}
