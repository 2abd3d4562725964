//! Text composed of several sources, with the origin of each line; and the state of code fences.

use crate::parse_lines::each_line;

/// A composed text that knows, for each of its lines, the line of the page it comes from, counted from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Composed {
    pub text: String,
    origins: Vec<usize>,
}

impl Composed {
    /// Adds text that comes from line `origin` of the page. Text that continues an unfinished line keeps the origin of
    /// that line's beginning.
    pub fn push(&mut self, text: &str, origin: usize) {
        for piece in each_line(text) {
            if self.at_line_start() {
                self.origins.push(origin);
            }
            self.text.push_str(piece);
        }
    }

    pub fn at_line_start(&self) -> bool {
        self.text.as_bytes().last().is_none_or(|last| *last == b'\n')
    }

    /// The line of the page that a line of the text comes from.
    pub fn origin(&self, line: usize) -> usize {
        let at = line.saturating_sub(1).min(self.origins.len().saturating_sub(1));
        self.origins.get(at).copied().unwrap_or(1)
    }
}

/// Tracks fenced code blocks line by line.
#[derive(Debug, Clone, Default)]
pub struct Fence {
    open: Option<(u8, usize)>,
}

/// Whether a line belongs to a fenced code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceLine {
    Outside,
    /// A line of a fenced code block, its opening and closing fences included.
    Inside,
}

impl Fence {
    /// Takes the next line.
    pub fn line(&mut self, line: &str) -> FenceLine {
        let line = line.trim_start_matches([' ', '\t', '>']);
        let mark = line.as_bytes().first().copied().filter(|mark| matches!(mark, b'`' | b'~'));
        let length = mark.map_or(0, |mark| line.bytes().take_while(|byte| *byte == mark).count());
        match (self.open, mark) {
            (None, Some(mark)) if length >= 3 => {
                // Backticks followed by another backtick on the line are a code span, not a fence.
                if mark == b'`' && line[length..].contains('`') {
                    return FenceLine::Outside;
                }
                self.open = Some((mark, length));
                FenceLine::Inside
            }
            (None, _) => FenceLine::Outside,
            (Some((open, least)), Some(mark))
                if mark == open && length >= least && line[length..].trim().is_empty() =>
            {
                self.open = None;
                FenceLine::Inside
            }
            (Some(_), _) => FenceLine::Inside,
        }
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn close(&mut self) {
        self.open = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_where_they_came_from() {
        let mut composed = Composed::default();
        composed.push("a", 1);
        composed.push("b\nc\nd", 2);
        composed.push("e\n", 9);
        assert_eq!(composed.text, "ab\nc\nde\n");
        assert_eq!([1, 2, 3, 4].map(|line| composed.origin(line)), [1, 2, 2, 2]);
    }

    #[test]
    fn fences_hold_code() {
        use FenceLine::{Inside, Outside};
        let mut fence = Fence::default();
        let lines = ["a", "```js", "~~~", "``", "```", "b", "  ````", "```", "`````", "``` a`b"];
        let read: Vec<FenceLine> = lines.iter().map(|line| fence.line(line)).collect();
        assert_eq!(read, [Outside, Inside, Inside, Inside, Inside, Outside, Inside, Inside, Inside, Outside]);
    }
}
