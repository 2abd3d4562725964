//! Parses reStructuredText as docutils and Sphinx do.
//!
//! A page is parsed line by line. Only prose, code and links have to be told apart: lists and quotations are prose like
//! any other, and the content of a directive is prose unless the directive is known to show code or nothing. Sections
//! are recognized at the margin only, as in docutils.
//!
//! The target of a role is the whole role (`` :doc:`words </path>` ``), because the role decides how the target is
//! resolved.

mod directives;
mod inline;

use std::collections::HashMap;
use std::ops::Range;

use inline::{Destination, Inline, Reference, normal};

use crate::anchors::{AnchorStyle, Anchors};
use crate::depth::Depth;
use crate::page::{Format, Link, LinkKind, Page};
use crate::page_builder::{Line, PageBuilder, dedented};
use crate::problem::Problem;
use crate::text::text_of;

/// Punctuation that titles may be underlined with.
const ADORNMENTS: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// Most list markers that may follow each other on one line.
const DEEPEST: usize = 20;

/// In bytes: most text that references may copy from their targets, besides twice the length of the page.
const MAX_COPIED_BYTES: usize = 64 << 10;

/// Reads one page. Never fails and never panics.
pub(crate) fn parse(path: &str, bytes: &[u8]) -> Page {
    let text = text_of(bytes);
    let mut parser = PageParser::of(&text);
    parser.blocks();
    let mut problems = Vec::from_iter(Problem::of_encoding(bytes));
    problems.extend(parser.resolve());
    parser.page.finish(path, Format::Rst, problems)
}

/// The id that docutils derives from a name.
pub fn rst_id(name: &str) -> String {
    Anchors::of(AnchorStyle::Docutils).for_heading(name)
}

/// The labels at the margin, which other pages may refer to (`.. _name:`).
pub fn rst_labels(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let target = line.strip_prefix(".. _").and_then(target_of)?;
        (target.value.is_empty() && !target.name.starts_with('_')).then(|| normal(target.name))
    })
}

/// The target of a name.
#[derive(Debug, Clone)]
enum Definition {
    /// A URL or path, and its byte range.
    Url(String, Range<usize>),
    /// An id on the page.
    Id(String),
    /// Another name.
    Alias(String),
}

/// The position of a text: its line, byte offset and column.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: usize,
    start: usize,
    column: usize,
}

struct PageParser<'t> {
    text: &'t str,
    lines: Vec<Line<'t>>,
    page: PageBuilder<'t>,
    anchors: Anchors,
    /// The adornments of titles in order of level: the character, and whether there is an overline as well.
    adornments: Vec<(char, bool)>,
    definitions: HashMap<String, Definition>,
    /// Anchors of titles by name; a target with the same name takes precedence.
    titles: HashMap<String, String>,
    anonymous: Vec<Definition>,
    references: Vec<Reference>,
    /// The column beyond which the literal block announced by `::` is indented.
    literal: Option<usize>,
    table: Option<Table>,
}

/// The table that lines belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    Grid,
    /// The number of borders read so far.
    Simple(usize),
}

/// `name: value` after `.. _`.
struct TargetLine<'t> {
    name: &'t str,
    value: &'t str,
}

fn target_of(rest: &str) -> Option<TargetLine<'_>> {
    let (name, value) = match rest.strip_prefix('`') {
        Some(quoted) => {
            let end = quoted.find("`:")?;
            (&quoted[..end], &quoted[end + 2..])
        }
        None => {
            let colon = rest.match_indices(':').map(|(at, _)| at).find(|at| {
                let behind = &rest[at + 1..];
                !rest[..*at].ends_with('\\') && (behind.is_empty() || behind.starts_with([' ', '\t', '\r']))
            })?;
            (&rest[..colon], &rest[colon + 1..])
        }
    };
    (!name.is_empty()).then_some(TargetLine { name, value: value.trim() })
}

