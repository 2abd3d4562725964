//! Lines and their containers: quotes, list items, code blocks.

use super::spans::Window;
use super::{NO_SPACE, Token};

/// An open code block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    /// The number of fence characters.
    pub(super) length: usize,
    /// The number of block quotes around it.
    quotes: usize,
    /// Indentation of the fence, in columns after the quote markers.
    indent: usize,
    /// Whether no code of the block was written yet.
    is_empty: bool,
}

pub(super) enum FenceLine {
    /// The line's prefix and its replacement; the rest of the line is code.
    Code {
        length: usize,
        shown: String,
    },
    Close,
    /// The line is outside the quote that contains the block.
    Left,
}

impl Fence {
    /// The fence as it is written: not every renderer knows tildes.
    pub(super) fn marks(self) -> String {
        "`".repeat(self.length)
    }

    /// The end of the block. Not every renderer knows one without a line.
    pub(super) fn end(self) -> String {
        format!("{}{}\n", if self.is_empty { "\n" } else { "" }, self.marks())
    }

    /// The same block with code.
    pub(super) const fn begun(self) -> Self {
        Self { is_empty: false, ..self }
    }

    /// The indentation of the lines around the block.
    pub(super) const fn indent(self) -> usize {
        if self.quotes == 0 { self.indent } else { 0 }
    }

    pub(super) fn line(self, window: Window<'_>) -> Option<FenceLine> {
        let text = window.text;
        let mut at = 0;
        for _ in 0..self.quotes {
            let spaces = text[at..].bytes().take(3).take_while(|byte| *byte == b' ').count();
            match text.as_bytes().get(at + spaces) {
                Some(b'>') => at += spaces + 1,
                None if !window.whole => return None,
                _ => return Some(FenceLine::Left),
            }
            match text.as_bytes().get(at) {
                Some(b' ') => at += 1,
                None if !window.whole => return None,
                _ => {}
            }
        }
        // Only the block's own indentation is removed.
        let mut column = 0;
        while column < self.indent {
            match text.as_bytes().get(at) {
                Some(b' ') => column += 1,
                Some(b'\t') => column += 4 - column % 4,
                None if !window.whole => return None,
                _ => break,
            }
            at += 1;
        }
        let mut shown = " ".repeat(column.saturating_sub(self.indent));
        let spaces = text[at..].bytes().take(4).take_while(|byte| *byte == b' ').count();
        let rest = &text[at + spaces..];
        if rest.is_empty() && !window.whole {
            return None;
        }
        let run = rest.len() - rest.trim_start_matches(self.mark).len();
        if run == rest.len() && !window.whole {
            return None;
        }
        if run >= self.length && shown.len() + spaces < 4 {
            let after = rest[run..].trim_start_matches([' ', '\t']);
            if after.is_empty() && !window.whole {
                return None;
            }
            if after.is_empty() || after.starts_with('\n') {
                return Some(FenceLine::Close);
            }
        }
        let backticks = rest.len() - rest.trim_start_matches('`').len();
        if backticks == rest.len() && !window.whole {
            return None;
        }
        // Not the end of the block under CommonMark, but in some renderers.
        if backticks >= self.length && shown.len() + spaces < 4 {
            shown.push(NO_SPACE);
        }
        Some(FenceLine::Code { length: at, shown })
    }

    /// A part of a line of code. Some renderers end the block at backticks that end a line, wherever on it they begin.
    pub(super) fn code(self, text: &str, is_whole: bool) -> Option<Token> {
        let body = text.trim_end_matches([' ', '\t', '\n']);
        let before = body.trim_end_matches('`');
        let run = body.len() - before.len();
        if run == 0 {
            return Some(Token::Same(text.len()));
        }
        let is_decided = text.ends_with('\n') || (is_whole && before.is_empty());
        if !is_decided {
            return (!before.is_empty()).then_some(Token::Same(before.len()));
        }
        Some(match run >= self.length {
            true => Token::Other(text.len(), format!("{body}{NO_SPACE}{}", &text[body.len()..])),
            false => Token::Same(text.len()),
        })
    }
}

/// The container markers at the start of a line.
#[derive(Debug, Default)]
pub(super) struct LineStart {
    /// Length of the markers in bytes.
    pub(super) length: usize,
    /// Indentation of the first marker, or of the text, in columns.
    pub(super) indent: usize,
    pub(super) has_item: bool,
    pub(super) is_blank: bool,
    /// The code block that begins on this line.
    pub(super) fence: Option<Fence>,
    quotes: usize,
    /// The column at which the line's text begins, counted after the quote markers.
    column: usize,
}

impl LineStart {
    pub(super) fn read(window: Window<'_>) -> Option<Self> {
        let text = window.text;
        let mut line = Self::default();
        let mut is_indent = true;
        loop {
            let rest = &text[line.length..];
            match rest.as_bytes().first() {
                Some(b' ') => line.column += 1,
                Some(b'\t') => line.column += 4 - line.column % 4,
                _ => is_indent = false,
            }
            if is_indent {
                line.indent = line.column;
            }
            match rest.as_bytes().first() {
                Some(b' ' | b'\t') => {
                    line.length += 1;
                    continue;
                }
                Some(b'>') => {
                    (line.length, line.quotes, line.column) = (line.length + 1, line.quotes + 1, 0);
                    // One space belongs to the marker.
                    line.length += usize::from(text[line.length..].starts_with(' '));
                    continue;
                }
                None => {
                    line.is_blank = true;
                    return window.whole.then_some(line);
                }
                Some(_) => {}
            }
            let marker = item(window.from(line.length))?;
            if marker == 0 {
                break;
            }
            line.has_item = true;
            (line.length, line.column) = (line.length + marker, line.column + marker);
        }
        let rest = &text[line.length..];
        line.is_blank = rest.starts_with('\n');
        let Some(mark) = rest.chars().next().filter(|mark| ['`', '~'].contains(mark)) else { return Some(line) };
        let length = rest.len() - rest.trim_start_matches(mark).len();
        if length == rest.len() && !window.whole {
            return None;
        }
        let end = rest[length..].find('\n');
        let info = &rest[length..end.map_or(rest.len(), |end| length + end)];
        if length < 3 || (mark == '`' && info.contains('`')) {
            return Some(line);
        }
        line.fence = Some(Fence { mark, length, quotes: line.quotes, indent: line.column, is_empty: true });
        (end.is_some() || window.whole).then_some(line)
    }
}

/// The length of a list item's marker with the space after it; 0 if there is none.
fn item(window: Window<'_>) -> Option<usize> {
    let text = window.text;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length = match text.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        None if !window.whole => return None,
        _ => return Some(0),
    };
    match text.as_bytes().get(length) {
        Some(b' ' | b'\t') => Some(length),
        None if !window.whole => None,
        _ => Some(0),
    }
}
