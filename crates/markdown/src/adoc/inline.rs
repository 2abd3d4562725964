//! Marks between the words of AsciiDoc: code, emphasis, macros, cross-references, attributes.
//!
//! Marks may stand inside of each other, and a macro is read in code as well, so that this goes through a text once: a mark
//! that has an end is passed over, and so is its end when it is met.

use std::collections::HashMap;
use std::ops::Range;

use super::attributes::{Attributes, reference};
use super::lines::attribute_list;
use crate::page::{Link, LinkKind};

/// What some words come to.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// As read, white space as one blank.
    pub(super) text: String,
    pub(super) prose: Vec<Range<usize>>,
    pub(super) code: Vec<Range<usize>>,
    pub(super) links: Vec<Link>,
    pub(super) ids: Vec<String>,
}

/// Reads the words of a range.
pub(super) fn read(text: &str, range: Range<usize>, attributes: &mut Attributes<'_>) -> Inline {
    let mut reading = Reading {
        text,
        at: range.start,
        from: range.start,
        range,
        attributes,
        known: [(usize::MAX, None); 14],
        ends: HashMap::new(),
        code_to: 0,
        out: Inline::default(),
        is_spaced: false,
    };
    reading.all();
    reading.out
}

/// What may end what was begun.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Code,
    Codes,
    Strong,
    Strongs,
    Emphasis,
    Emphases,
    Mark,
    Marks,
    Plain,
    Plains,
    Plainest,
    Bracket,
    Reference,
    Quote,
}

impl Ending {
    fn mark(self) -> &'static str {
        match self {
            Self::Code => "`",
            Self::Codes => "``",
            Self::Strong => "*",
            Self::Strongs => "**",
            Self::Emphasis => "_",
            Self::Emphases => "__",
            Self::Mark => "#",
            Self::Marks => "##",
            Self::Plain => "+",
            Self::Plains => "++",
            Self::Plainest => "+++",
            Self::Bracket => "]",
            Self::Reference => ">>",
            Self::Quote => "`",
        }
    }

    /// Whether it may only stand at the edges of words.
    fn is_constrained(self) -> bool {
        matches!(self, Self::Code | Self::Strong | Self::Emphasis | Self::Mark | Self::Plain)
    }
}

struct Reading<'t, 'a, 'g> {
    text: &'t str,
    range: Range<usize>,
    at: usize,
    /// Where the plain words begin that are not written yet.
    from: usize,
    attributes: &'a mut Attributes<'g>,
    /// From where each ending was looked for last, and where it was found: it is nowhere between.
    known: [(usize, Option<usize>); 14],
    /// Ends of marks to be passed over, and how long they are.
    ends: HashMap<usize, usize>,
    /// How far the code reaches that was begun.
    code_to: usize,
    out: Inline,
    is_spaced: bool,
}

