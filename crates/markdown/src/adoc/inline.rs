//! Parses the inline markup of AsciiDoc: code, emphasis, macros, cross-references, attributes.
//!
//! Marks may be nested, and macros apply in code as well. So a text is scanned once: an opening mark with an end is
//! skipped, and so is its end when the scan reaches it.

mod macros;

use std::collections::HashMap;
use std::ops::Range;

use super::attributes::{Attributes, reference};
use super::lines::attribute_list;
use crate::page::Link;
pub(super) use macros::attribute_link;
use macros::{is_macro, is_url};

/// Parsed inline markup.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// The displayed text, with whitespace collapsed.
    pub(super) text: String,
    /// The same with code marked as in Markdown.
    pub(super) markdown: String,
    pub(super) prose: Vec<Range<usize>>,
    pub(super) code: Vec<Range<usize>>,
    pub(super) links: Vec<Link>,
    pub(super) ids: Vec<String>,
}

/// Parses the inline markup of a range. Markup nested deeper than the limit is text.
pub(super) fn read(text: &str, range: Range<usize>, attributes: &mut Attributes<'_>) -> Inline {
    let around = attributes.depth;
    let Some(depth) = around.inside() else {
        let words = text[range].to_owned();
        return Inline { markdown: words.clone(), text: words, ..Inline::default() };
    };
    attributes.depth = depth;
    let mut parser = InlineParser {
        text,
        at: range.start,
        from: range.start,
        range,
        attributes,
        last_searches: [(usize::MAX, None); 14],
        ends: HashMap::new(),
        code_end: 0,
        marked_code_end: None,
        brackets_end: 0,
        out: Inline::default(),
        is_spaced: false,
    };
    parser.all();
    let read = parser.out;
    attributes.depth = around;
    read
}

/// The end marks of markup.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Code,
    UnconstrainedCode,
    Strong,
    UnconstrainedStrong,
    Emphasis,
    UnconstrainedEmphasis,
    Mark,
    UnconstrainedMark,
    Passthrough,
    UnconstrainedPassthrough,
    RawPassthrough,
    Bracket,
    Reference,
    Quote,
}

impl Ending {
    fn mark(self) -> &'static str {
        match self {
            Self::Code => "`",
            Self::UnconstrainedCode => "``",
            Self::Strong => "*",
            Self::UnconstrainedStrong => "**",
            Self::Emphasis => "_",
            Self::UnconstrainedEmphasis => "__",
            Self::Mark => "#",
            Self::UnconstrainedMark => "##",
            Self::Passthrough => "+",
            Self::UnconstrainedPassthrough => "++",
            Self::RawPassthrough => "+++",
            Self::Bracket => "]",
            Self::Reference => ">>",
            Self::Quote => "`",
        }
    }

    /// Whether the mark may only be at the edges of words.
    fn is_constrained(self) -> bool {
        matches!(self, Self::Code | Self::Strong | Self::Emphasis | Self::Mark | Self::Passthrough)
    }
}

struct InlineParser<'t, 'a, 'g> {
    text: &'t str,
    range: Range<usize>,
    at: usize,
    /// The start of the plain text that is not written yet.
    from: usize,
    attributes: &'a mut Attributes<'g>,
    /// For each end mark, where the last search for it began, and what it found: there is none in between.
    last_searches: [(usize, Option<usize>); 14],
    /// The end marks to be skipped: their byte offsets and lengths.
    ends: HashMap<usize, usize>,
    /// The end of the current code span.
    code_end: usize,
    /// Where the content of the code ends that Markdown's mark was written before.
    marked_code_end: Option<usize>,
    /// The end of the current run of opening brackets.
    brackets_end: usize,
    out: Inline,
    is_spaced: bool,
}

