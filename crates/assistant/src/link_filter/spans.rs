//! Pieces of a line: code and labels. Each is found, is not there, or (`None`) depends on what follows.

use super::NO_SPACE;

/// What can be seen of the text from a place on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) text: &'a str,
    /// Whether nothing more will be seen: the text is over, or this is as far as anybody looks.
    pub(super) whole: bool,
}

impl<'a> Window<'a> {
    pub(super) fn from(self, at: usize) -> Self {
        Self { text: &self.text[at..], ..self }
    }
}

pub(super) enum Found<T> {
    At(T),
    Nowhere,
}

/// Code between backticks, both on one line: the length of it all, and the code.
pub(super) fn code_span(window: Window<'_>) -> Option<Found<(usize, &str)>> {
    let text = window.text;
    let length = text.bytes().take_while(|byte| *byte == b'`').count();
    let mut at = length;
    while at < text.len() && text.as_bytes()[at] != b'\n' {
        let run = text.as_bytes()[at..].iter().take_while(|byte| **byte == b'`').count();
        if run == length && (at + run < text.len() || window.whole) {
            return Some(Found::At((at + run, &text[length..at])));
        }
        at += run.max(1);
    }
    (at < text.len() || window.whole).then_some(Found::Nowhere)
}

/// Where the bracket ends that was opened before `window`.
pub(super) fn label_end(window: Window<'_>) -> Option<Found<usize>> {
    let bytes = window.text.as_bytes();
    let (mut at, mut depth, mut blank) = (0, 1, false);
    while at < bytes.len() {
        let mut length = 1;
        match bytes[at] {
            b'\\' => length = 2,
            b'`' => {
                length = match code_span(window.from(at))? {
                    Found::At((length, _)) => length,
                    Found::Nowhere => bytes[at..].iter().take_while(|byte| **byte == b'`').count(),
                }
            }
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(Found::At(at));
                }
            }
            b'\n' if blank => return Some(Found::Nowhere),
            _ => {}
        }
        blank = bytes[at] == b'\n' || (blank && bytes[at].is_ascii_whitespace());
        at += length;
    }
    window.whole.then_some(Found::Nowhere)
}

/// Code in a cell of a table: its bars have a backslash, which readers of tables take away.
pub(super) fn in_a_cell(code: &str) -> String {
    let mut out = String::with_capacity(code.len() + 4);
    let mut slashes = 0;
    for c in code.chars() {
        if c == '|' {
            // Readers disagree about what several backslashes say of a bar.
            match slashes {
                0 => out.push('\\'),
                1 => {}
                _ => out.extend([NO_SPACE, '\\']),
            }
        }
        slashes = if c == '\\' { slashes + 1 } else { 0 };
        out.push(c);
    }
    out
}