impl<'t> Reading<'t, '_, '_> {
    fn all(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < self.range.end {
            if !self.ends.is_empty()
                && let Some(length) = self.ends.remove(&self.at)
            {
                self.flush(self.at);
                self.skip_to(self.at + length);
                continue;
            }
            let is_read = match bytes[self.at] {
                b'\\' => self.escape(),
                b'`' => self.quote_end() || self.marked(Ending::Code, Ending::Codes),
                b'*' => self.marked(Ending::Strong, Ending::Strongs),
                b'_' => self.marked(Ending::Emphasis, Ending::Emphases),
                b'#' => self.marked(Ending::Mark, Ending::Marks),
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

    /// Writes the plain words up to a byte.
    fn flush(&mut self, to: usize) {
        if self.from < to {
            let words = self.from..to;
            self.push(&self.text[words.clone()]);
            if words.start >= self.code_to {
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
            if self.is_spaced && !self.out.text.is_empty() {
                self.out.text.push(' ');
            }
            self.is_spaced = false;
            self.out.text.push_str(word);
        }
    }

    fn skip_to(&mut self, at: usize) -> bool {
        self.at = at;
        self.from = at;
        true
    }

    /// Where the next end of a kind stands, from a byte on.
    fn end_of(&mut self, ending: Ending, from: usize) -> Option<usize> {
        let (searched, found) = self.known[ending as usize];
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
        self.known[ending as usize] = (from, found);
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

    /// `*x*` at the edges of words and `**x**` anywhere, and so for the others.
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
        let least = at + 1 + first.map_or(1, char::len_utf8);
        match self.end_of(single, least) {
            Some(end) => self.opened(at..at + 1, end..end + 1, is_code),
            None => false,
        }
    }

    fn opened(&mut self, open: Range<usize>, close: Range<usize>, is_code: bool) -> bool {
        self.flush(open.start);
        self.ends.insert(close.start, close.len());
        if is_code && open.start >= self.code_to {
            self.out.code.push(open.start..close.end);
            self.code_to = close.end;
        }
        self.skip_to(open.end)
    }

    /// `+x+`, `++x++` and `+++x+++`: nothing in them is read.
    fn passthrough(&mut self) -> bool {
        let (at, rest) = (self.at, self.rest());
        let is_edge = self.before().is_none_or(|c| !is_word(c) && !";:}".contains(c));
        let is_solid = rest[1..].chars().next().is_some_and(|c| !c.is_whitespace());
        for (ending, fits) in [(Ending::Plainest, true), (Ending::Plains, true), (Ending::Plain, is_edge && is_solid)] {
            let mark = ending.mark();
            let Some(inside) = rest.strip_prefix(mark).filter(|_| fits) else { continue };
            let least = at + mark.len() + inside.chars().next().map_or(1, char::len_utf8);
            if let Some(end) = self.end_of(ending, least) {
                self.plain(at..end + mark.len(), at + mark.len()..end);
                return true;
            }
        }
        self.at += rest.len() - rest.trim_start_matches('+').len();
        true
    }

    /// What is shown as it is written, and no one is to change as words.
    fn plain(&mut self, span: Range<usize>, inner: Range<usize>) {
        self.flush(span.start);
        self.push(&self.text[inner]);
        if span.start >= self.code_to {
            self.out.code.push(span.clone());
            self.code_to = span.end;
        }
        self.skip_to(span.end);
    }

    /// `` "`x`" ``
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
            // It is no code that ends there.
            self.known[Ending::Code as usize] = (usize::MAX, None);
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
        let Some(value) = self.attributes.used(name) else { return false };
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

    /// `{url}/path[words]`, where the value of the attribute makes a link of it.
    fn url_of_attribute(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.find(|c: char| c.is_whitespace() || "[]<>".contains(c)).unwrap_or(rest.len()).min(2_000);
        let Some(written) = rest.get(..length) else { return false };
        let target = self.attributes.replaced(written);
        let has_words = rest[length..].starts_with('[');
        let is_named = ["link:", "xref:", "mailto:"].iter().any(|start| target.starts_with(start));
        if !(is_url(&target) || is_named && has_words) || target.contains(['[', ' ']) {
            return false;
        }
        let (start, kind) = match target.split_once(':') {
            Some(("xref", _)) => ("xref:", LinkKind::Inline),
            Some(("link", _)) => ("link:", link_kind()),
            _ => ("", LinkKind::Inline),
        };
        let written = if has_words { written } else { written.trim_end_matches([',', '.', '?', '!', ':', ';', ')']) };
        let dest = self.at..self.at + written.len();
        let target = self.attributes.replaced(written);
        let target = target[start.len().min(target.len())..].to_owned();
        match has_words {
            true => self.with_words(self.at, dest, target, kind),
            false => {
                self.link(dest.clone(), dest, target.clone(), target, LinkKind::Autolink);
                true
            }
        }
    }

    fn link(&mut self, span: Range<usize>, dest: Range<usize>, target: String, text: String, kind: LinkKind) {
        self.flush(span.start);
        self.push(&text);
        if span.start >= self.code_to {
            self.out.code.push(dest.clone());
        }
        self.skip_to(span.end);
        self.out.links.push(Link { target, dest_span: dest, span, text, kind });
    }

    /// A link whose words follow in brackets, which are read like others.
    fn with_words(&mut self, start: usize, dest: Range<usize>, target: String, kind: LinkKind) -> bool {
        let open = self.text[dest.end..self.range.end].find('[').map(|length| dest.end + length);
        let Some((open, close)) = open.and_then(|open| Some((open, self.end_of(Ending::Bracket, open + 1)?))) else {
            return false;
        };
        self.flush(start);
        let words = words_in(&self.text[open + 1..close]);
        let words = open + 1 + words.start..open + 1 + words.end;
        let shown = read(self.text, words.clone(), self.attributes);
        let text = if shown.text.is_empty() { shown_target(&target) } else { shown.text };
        self.push(&text);
        if start >= self.code_to {
            self.out.code.push(dest.clone());
            self.out.code.extend(shown.code);
            self.out.prose.extend(shown.prose);
        }
        self.out.ids.extend(shown.ids);
        self.out.links.push(Link { target, dest_span: dest, span: start..close + 1, text, kind });
        // Pictures in the words of a link.
        self.out.links.extend(shown.links);
        self.skip_to(close + 1)
    }

    /// `<<id,words>>`, and `<https://…>`.
    fn cross_reference(&mut self) -> bool {
        let (at, rest) = (self.at, self.rest());
        let Some(inside) = rest.strip_prefix("<<") else { return false };
        if !inside.starts_with(|c: char| is_word(c) || "#/.:{".contains(c)) {
            return false;
        }
        let Some(end) = self.end_of(Ending::Reference, at + 3) else { return false };
        let content = &self.text[at + 2..end];
        if content.len() > 2_000 || content.contains("<<") {
            return false;
        }
        let id = content.split(',').next().unwrap_or(content);
        let dest = at + 2..at + 2 + id.trim_end().len();
        let target = self.attributes.replaced(id.trim());
        let words = content.get(id.len() + 1..).unwrap_or_default();
        let words = end - words.trim_start().len()..end;
        let shown = if words.is_empty() { Inline::default() } else { read(self.text, words, self.attributes) };
        let text = if shown.text.is_empty() { shown_target(&target) } else { shown.text };
        self.out.prose.extend(shown.prose);
        self.link(at..end + 2, dest, reference_target(&target, false), text, LinkKind::Inline);
        true
    }

    /// `[[id]]`, `[[[id]]]`, and `[.role]#x#`, of which only the words are shown.
    fn brackets(&mut self) -> bool {
        let (at, rest) = (self.at, self.rest());
        if let Some(inside) = rest.strip_prefix("[[") {
            let is_entry = inside.starts_with('[');
            let inside = inside.trim_start_matches('[');
            let length = inside.bytes().take(200).take_while(|byte| !b"[], \n".contains(byte)).count();
            let Some(id) =
                inside.get(..length).filter(|id| id.starts_with(|c: char| c.is_alphabetic() || "_:".contains(c)))
            else {
                return false;
            };
            let open = at + rest.len() - inside.len();
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
        let length = rest.bytes().take(200).take_while(|byte| *byte != b']' && *byte != b'\n').count();
        let Some(behind) = rest.get(length + 1..).filter(|behind| behind.starts_with(['#', '*', '_', '`', '^', '~']))
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

    /// `((term))` and `(((term, other)))`, of which the first is shown.
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

    fn macros(&mut self) -> bool {
        if self.before().is_some_and(is_word) {
            return false;
        }
        let (at, rest) = (self.at, self.rest());
        let head = &rest[..rest.floor_char_boundary(14)];
        if let Some(scheme) = SCHEMES.iter().find(|scheme| head.starts_with(**scheme)) {
            return self.url(scheme);
        }
        let Some(name) = NAMES.iter().find(|name| head.starts_with(**name)) else { return false };
        let target_at = at + name.len();
        let behind = &self.text[target_at..self.range.end];
        let length = behind.bytes().take(2_000).take_while(|byte| !b"[]\n".contains(byte)).count();
        if !behind.get(length..).is_some_and(|behind| behind.starts_with('[')) {
            return false;
        }
        let written = &behind[..length];
        let dest = target_at..target_at + length;
        match *name {
            "xref:" if !written.is_empty() => {
                let target = reference_target(&self.attributes.replaced(written), true);
                self.with_words(at, dest, target, LinkKind::Inline)
            }
            "link:" | "mailto:" if !written.contains(' ') => {
                let inner = written.strip_prefix("++").and_then(|inner| inner.strip_suffix("++"));
                let dest = if inner.is_some() { dest.start + 2..dest.end - 2 } else { dest };
                let target = self.attributes.replaced(inner.unwrap_or(written));
                let target = if *name == "mailto:" { format!("mailto:{target}") } else { target };
                let kind = if is_url(&target) { LinkKind::Inline } else { link_kind() };
                self.with_words(at, dest, target, kind)
            }
            "image:" if !written.is_empty() && !written.starts_with([':', ' ']) => {
                let target = self.attributes.replaced(written);
                let Some(close) = self.end_of(Ending::Bracket, dest.end + 1) else { return false };
                let attributes = attribute_list(&self.text[dest.end + 1..close]);
                let text = attributes.style.clone().unwrap_or_default();
                let around = self.text[dest.end + 1..close].to_owned();
                self.link(at..close + 1, dest.clone(), target, text, LinkKind::Image);
                self.out.links.extend(attribute_link(&around, dest.end + 1, self.attributes));
                true
            }
            "anchor:" | "icon:" | "indexterm:" => {
                let Some(close) = self.end_of(Ending::Bracket, dest.end + 1) else { return false };
                if *name == "anchor:" {
                    self.out.ids.push(written.to_owned());
                }
                self.flush(at);
                self.skip_to(close + 1)
            }
            "stem:" | "latexmath:" | "asciimath:" | "pass:" | "kbd:" => {
                let Some(close) = self.end_of(Ending::Bracket, dest.end + 1) else { return false };
                self.plain(at..close + 1, dest.end + 1..close);
                true
            }
            "btn:" | "footnote:" | "indexterm2:" | "menu:" => {
                let Some(close) = self.closing(dest.end) else { return false };
                self.flush(at);
                if *name == "menu:" {
                    self.push(written);
                    self.push(" > ");
                }
                self.is_spaced |= *name == "footnote:";
                self.ends.insert(close, 1);
                self.skip_to(dest.end + 1)
            }
            _ => false,
        }
    }

    /// The bracket that closes another one.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, byte) in self.text.as_bytes()[open..self.range.end].iter().enumerate().take(2_000) {
            match byte {
                b'[' => depth += 1,
                b']' if depth == 1 => return Some(open + at),
                b']' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// An address between words, with words of its own behind it or without.
    fn url(&mut self, scheme: &str) -> bool {
        let (at, rest) = (self.at, self.rest());
        if !self.before().is_none_or(|c| c.is_whitespace() || "<>()[];\"'`|*_{}:".contains(c) || !c.is_ascii()) {
            return false;
        }
        let length =
            rest.bytes().take(4_000).take_while(|byte| !byte.is_ascii_whitespace() && !b"[]<>".contains(byte)).count();
        let Some(written) = rest.get(..length).filter(|written| written.len() > scheme.len()) else {
            return false;
        };
        if rest[length..].starts_with('[') {
            let target = self.attributes.replaced(written);
            if self.with_words(at, at..at + length, target, LinkKind::Inline) {
                return true;
            }
        }
        let in_code = if at < self.code_to { written.trim_end_matches(['`', '+']) } else { written };
        let written = in_code.trim_end_matches([',', '.', '?', '!', ':', ';', ')', '*', '_', '"', '\'', '`']);
        if written.len() <= scheme.len() {
            return false;
        }
        let span = at..at + written.len();
        let target = self.attributes.replaced(written);
        self.link(span.clone(), span, target.clone(), target, LinkKind::Autolink);
        true
    }
}

const SCHEMES: [&str; 5] = ["https://", "http://", "ftp://", "irc://", "file://"];

const NAMES: [&str; 16] = [
    "xref:",
    "link:",
    "mailto:",
    "image:",
    "anchor:",
    "icon:",
    "indexterm:",
    "indexterm2:",
    "stem:",
    "latexmath:",
    "asciimath:",
    "pass:",
    "kbd:",
    "btn:",
    "menu:",
    "footnote:",
];

/// Whether a macro may begin here.
fn is_macro(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(14)];
    SCHEMES.iter().chain(&NAMES).any(|name| head.starts_with(name))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_url(target: &str) -> bool {
    SCHEMES.iter().any(|scheme| target.starts_with(scheme)) || target.starts_with("//")
}

/// Of `link:`, whose target is an address and no name of a page.
fn link_kind() -> LinkKind {
    LinkKind::Attribute { element: "a".to_owned(), attribute: "href".to_owned() }
}

/// What a cross-reference names: an id of the page is written with `#`, and a page with its ending.
fn reference_target(written: &str, is_macro: bool) -> String {
    let Some((path, id)) = written.split_once('#') else {
        let name = written.rsplit('/').next().unwrap_or(written);
        let is_path = is_macro && (written.ends_with(".adoc") || name.contains('.') && !written.contains(' '));
        return if is_path { written.to_owned() } else { format!("#{written}") };
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    match path.is_empty() || name.contains('.') || path.ends_with('}') {
        true => written.to_owned(),
        false => format!("{path}.adoc#{id}"),
    }
}

/// The words of a link among its attributes.
fn words_in(inside: &str) -> Range<usize> {
    let start = inside.len() - inside.trim_start().len();
    let quoted = inside[start..].strip_prefix('"').and_then(|rest| rest.find('"'));
    if let (Some(length), true) = (quoted, inside.contains('=')) {
        return start + 1..start + 1 + length;
    }
    let end = match inside.contains('=') {
        true => inside.find(',').or_else(|| is_named(inside).then_some(start)).unwrap_or(inside.len()),
        false => inside.len(),
    };
    let words = inside[..end].trim_end();
    let words = words.strip_suffix('^').unwrap_or(words);
    start.min(words.len())..words.len()
}

fn is_named(inside: &str) -> bool {
    let name = inside.split('=').next().unwrap_or_default().trim();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// What is shown of a link without words.
fn shown_target(target: &str) -> String {
    let path = target.strip_prefix("mailto:").unwrap_or(target);
    if is_url(path) {
        return path.to_owned();
    }
    let path = path.split('#').next().filter(|path| !path.is_empty()).unwrap_or(path);
    let name = path.rsplit(['/', ':', '$', '#']).next().unwrap_or(path);
    name.strip_suffix(".adoc").unwrap_or(name).to_owned()
}

/// Where a picture leads: `link=` or `xref=` among what stands in its brackets.
pub(super) fn attribute_link(inside: &str, offset: usize, attributes: &mut Attributes<'_>) -> Option<Link> {
    let list = attribute_list(inside);
    let (name, value) = ["link", "xref"].iter().find_map(|name| Some((*name, list.named(name)?)))?;
    let at = offset + inside.find(&format!("{name}=")).and_then(|at| Some(at + inside[at..].find(value)?))?;
    if value.is_empty() || value == "self" {
        return None;
    }
    let span = at..at + value.len();
    let target = attributes.replaced(value);
    let (target, kind) = match name {
        "xref" => (reference_target(&target, true), LinkKind::Inline),
        _ => (target, link_kind()),
    };
    Some(Link { target, dest_span: span.clone(), span, text: String::new(), kind })
}