impl<'t> InlineParser<'t, '_, '_> {
    fn all(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < self.range.end {
            if !self.ends.is_empty()
                && let Some(length) = self.ends.remove(&self.at)
            {
                self.flush(self.at);
                if self.marked_code_end == Some(self.at) {
                    self.out.markdown.push('`');
                }
                self.skip_to(self.at + length);
                continue;
            }
            let is_read = match bytes[self.at] {
                b'\\' => self.escape(),
                b'`' => self.quote_end() || self.marked(Ending::Code, Ending::UnconstrainedCode),
                b'*' => self.marked(Ending::Strong, Ending::UnconstrainedStrong),
                b'_' => self.marked(Ending::Emphasis, Ending::UnconstrainedEmphasis),
                b'#' => self.marked(Ending::Mark, Ending::UnconstrainedMark),
                b'+' => self.passthrough(),
                b'"' | b'\'' => self.quote(),
                b'{' => self.attribute(),
                b'<' => self.cross_reference(),
                b'[' => self.brackets(),
                b'(' => self.index_term(),
                b'x' | b'l' | b'm' | b'h' | b'i' | b'f' | b'k' | b'b' | b'a' | b's' | b'p' => self.macros(),
                _ => false,
            };
            if !is_read {
                self.at += 1;
            }
        }
        self.at = self.at.min(self.range.end);
        self.flush(self.range.end);
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..self.range.end]
    }

    fn before(&self) -> Option<char> {
        self.text[self.range.start..self.at].chars().next_back()
    }

    /// Writes the plain text up to a byte.
    fn flush(&mut self, to: usize) {
        if self.from < to {
            let words = self.from..to;
            self.push(&self.text[words.clone()]);
            if words.start >= self.code_end {
                self.out.prose.push(words);
            }
            self.from = to;
        }
    }

    fn push(&mut self, words: &str) {
        for (ix, word) in words.split(|c: char| c.is_ascii_whitespace()).enumerate() {
            self.is_spaced |= ix > 0;
            if word.is_empty() {
                continue;
            }
            self.push_space();
            self.out.text.push_str(word);
            self.out.markdown.push_str(word);
        }
    }

    fn push_space(&mut self) {
        if std::mem::take(&mut self.is_spaced) && !self.out.text.is_empty() {
            self.out.text.push(' ');
            self.out.markdown.push(' ');
        }
    }

    fn skip_to(&mut self, at: usize) -> bool {
        self.at = at;
        self.from = at;
        true
    }

    /// The next end mark of a kind, from a byte on.
    fn end_of(&mut self, ending: Ending, from: usize) -> Option<usize> {
        let (searched, found) = self.last_searches[ending as usize];
        if searched <= from && found.is_none_or(|found| found >= from) {
            return found;
        }
        let mark = ending.mark();
        let mut at = self.text.ceil_char_boundary(from.min(self.range.end));
        let found = loop {
            let Some(found) = self.text[at..self.range.end].find(mark).map(|length| at + length) else { break None };
            let before = self.text[..found].chars().next_back().unwrap_or(' ');
            let after = self.text[found + mark.len()..self.range.end].chars().next();
            let is_end = match ending {
                Ending::Bracket => before != '\\',
                Ending::Quote => matches!(after, Some('"' | '\'')),
                _ if !ending.is_constrained() => true,
                Ending::Code => !before.is_whitespace() && !after.is_some_and(|c| is_word(c) || "\"'`".contains(c)),
                _ => !before.is_whitespace() && !after.is_some_and(is_word),
            };
            if is_end {
                break Some(found);
            }
            at = found + 1;
        };
        self.last_searches[ending as usize] = (from, found);
        found
    }

    fn escape(&mut self) -> bool {
        let Some(next) = self.rest()[1..].chars().next().filter(|c| "*_`#[<{x|lihmcw:^~+\"'(kfasp\\".contains(*c))
        else {
            return false;
        };
        let is_sign = !next.is_ascii_alphanumeric();
        if !is_sign && !is_macro(&self.rest()[1..]) {
            return false;
        }
        self.flush(self.at);
        self.from = self.at + 1;
        self.at += 1 + next.len_utf8();
        true
    }

    /// `*x*` at the edges of words, `**x**` anywhere, and likewise for the other marks.
    fn marked(&mut self, single: Ending, double: Ending) -> bool {
        let (at, rest) = (self.at, self.rest());
        let is_code = matches!(single, Ending::Code);
        if rest.starts_with(double.mark())
            && rest.len() > 2
            && !rest[2..].starts_with(single.mark())
            && let Some(end) = self.end_of(double, at + 3)
        {
            return self.opened(at..at + 2, end..end + 2, is_code);
        }
        let is_edge = self.before().is_none_or(|c| !(is_word(c) || ";:}".contains(c) || is_code && "\"'`".contains(c)));
        let first = rest[1..].chars().next();
        if !is_edge || first.is_none_or(char::is_whitespace) {
            return false;
        }
        let min_end = at + 1 + first.map_or(1, char::len_utf8);
        match self.end_of(single, min_end) {
            Some(end) => self.opened(at..at + 1, end..end + 1, is_code),
            None => false,
        }
    }

    fn opened(&mut self, open: Range<usize>, close: Range<usize>, is_code: bool) -> bool {
        self.flush(open.start);
        self.ends.insert(close.start, close.len());
        if is_code && open.start >= self.code_end {
            self.out.code.push(open.start..close.end);
            self.code_end = close.end;
            let is_plain = !self.text[open.end..close.start].contains('`');
            self.marked_code_end = is_plain.then_some(close.start);
            if is_plain {
                self.push_space();
                self.out.markdown.push('`');
            }
        }
        self.skip_to(open.end)
    }

    /// `+x+`, `++x++` and `+++x+++`, in which no markup is parsed.
    fn passthrough(&mut self) -> bool {
        let (at, rest) = (self.at, self.rest());
        let is_edge = self.before().is_none_or(|c| !is_word(c) && !";:}".contains(c));
        let is_solid = rest[1..].chars().next().is_some_and(|c| !c.is_whitespace());
        for (ending, fits) in [
            (Ending::RawPassthrough, true),
            (Ending::UnconstrainedPassthrough, true),
            (Ending::Passthrough, is_edge && is_solid),
        ] {
            let mark = ending.mark();
            let Some(inside) = rest.strip_prefix(mark).filter(|_| fits) else { continue };
            let min_end = at + mark.len() + inside.chars().next().map_or(1, char::len_utf8);
            if let Some(end) = self.end_of(ending, min_end) {
                self.plain(at..end + mark.len(), at + mark.len()..end);
                return true;
            }
        }
        self.at += rest.len() - rest.trim_start_matches('+').len();
        true
    }

    /// Writes verbatim text; it is recorded as code, so that it is not edited as prose.
    fn plain(&mut self, span: Range<usize>, inner: Range<usize>) {
        self.flush(span.start);
        self.push(&self.text[inner]);
        if span.start >= self.code_end {
            self.out.code.push(span.clone());
            self.code_end = span.end;
        }
        self.skip_to(span.end);
    }

    /// The opening of `` "`x`" `` or `` '`x`' ``, displayed as curved quotes.
    fn quote(&mut self) -> bool {
        let rest = self.rest();
        if !rest[1..].starts_with('`')
            || self.before().is_some_and(is_word)
            || self.end_of(Ending::Quote, self.at + 3).is_none()
        {
            return false;
        }
        self.flush(self.at);
        self.push(if rest.starts_with('"') { "“" } else { "‘" });
        let at = self.at + 2;
        if let Some(end) = self.end_of(Ending::Quote, at + 1) {
            // That backtick does not end a code span.
            self.ends.remove(&end);
        }
        self.skip_to(at)
    }

    fn quote_end(&mut self) -> bool {
        let sign = match self.rest().as_bytes().get(1) {
            Some(b'"') => "”",
            Some(b'\'') => "’",
            _ => return false,
        };
        if self.before().is_none_or(char::is_whitespace) {
            return false;
        }
        self.flush(self.at);
        self.push(sign);
        self.skip_to(self.at + 2)
    }

    fn attribute(&mut self) -> bool {
        let rest = self.rest();
        let Some(name) = reference(rest) else { return false };
        let Some(value) = self.attributes.value_to_insert(name) else { return false };
        let is_target = is_url(&value) || ["link:", "xref:", "mailto:"].iter().any(|start| value.starts_with(start));
        if is_target && self.url_of_attribute() {
            return true;
        }
        self.flush(self.at);
        let value = if value.contains(['*', '_', '`', '[', '#']) {
            let length = value.len();
            read(&value, 0..length, self.attributes).text
        } else {
            value
        };
        self.push(&value);
        self.skip_to(self.at + name.len() + 2)
    }

    /// `[[id]]`, `[[[id]]]` (displayed as `[id]`), and `[.role]#x#` (displayed as `x`).
    fn brackets(&mut self) -> bool {
        let (at, rest) = (self.at, self.rest());
        if let Some(inside) = rest.strip_prefix("[[") {
            let is_entry = inside.starts_with('[');
            // A run of brackets is measured once, at its first.
            if self.brackets_end <= at {
                self.brackets_end = self.range.end - inside.trim_start_matches('[').len();
            }
            let inside = &self.text[self.brackets_end..self.range.end];
            let length = inside.bytes().take(200).take_while(|byte| !b"[], \n".contains(byte)).count();
            let Some(id) =
                inside.get(..length).filter(|id| id.starts_with(|c: char| c.is_alphabetic() || "_:".contains(c)))
            else {
                return false;
            };
            let open = self.brackets_end;
            let Some(end) = self
                .end_of(Ending::Bracket, open + length)
                .filter(|end| self.text[*end..self.range.end].starts_with("]]"))
            else {
                return false;
            };
            self.out.ids.push(id.to_owned());
            self.flush(at);
            if is_entry {
                self.push(&format!("[{id}]"));
            }
            return self
                .skip_to(end + if is_entry && self.text[end..self.range.end].starts_with("]]]") { 3 } else { 2 });
        }
        // Attributes end on their line, within 200 bytes.
        let end = rest.bytes().take(201).position(|byte| matches!(byte, b']' | b'\n'));
        let Some((length, behind)) = end
            .and_then(|length| Some((length, rest[length..].strip_prefix(']')?)))
            .filter(|(_, behind)| behind.starts_with(['#', '*', '_', '`', '^', '~']))
        else {
            return false;
        };
        if !rest[1..].starts_with(['.', '#', '%']) && !behind.starts_with('#') || self.before().is_some_and(is_word) {
            return false;
        }
        self.flush(at);
        self.out.ids.extend(attribute_list(&rest[1..length]).id);
        self.skip_to(at + length + 1)
    }

    /// `((term))` and `(((term, other)))`, of which only the first is displayed.
    fn index_term(&mut self) -> bool {
        let rest = self.rest();
        if let Some(inside) = rest.strip_prefix("(((") {
            if let Some(end) = inside[..inside.floor_char_boundary(500)].find(")))") {
                self.flush(self.at);
                return self.skip_to(self.at + end + 6);
            }
        } else if let Some(inside) = rest.strip_prefix("((")
            && let Some(end) = inside[..inside.floor_char_boundary(500)].find("))")
        {
            self.flush(self.at);
            self.ends.insert(self.at + 2 + end, 2);
            return self.skip_to(self.at + 2);
        }
        false
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
