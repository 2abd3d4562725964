//! The state of the output, as far as it affects how the next text is parsed.

use super::NO_SPACE;

const APART: &str = "\u{200b}";
const ESCAPE: &str = "\\";

#[derive(Debug)]
pub(super) struct OutputState {
    /// The last characters, as a renderer sees them; a character that an escape made harmless is [`NO_SPACE`].
    last: [char; 3],
    /// Whether the previous text was parsed without the text that follows.
    was_parsed_separately: bool,
    is_in_table: bool,
    /// Whether the previous line could be the delimiter row of a table.
    was_delimiter: bool,
    is_behind_blank: bool,
    was_cut: bool,
    line: Line,
}

/// The line being written.
#[derive(Debug)]
struct Line {
    is_empty: bool,
    is_blank: bool,
    /// Whether the line could be the delimiter row of a table.
    is_rule: bool,
    has_dash: bool,
    /// Whether the line contains code that would be split if the line were a table row.
    has_bar: bool,
}

impl Line {
    const NEW: Self = Self { is_empty: true, is_blank: true, is_rule: true, has_dash: false, has_bar: false };
}

impl OutputState {
    pub(super) const fn new() -> Self {
        Self {
            last: ['\n'; 3],
            was_parsed_separately: false,
            is_in_table: false,
            was_delimiter: false,
            is_behind_blank: true,
            was_cut: false,
            line: Line::NEW,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.was_parsed_separately = false;
        self.remember(text);
        if !self.line.is_rule && !text.contains('\n') {
            return;
        }
        for part in text.split_inclusive('\n') {
            let line = &mut self.line;
            let body = part.strip_suffix('\n').unwrap_or(part);
            line.is_empty &= body.is_empty();
            if line.is_rule {
                line.is_blank &= body.bytes().all(|byte| b" \t>".contains(&byte));
                line.is_rule = body.bytes().all(|byte| b" \t>|:-".contains(&byte));
                line.has_dash |= body.contains('-');
            }
            line.is_blank &= line.is_rule;
            if part.len() > body.len() {
                let is_delimiter = !line.is_blank && line.is_rule && line.has_dash;
                // A renderer lets a blank line follow the delimiter row.
                self.is_in_table = is_delimiter || if line.is_blank { self.was_delimiter } else { self.is_in_table };
                self.was_delimiter = is_delimiter;
                (self.is_behind_blank, self.was_cut) = (line.is_blank, line.has_bar);
                self.line = Line::NEW;
            }
        }
    }

    fn remember(&mut self, text: &str) {
        if let Some(escaped) = text.strip_prefix('\\')
            && let Some(c) = escaped.chars().next().filter(char::is_ascii_punctuation)
        {
            self.last.rotate_left(1);
            self.last[2] = if escaped.len() == 1 && "/.@:\\".contains(c) { c } else { NO_SPACE };
            return;
        }
        let mut back = text.chars().rev();
        let [third, second, first] = [back.next(), back.next(), back.next()];
        self.last = match (first, second, third) {
            (Some(first), Some(second), Some(third)) => [first, second, third],
            (None, Some(second), Some(third)) => [self.last[2], second, third],
            (_, _, third) => [self.last[1], self.last[2], third.unwrap_or(self.last[2])],
        };
    }

    /// Records that the previous text was parsed without the text that follows.
    pub(super) const fn mark_parsed_separately(&mut self) {
        self.was_parsed_separately = true;
    }

    /// Records that this line contains code with a bar in it.
    pub(super) const fn has_bar(&mut self) {
        self.line.has_bar = true;
    }

    pub(super) const fn is_in_table(&self) -> bool {
        self.is_in_table
    }

    pub(super) const fn is_at_line_start(&self) -> bool {
        self.line.is_empty
    }

    pub(super) const fn is_behind_blank(&self) -> bool {
        self.is_behind_blank
    }

    /// Whether a word could begin here.
    pub(super) const fn may_begin_word(&self) -> bool {
        !self.last[2].is_ascii_alphanumeric()
    }

    pub(super) fn ends_with(&self, c: char) -> bool {
        self.last[2] == c
    }

    /// Whether a group in braces here could set the attributes of the element or the block before it.
    pub(super) fn may_end_element(&self) -> bool {
        let last = self.last[2];
        last.is_whitespace() || last == NO_SPACE || ")`*>~]".contains(last)
    }

    /// Whether the output ends with a dot that is not the first character of its word.
    pub(super) fn is_behind_dot(&self) -> bool {
        let before = self.last[1];
        self.last[2] == '.'
            && !before.is_whitespace()
            && (!before.is_ascii_punctuation() || "$+=^~|<>-_".contains(before))
    }

    /// A separator between two pieces that are harmless alone, but together form a link, a tag, an address or a fence.
    pub(super) fn between(&self, next: &str) -> Option<&'static str> {
        let mut chars = next.chars();
        let c = chars.next()?;
        // Renderers find addresses across an escape.
        let seen = if c == '\\' { chars.next().filter(char::is_ascii_punctuation).unwrap_or(c) } else { c };
        let [first, second, last] = self.last;
        match (last, seen) {
            ('/', '/') => return Some(APART),
            (_, '@') if !last.is_whitespace() && !"([{*".contains(last) => return Some(APART),
            ('w' | 'W', '.') if second.eq_ignore_ascii_case(&'w') && first.eq_ignore_ascii_case(&'w') => {
                return Some(APART);
            }
            _ => {}
        }
        match (last, c) {
            (']', '(' | ':') => Some(ESCAPE),
            ('~', '~') if second == '~' => Some(ESCAPE),
            ('&', c) if c.is_ascii_alphanumeric() || c == '#' => Some(APART),
            ('!', '[') | ('`', '`') => Some(APART),
            ('\\', c) if c.is_ascii_punctuation() => Some(APART),
            // Words, and numeric character references.
            (last, c)
                if self.was_parsed_separately
                    && (last.is_alphanumeric() || last == '#')
                    && (c.is_alphanumeric() || c == ';') =>
            {
                Some(APART)
            }
            // The next line must not turn this one into a table row, which would split its code.
            (_, c)
                if self.was_cut
                    && self.line.is_blank
                    && ("|:".contains(c) || (c == '-' && !next.starts_with("- "))) =>
            {
                Some(APART)
            }
            _ => None,
        }
    }
}