impl<'t> PageParser<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            lines: Line::all(text),
            page: PageBuilder::of(text),
            anchors: Anchors::of(AnchorStyle::Docutils),
            adornments: Vec::new(),
            definitions: HashMap::new(),
            titles: HashMap::new(),
            anonymous: Vec::new(),
            references: Vec::new(),
            literal: None,
            table: None,
        }
    }

    fn blocks(&mut self) {
        let mut at = 0;
        while let Some(line) = self.lines.get(at).copied() {
            if line.is_blank() {
                if self.table == Some(Table::Grid) {
                    self.table = None;
                }
                at += 1;
                continue;
            }
            if let Some(column) = self.literal.take()
                && let Some(next) = self.literal_block(at, column)
            {
                at = next;
                continue;
            }
            if let Some(next) = self.table_line(at).or_else(|| self.title(at)) {
                at = next;
                continue;
            }
            at = self.block(Place { line: at, start: line.words_start(), column: line.indent });
        }
    }

    /// The line after the block from line `from` on that is indented more than `column`, without trailing blank lines.
    fn block_end(&self, from: usize, column: usize) -> usize {
        let mut end = from;
        for (ix, line) in self.lines.iter().enumerate().skip(from) {
            if line.is_blank() {
                continue;
            }
            if line.indent <= column {
                break;
            }
            end = ix + 1;
        }
        end
    }

    /// Reads the literal block after `::`: indented, or with the same punctuation at the start of each line.
    fn literal_block(&mut self, at: usize, column: usize) -> Option<usize> {
        let first = self.lines[at];
        let end = if first.indent > column {
            self.block_end(at, column)
        } else {
            let sign = first.words().chars().next().filter(|c| ADORNMENTS.contains(*c) && first.indent == column)?;
            let quoted = self.lines[at..].iter().take_while(|line| line.words().starts_with(sign));
            at + quoted.count()
        };
        self.code_lines(None, at, end);
        Some(end)
    }

    fn code_lines(&mut self, language: Option<String>, from: usize, to: usize) {
        let blank = self.lines[from..to].iter().take_while(|line| line.is_blank()).count();
        let lines = &self.lines[from + blank..to];
        if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
            self.page.code_block(language, dedented(lines), first.words_start()..last.end());
        }
    }

    /// A border or a row of a table.
    fn table_line(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        let words = line.words();
        let only = |signs: &str| words.chars().all(|c| signs.contains(c));
        if words.len() > 2
            && words.ends_with('+')
            && (words.starts_with("+-") || words.starts_with("+="))
            && only("+-=")
        {
            self.table = Some(Table::Grid);
            return Some(at + 1);
        }
        if words.starts_with('=') && words.contains(" =") && only("= ") {
            let borders = if let Some(Table::Simple(count)) = self.table { count + 1 } else { 1 };
            let is_last = borders > 1 && self.lines.get(at + 1).is_none_or(Line::is_blank);
            self.table = (!is_last).then_some(Table::Simple(borders));
            return Some(at + 1);
        }
        match self.table? {
            Table::Grid => {
                let cells = words.strip_prefix('|')?;
                let mut from = line.words_start() + 1;
                let mut row = Vec::new();
                for cell in cells.split('|') {
                    let inside = cell.trim();
                    let start = from + cell.len() - cell.trim_start().len();
                    row.push(start..start + inside.len());
                    from += cell.len() + 1;
                }
                let cells = row.into_iter().filter(|cell| !cell.is_empty()).map(|cell| self.marked_words(cell));
                let (words, markdown): (Vec<_>, Vec<_>) = cells.unzip();
                self.page.marked_paragraph("", &words.join(" | "), &markdown.join(" | "));
            }
            Table::Simple(_) => {
                if !only("- ") {
                    self.marked_paragraph("", line.words_start()..line.end());
                }
            }
        }
        Some(at + 1)
    }

    /// Reads a title or a transition (a horizontal rule); returns the line after it.
    fn title(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        if line.indent > 0 {
            return None;
        }
        let is_free = |line: Option<&Line<'_>>| line.is_none_or(Line::is_blank);
        let next = self.lines.get(at + 1).copied();
        if let Some(sign) = adornment(line.text) {
            let under = self.lines.get(at + 2).copied();
            if let (Some(title), Some(under)) = (next.filter(|title| !title.is_blank()), under)
                && under.text == line.text
                && (line.text.len() > 3 || line.text.len() >= title.words().chars().count())
                && adornment(title.text).is_none()
            {
                self.heading(title, (sign, true), line.start..under.end());
                return Some(at + 3);
            }
            return (line.text.len() > 3 && is_free(next.as_ref())).then_some(at + 1);
        }
        let under = next?;
        let sign = adornment(under.text).filter(|_| under.indent == 0)?;
        let is_long = under.text.len() > 3 || under.text.len() >= line.text.chars().count();
        let is_list = marker(line.text).is_some_and(|mark| !mark.is_number) || line.text.starts_with(".. ");
        if !is_long || is_list {
            return None;
        }
        self.heading(line, (sign, false), line.start..under.end());
        Some(at + 2)
    }

    fn heading(&mut self, title: Line<'_>, adornment: (char, bool), span: Range<usize>) {
        let known = self.adornments.iter().position(|known| *known == adornment);
        let depth = known.unwrap_or_else(|| {
            self.adornments.push(adornment);
            self.adornments.len() - 1
        });
        let read = inline::read(self.text, title.words_start()..title.end());
        let words = read.text.clone();
        let anchor = self.anchors.for_heading(&words);
        self.titles.entry(normal(&words)).or_insert_with(|| anchor.clone());
        self.page.heading(u8::try_from(depth + 1).unwrap_or(6).min(6), words, anchor, span);
        self.take(read);
    }

    /// Reads one block: explicit markup, a list item, or a paragraph. Returns the line after it.
    fn block(&mut self, place: Place) -> usize {
        self.block_in(place, "", Depth::of(DEEPEST))
    }

    fn block_in(&mut self, place: Place, mark: &str, depth: Depth) -> usize {
        let line = self.lines[place.line];
        let words = &self.text[place.start..line.end()];
        if words == ".." || words.starts_with(".. ") {
            return self.explicit(place);
        }
        if let Some(url) = words.strip_prefix("__ ") {
            let dest = line.end() - url.trim_start().len()..line.end();
            self.anonymous.push(definition(url.trim(), dest));
            return place.line + 1;
        }
        if words.starts_with(">>> ") {
            let end =
                self.lines[place.line..].iter().position(Line::is_blank).map_or(self.lines.len(), |n| place.line + n);
            self.code_lines(Some("python".to_owned()), place.line, end);
            return end;
        }
        if let Some((found, depth)) = marker(words).zip(depth.inside()) {
            if found.length >= words.len() {
                return place.line + 1;
            }
            let start = place.start + found.length;
            let column = match found.is_field {
                true => self.lines.get(place.line + 1).map_or(0, |next| next.indent).max(place.column + 1),
                false => place.column + found.length,
            };
            let mark = if found.is_field { String::new() } else { self.text[place.start..start].to_owned() };
            return self.block_in(Place { start, column, ..place }, &mark, depth);
        }
        self.paragraph(place, mark)
    }

    /// Reads a paragraph, up to a blank line or a change of indentation.
    fn paragraph(&mut self, place: Place, mark: &str) -> usize {
        let is_line_block = place.column == self.lines[place.line].indent && self.text[place.start..].starts_with("| ");
        let mut end = place.line + 1;
        while !is_line_block && self.lines.get(end).is_some_and(|line| !line.is_blank() && line.indent == place.column)
        {
            end += 1;
        }
        let stop = self.lines[end - 1].end();
        let start = place.start + if is_line_block { 2 } else { 0 };
        let mut range = start.min(stop)..stop;
        if self.text[range.clone()].ends_with("::") {
            self.literal = Some(place.column);
            let is_mark =
                self.text[range.clone()].trim() == "::" || self.text[..stop - 2].ends_with(char::is_whitespace);
            range.end -= if is_mark { 2 } else { 1 };
        }
        self.marked_paragraph(mark, range);
        end
    }

    fn marked_paragraph(&mut self, mark: &str, range: Range<usize>) {
        let (words, markdown) = self.marked_words(range);
        self.page.marked_paragraph(mark, &words, &markdown);
    }

    /// Parses inline markup, and returns the displayed text, and the same as Markdown.
    fn marked_words(&mut self, range: Range<usize>) -> (String, String) {
        let mut read = inline::read(self.text, range);
        let words = (std::mem::take(&mut read.text), std::mem::take(&mut read.markdown));
        self.take(read);
        words
    }

    /// Records what inline markup contains; ids are assigned in page order.
    fn take(&mut self, read: Inline) {
        read.prose.into_iter().for_each(|range| self.page.prose(range));
        read.code.into_iter().for_each(|range| self.page.code(range));
        for reference in read.references {
            match &reference.to {
                Destination::Footnote => drop(self.anchors.for_heading("")),
                Destination::Embedded { url, dest, is_named: true } => {
                    self.anchors.for_heading(&reference.text);
                    let definition = Definition::Url(url.clone(), dest.clone());
                    self.definitions.entry(normal(&reference.text)).or_insert(definition);
                }
                Destination::Target => {
                    let id = self.anchors.for_heading(&reference.text);
                    self.definitions.insert(normal(&reference.text), Definition::Id(id.clone()));
                    self.page.id(id);
                }
                _ => {}
            }
            self.references.push(reference);
        }
    }

    /// Reads explicit markup (`..`): a target, a footnote, a substitution, a directive, or else a comment.
    fn explicit(&mut self, place: Place) -> usize {
        let line = self.lines[place.line];
        let rest = self.text[place.start + 2..line.end()].trim_start();
        let start = line.end() - rest.len();
        if let Some(target) = rest.strip_prefix('_').and_then(target_of) {
            return self.target(&target, place);
        }
        if let Some((label, words)) =
            rest.strip_prefix('[').and_then(|rest| rest.split_once("] ").or(rest.split_once(']')))
        {
            let name = label.trim_start_matches('#');
            let name = if name.starts_with('*') { "" } else { name };
            let id = self.anchors.for_heading(name);
            self.page.id(id);
            self.marked_paragraph("", line.end() - words.trim_start().len()..line.end());
            return place.line + 1;
        }
        if let Some((_, directive)) = rest.strip_prefix('|').and_then(|rest| rest.split_once("| ")) {
            let start = line.end() - directive.trim_start().len();
            return self.directive(Place { start, ..place }, true).unwrap_or_else(|| self.comment(place));
        }
        self.directive(Place { start, ..place }, false).unwrap_or_else(|| self.comment(place))
    }

    fn comment(&mut self, place: Place) -> usize {
        let is_empty = self.text[place.start..self.lines[place.line].end()].trim() == "..";
        match is_empty && self.lines.get(place.line + 1).is_none_or(Line::is_blank) {
            true => place.line + 1,
            false => self.block_end(place.line + 1, place.column),
        }
    }

    fn target(&mut self, target: &TargetLine<'t>, place: Place) -> usize {
        let line = self.lines[place.line];
        let next = self.block_end(place.line + 1, place.column);
        let mut dest = line.end() - target.value.len()..line.end();
        let mut value = target.value.to_owned();
        // A long URL may continue below.
        let more: Vec<&Line<'_>> =
            self.lines[place.line + 1..next].iter().take_while(|line| !line.is_blank()).collect();
        if let Some(last) = more.last() {
            dest.end = last.end();
            if value.is_empty() {
                dest.start = more[0].words_start();
            }
            more.iter().for_each(|line| value.push_str(line.words()));
        }
        if target.name == "_" {
            self.anonymous.push(definition(&value, dest));
            return next;
        }
        let name = normal(target.name);
        let id = self.anchors.for_heading(&name);
        let definition = match value.is_empty() {
            true => {
                self.page.id(id.clone());
                Definition::Id(id)
            }
            false => definition(&value, dest),
        };
        self.definitions.insert(name, definition);
        next
    }

    /// Turns references into links once all targets are known. A page whose references would copy too much of their
    /// targets has no more links from there on, which is a problem.
    fn resolve(&mut self) -> Option<Problem> {
        let mut room = MAX_COPIED_BYTES + 2 * self.text.len();
        let mut anonymous = std::mem::take(&mut self.anonymous).into_iter();
        for Reference { span, text, to } in std::mem::take(&mut self.references) {
            let link = match to {
                Destination::Footnote | Destination::Target => None,
                Destination::Bare => Some((text.clone(), span.clone(), LinkKind::Autolink)),
                Destination::Embedded { url, dest, .. } => Some((url, dest, LinkKind::Inline)),
                Destination::File { path, dest } => Some((path, dest, LinkKind::Inline)),
                Destination::Role => {
                    let role = &self.text[span.clone()];
                    let role = role.strip_prefix(":std").unwrap_or(role);
                    Some((role.to_owned(), span.clone(), LinkKind::Inline))
                }
                Destination::Anonymous => anonymous.next().and_then(|definition| self.found(definition, &span)),
                Destination::Name(name) => self.found(Definition::Alias(name), &span),
            };
            if let Some((target, dest_span, kind)) = link {
                if kind == LinkKind::Reference {
                    let Some(left) = room.checked_sub(target.len()) else {
                        let line = self.text[..span.start].matches('\n').count() + 1;
                        let message =
                            "the targets of references on this page are too long; no links are read from here on";
                        return Some(Problem { line, message: message.to_owned() });
                    };
                    room = left;
                }
                self.page.link(Link { target, dest_span, span, text, kind });
            }
        }
        None
    }

    /// The target of a reference, its byte range, and the kind of link. Follows at most 10 definitions.
    fn found(&self, mut definition: Definition, span: &Range<usize>) -> Option<(String, Range<usize>, LinkKind)> {
        for _ in 0..10 {
            match definition {
                Definition::Url(url, dest) => return Some((url, dest, LinkKind::Reference)),
                Definition::Id(id) => return Some((format!("#{id}"), span.clone(), LinkKind::Reference)),
                Definition::Alias(name) => {
                    let title = || self.titles.get(&name).cloned().map(Definition::Id);
                    definition = self.definitions.get(&name).cloned().or_else(title)?;
                }
            }
        }
        None
    }
}

