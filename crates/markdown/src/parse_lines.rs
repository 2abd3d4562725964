//! Line numbers of byte offsets, and the lines of a text.

use std::cell::OnceCell;

use memchr::memchr;

/// The lines of a text, found on first use because most pages do not need them.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: OnceCell<Vec<usize>>,
}

impl<'t> Lines<'t> {
    pub fn of(text: &'t str) -> Self {
        Self { text, starts: OnceCell::new() }
    }

    /// The line of a byte, counted from 1.
    pub fn number(&self, at: usize) -> usize {
        let starts = self.starts.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(ix, _)| ix + 1)).collect()
        });
        starts.partition_point(|start| *start <= at)
    }
}

/// The line of a byte, counted from 1. For more than a few lookups, use [`Lines`].
pub fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The start of the line that contains `at`.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of the line that contains `at`, after its line break.
pub fn line_end(text: &str, at: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length + 1)
}

/// The indentation of a line in columns; a tab advances to the next multiple of `tab`.
pub(crate) fn columns(line: &str, tab: usize) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.fold(0, |column, byte| if byte == b'\t' { column / tab * tab + tab } else { column + 1 })
}

/// Replaces all bytes but line breaks by spaces.
pub(crate) fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// The lines of a text with their line breaks. Faster than the standard library where lines are short.
pub fn each_line(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let line = at..line_end(text, at);
        at = line.end;
        (!line.is_empty()).then(|| &text[line])
    })
}

/// The lines of a text from the byte `from` on, with their line breaks, each with the byte at which it begins.
pub fn lines_after(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    each_line(&text[from..]).scan(from, |next, line| {
        let at = *next;
        *next += line.len();
        Some((at, line))
    })
}

/// Whether a byte that satisfies `is_one` occurs three times in a row. Reads the whole text, many bytes at a time.
pub(crate) fn has_three(text: &str, is_one: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let (second, third) = (bytes.get(1..).unwrap_or_default(), bytes.get(2..).unwrap_or_default());
    let threes = bytes.iter().zip(second).zip(third);
    threes.fold(0, |found, ((one, two), three)| found | u8::from((one == two) & (two == three) & is_one(*one))) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_a_row_are_seen_wherever_they_stand() {
        for (text, has) in
            [("", false), ("!!", false), ("!!!", true), ("!?!!?", false), ("a\n!!!", true), ("===", false)]
        {
            for before in 0..40 {
                let text = format!("{}{text}{}", "x".repeat(before), " ".repeat(40 - before));
                assert_eq!(has_three(&text, |byte| matches!(byte, b'!' | b'?')), has, "{text}");
            }
        }
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\n", "\n\na", "a\r\n\u{e9}\n\n"] {
            assert_eq!(each_line(text).collect::<Vec<_>>(), text.split_inclusive('\n').collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_byte_is_on_the_line_that_it_ends() {
        let lines = Lines::of("a\n\nbc\n");
        assert_eq!([0, 1, 2, 3, 5, 6, 9].map(|at| lines.number(at)), [1, 1, 2, 3, 3, 4, 4]);
    }
}
