//! Parses inline pieces: code spans and labels. Each is present, absent, or (`None`) depends on the text that follows.

use super::NO_SPACE;

/// The visible text from a position on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) text: &'a str,
    /// Whether no more text can become visible: the text has ended, or the limit of lookahead is reached.
    pub(super) whole: bool,
}

impl<'a> Window<'a> {
    pub(super) fn from(self, at: usize) -> Self {
        Self { text: &self.text[at..], ..self }
    }
}

pub(super) enum Lookahead<T> {
    At(T),
    Nowhere,
}

/// A code span on one line: its total length, and the code.
pub(super) fn code_span(window: Window<'_>) -> Option<Lookahead<(usize, &str)>> {
    let text = window.text;
    let length = text.bytes().take_while(|byte| *byte == b'`').count();
    let mut at = length;
    while at < text.len() && text.as_bytes()[at] != b'\n' {
        let run = text.as_bytes()[at..].iter().take_while(|byte| **byte == b'`').count();
        if run == length && (at + run < text.len() || window.whole) {
            return Some(Lookahead::At((at + run, &text[length..at])));
        }
        at += run.max(1);
    }
    (at < text.len() || window.whole).then_some(Lookahead::Nowhere)
}

/// The position of the bracket that closes the one before `window`.
pub(super) fn label_end(window: Window<'_>) -> Option<Lookahead<usize>> {
    let bytes = window.text.as_bytes();
    let (mut at, mut depth, mut blank) = (0, 1, false);
    while at < bytes.len() {
        let mut length = 1;
        match bytes[at] {
            b'\\' => length = 2,
            b'`' => {
                length = match code_span(window.from(at))? {
                    Lookahead::At((length, _)) => length,
                    Lookahead::Nowhere => bytes[at..].iter().take_while(|byte| **byte == b'`').count(),
                }
            }
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(Lookahead::At(at));
                }
            }
            b'\n' if blank => return Some(Lookahead::Nowhere),
            _ => {}
        }
        blank = bytes[at] == b'\n' || (blank && bytes[at].is_ascii_whitespace());
        at += length;
    }
    window.whole.then_some(Lookahead::Nowhere)
}

/// Code for a table cell: its bars get a backslash, which renderers of tables remove.
pub(super) fn in_a_cell(code: &str) -> String {
    let mut out = String::with_capacity(code.len() + 4);
    let mut slashes = 0;
    for c in code.chars() {
        if c == '|' {
            // Renderers disagree about several backslashes before a bar.
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
