//! Lines and what they stand in: quotes, list items, blocks of code.

use super::spans::Window;

/// A block of code that is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// How many quotes it stands in.
    quotes: usize,
    /// How far its lines are set in because it began behind the mark of a list item.
    indent: usize,
}

pub(super) enum FenceLine {
    Code,
    Close,
    /// The line is outside what the block stands in.
    Left,
}

impl Fence {
    pub(super) fn line(self, window: Window<'_>) -> Option<FenceLine> {
        let text = window.text;
        let (mut at, mut quotes, mut spaces) = (0, 0, 0);
        for (place, byte) in text.bytes().enumerate() {
            match byte {
                // One space belongs to the mark of a quote.
                b' ' if place > 0 && text.as_bytes()[place - 1] == b'>' => {}
                b' ' => spaces += 1,
                b'\t' => spaces += 4,
                b'>' if quotes < self.quotes && spaces < 4 => (quotes, spaces) = (quotes + 1, 0),
                _ => break,
            }
            at += 1;
        }
        if at == text.len() && !window.whole {
            return None;
        }
        let rest = &text[at..];
        let blank = rest.is_empty() || rest.starts_with('\n');
        if quotes < self.quotes || (spaces < self.indent && !blank) {
            return Some(FenceLine::Left);
        }
        let run = rest.len() - rest.trim_start_matches(self.mark).len();
        let after = rest[run..].trim_start_matches([' ', '\t']);
        if after.is_empty() && !window.whole {
            return None;
        }
        let closes = run >= self.length && spaces < self.indent + 4 && (after.is_empty() || after.starts_with('\n'));
        Some(if closes { FenceLine::Close } else { FenceLine::Code })
    }
}

/// The marks at the start of a line.
#[derive(Default)]
pub(super) struct LineStart {
    /// How many bytes they are.
    pub(super) length: usize,
    quotes: usize,
    /// Where the marks of list items begin and where their text does, in columns behind the quotes.
    items: Vec<(usize, usize)>,
    /// Where the line's own text begins.
    column: usize,
    is_blank: bool,
    /// The mark of a block of code, and how often it stands there.
    code: Option<(char, usize)>,
}

impl LineStart {
    pub(super) fn read(window: Window<'_>) -> Option<Self> {
        let text = window.text;
        let mut line = Self::default();
        loop {
            let rest = &text[line.length..];
            let marker = match rest.as_bytes().first() {
                Some(b' ') => {
                    (line.length, line.column) = (line.length + 1, line.column + 1);
                    continue;
                }
                Some(b'\t') => {
                    (line.length, line.column) = (line.length + 1, line.column + 4);
                    continue;
                }
                Some(b'>') => {
                    line = Self { length: line.length + 1, quotes: line.quotes + 1, ..Self::default() };
                    // One space belongs to the mark.
                    line.length += usize::from(text[line.length..].starts_with(' '));
                    continue;
                }
                Some(b'-' | b'*' | b'+') => list_marker(window.from(line.length), 1)?,
                Some(b'0'..=b'9') => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    match rest.as_bytes().get(digits) {
                        Some(b'.' | b')') if digits <= 9 => list_marker(window.from(line.length), digits + 1)?,
                        None if !window.whole => return None,
                        _ => 0,
                    }
                }
                Some(_) => 0,
                None => return window.whole.then_some(Self { is_blank: true, ..line }),
            };
            if marker == 0 {
                break;
            }
            line.items.push((line.column, line.column + marker));
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
        line.code = Some((mark, length));
        (end.is_some() || window.whole).then_some(line)
    }
}

/// The list items a line stands in.
#[derive(Debug, Default)]
pub(super) struct Lists {
    quotes: usize,
    /// Where their text begins, outermost first.
    columns: Vec<usize>,
    after_blank: bool,
}

impl Lists {
    /// Takes note of a line; gives the block of code that it begins.
    pub(super) fn enter(&mut self, line: &LineStart) -> Option<Fence> {
        if line.quotes != self.quotes {
            *self = Self { quotes: line.quotes, ..Self::default() };
        }
        let after_blank = std::mem::replace(&mut self.after_blank, line.is_blank);
        if let Some((start, _)) = line.items.first() {
            self.columns.retain(|column| column <= start);
            self.columns.extend(line.items.iter().map(|(_, column)| *column));
        } else if !line.is_blank && (after_blank || line.code.is_some()) {
            // A line that goes on with a paragraph may be set in less than the item it is in.
            self.columns.retain(|column| *column <= line.column);
        }
        let indent = self.columns.last().copied().unwrap_or(0);
        let (mark, length) = line.code.filter(|_| line.column < indent + 4)?;
        Some(Fence { mark, length, quotes: line.quotes, indent })
    }
}

/// The mark of a list item with the space behind it; 0 when it is none.
pub(super) fn list_marker(window: Window<'_>, length: usize) -> Option<usize> {
    match window.text.as_bytes().get(length) {
        Some(b' ' | b'\t') => Some(length + 1),
        None if !window.whole => None,
        _ => Some(0),
    }
}