/// The definition after the name of a target.
fn definition(value: &str, dest: Range<usize>) -> Definition {
    match value.strip_suffix('_').filter(|name| !name.ends_with('\\')) {
        Some(name) => Definition::Alias(normal(name.trim_matches('`'))),
        None => Definition::Url(value.replace('\\', ""), dest),
    }
}

/// The punctuation character of which a line consists, if it does.
fn adornment(line: &str) -> Option<char> {
    let first = line.chars().next().filter(|c| ADORNMENTS.contains(*c))?;
    line.chars().all(|c| c == first).then_some(first)
}

/// The marker of a list item or a field.
struct Marker {
    /// In bytes, with the whitespace after it.
    length: usize,
    is_field: bool,
    is_number: bool,
}

fn marker(words: &str) -> Option<Marker> {
    let first = words.chars().next()?;
    let with_blanks = |mark: usize| {
        let rest = &words[mark..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        (blanks > 0 || rest.is_empty()).then_some(mark + blanks)
    };
    let plain = |length, is_number| Marker { length, is_field: false, is_number };
    if "-*+•‣⁃".contains(first) {
        return with_blanks(first.len_utf8()).map(|length| plain(length, false));
    }
    if first == ':' {
        let end = field_end(words)?;
        return with_blanks(end).map(|length| Marker { length, is_field: true, is_number: false });
    }
    let inside = words.strip_prefix('(').unwrap_or(words);
    let number = inside.bytes().take_while(u8::is_ascii_alphanumeric).count().max(usize::from(inside.starts_with('#')));
    let fits = inside[..number].bytes().all(|byte| byte.is_ascii_digit() || byte == b'#') || number == 1;
    let behind = inside[number..].chars().next()?;
    let is_closed = if inside.len() < words.len() { behind == ')' } else { matches!(behind, '.' | ')') };
    if number == 0 || number > 9 || !fits || !is_closed {
        return None;
    }
    with_blanks(words.len() - inside.len() + number + 1).map(|length| plain(length, true))
}

/// The end of a field name, after its second colon.
fn field_end(words: &str) -> Option<usize> {
    let bytes = words.as_bytes();
    if bytes.get(1).is_none_or(|byte| matches!(byte, b':' | b' ')) {
        return None;
    }
    for (at, byte) in bytes.iter().enumerate().skip(2).take(200) {
        let next = bytes.get(at + 1);
        if *byte == b':' && bytes[at - 1] != b'\\' {
            match next {
                None | Some(b' ' | b'\t') => return Some(at + 1),
                Some(b'`') => return None,
                Some(_) => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
