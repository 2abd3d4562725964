//! Converts Jupyter notebooks to a page of Markdown, and maps each character of it to its place in the file.
//!
//! Markdown cells become text, code cells become code blocks, and outputs are not read. A notebook is JSON, so the file
//! has the text of a cell in escaped form, with `\"` for `"`. Text without such escapes can be edited in the file
//! directly; a link whose destination has escapes is not followed (see [`Notebook::page`]).

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::anchors::AnchorStyle;
use crate::lines_from::{Fence, FenceLine};
use crate::page::{Format, Page};
use crate::parse::parse_as;
use crate::parse_lines::Lines;
use crate::problem::Problem;
use crate::text::text_of;
use crate::words::longest_run;

/// Most cells of a notebook that are read.
const MOST_CELLS: usize = 20_000;
/// Site generators leave out cells with one of these tags.
const REMOVED: [&str; 2] = ["remove-cell", "remove_cell"];
/// Site generators leave out the code of cells with one of these tags.
const WITHOUT_CODE: [&str; 4] = ["remove-input", "remove_input", "hide-input", "hide_input"];

/// The problem of a file that is named like a notebook but is not one.
pub const NO_NOTEBOOK: &str = "the file is no notebook that can be read: it is not JSON with a list of cells";

/// A parsed notebook.
#[derive(Debug, Clone, Default)]
pub struct Notebook {
    /// The cells as Markdown.
    pub text: String,
    /// Maps the ranges of `text` to ranges of the file, in order and without gaps.
    runs: Vec<Run>,
}

/// A range of the text, and the range of the file it comes from.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// The byte offset in the text.
    at: usize,
    /// The byte offset in the file.
    from: usize,
    /// The length in the text, in bytes.
    len: usize,
    /// The length in the file, in bytes; not `len` for an escape, and 0 for text that is not in the file.
    raw: usize,
    /// Whether both ranges have the same bytes.
    is_same: bool,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow, default)]
    cells: Option<Vec<&'a RawValue>>,
    /// The cells, up to format version 3.
    #[serde(borrow, default)]
    worksheets: Option<Vec<Worksheet<'a>>>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Worksheet<'a> {
    #[serde(borrow, default)]
    cells: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    #[serde(borrow)]
    cell_type: Cow<'a, str>,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
    /// The name of `source` in code cells up to format version 3.
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    /// The level of a heading cell, up to format version 3.
    #[serde(borrow, default)]
    level: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct CellMetadata {
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    kernelspec: Language,
    language_info: Language,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Language {
    language: Option<String>,
    name: Option<String>,
}

impl Metadata {
    /// The language of the code, as a fence names it.
    fn language(self) -> String {
        let name = self.language_info.name.or(self.kernelspec.language).unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "+-#_.".contains(c);
        if name.len() <= 40 && name.chars().all(is_name) { name } else { String::new() }
    }
}

/// Deserializes a JSON value that may be of any type; `None` if it is of another.
fn read<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

impl Notebook {
    /// Parses a notebook; `None` if the file is not one. Never panics.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let file = text_of(bytes);
        let whole: Whole<'_> = serde_json::from_str(file.trim_start_matches('\u{feff}')).ok()?;
        let cells = match (whole.cells, whole.worksheets) {
            (Some(cells), _) => cells,
            (None, Some(sheets)) => sheets.into_iter().flat_map(|sheet| sheet.cells).collect(),
            (None, None) => return None,
        };
        let language = whole.metadata.and_then(read::<Metadata>).unwrap_or_default().language();
        let mut notebook = Self::default();
        for cell in cells.into_iter().take(MOST_CELLS) {
            if let Some(cell) = read::<Cell<'_>>(cell) {
                notebook.cell(&file, &cell, &language);
            }
        }
        Some(notebook)
    }

    /// The notebook as a page whose spans are ranges of the file. If a destination is escaped in the file, the target
    /// of the link keeps the escapes, always has a backslash, and cannot be resolved.
    pub fn page(&self, path: &str, bytes: &[u8], anchors: AnchorStyle) -> Page {
        let file = text_of(bytes);
        let mut page = parse_as(path, self.text.as_bytes(), Format::Markdown, anchors);
        page.format = Format::Notebook;
        if !page.problems.is_empty() {
            let lines = self.lines(&file);
            page.problems.iter_mut().for_each(|problem| problem.line = origin(&lines, problem.line));
        }
        page.problems.splice(0..0, Problem::of_encoding(bytes));
        for link in &mut page.links {
            let in_file = self.range(&link.dest_span);
            if file[in_file.clone()] != self.text[link.dest_span.clone()] {
                let escaped = &file[in_file.clone()];
                link.target = if escaped.contains('\\') { escaped.to_owned() } else { format!("\\{escaped}") };
            }
            link.dest_span = in_file;
            link.span = self.range(&link.span);
        }
        page.headings.iter_mut().for_each(|heading| heading.span = self.range(&heading.span));
        page.sections.iter_mut().for_each(|section| section.markdown_span = self.range(&section.markdown_span));
        for spans in [&mut page.prose, &mut page.code] {
            spans.iter_mut().for_each(|span| *span = self.range(span));
        }
        let front = &mut page.front_matter;
        for span in [&mut front.span, &mut front.body].into_iter().flatten() {
            *span = self.range(span);
        }
        page
    }

    /// For each line of the text, the line of the file it comes from, counted from 1.
    pub fn lines(&self, file: &str) -> Vec<usize> {
        let lines = Lines::of(file);
        let starts = std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1));
        starts.map(|start| lines.number(self.place(start))).collect()
    }

    fn cell(&mut self, file: &str, cell: &Cell<'_>, language: &str) {
        let tags = cell.metadata.and_then(read::<CellMetadata>).unwrap_or_default().tags;
        let is_tagged = |tags_of: &[&str]| tags.iter().any(|tag| tags_of.contains(&tag.as_str()));
        let Some(source) = cell.source.or(cell.input).and_then(|source| Self::source(file, source)) else { return };
        if source.text.trim().is_empty() || is_tagged(&REMOVED) {
            return;
        }
        match &*cell.cell_type {
            "markdown" => {
                let mut fence = Fence::default();
                let is_open = source.text.lines().map(|line| fence.line(line)).last() == Some(FenceLine::Inside);
                self.append(&source);
                self.end_line();
                // A fence that is left open ends with its cell.
                if is_open && fence.line("x") == FenceLine::Inside {
                    let mark = closing(&source.text);
                    self.add(&mark);
                    self.add("\n");
                }
            }
            "heading" => {
                let level = cell.level.and_then(read::<usize>).unwrap_or(1).clamp(1, 6);
                self.add(&format!("{} ", "#".repeat(level)));
                self.append(&source);
                self.end_line();
            }
            "code" if !is_tagged(&WITHOUT_CODE) => {
                let fence = "`".repeat(longest_run(&source.text, '`').max(2) + 1);
                self.add(&format!("{fence}{language}\n"));
                self.append(&source);
                self.end_line();
                self.add(&format!("{fence}\n"));
            }
            _ => return,
        }
        self.add("\n");
    }

    /// The text of a cell: one JSON string, or one for each line.
    fn source(file: &str, source: &RawValue) -> Option<Self> {
        let mut text = Self::default();
        match source.get().as_bytes().first()? {
            b'"' => text.string(file, source.get()),
            b'[' => {
                for line in read::<Vec<&RawValue>>(source)? {
                    if line.get().starts_with('"') {
                        text.string(file, line.get());
                    }
                }
            }
            _ => return None,
        }
        Some(text)
    }

    /// Adds a JSON string; `quoted` is a slice of `file`, quotes included.
    fn string(&mut self, file: &str, quoted: &str) {
        // `quoted` is a slice of `file`, so the distance of their pointers is its byte offset.
        let start = (quoted.as_ptr() as usize).wrapping_sub(file.as_ptr() as usize);
        let Some(inside) = quoted.get(1..quoted.len().saturating_sub(1)) else { return };
        if file.get(start..start + quoted.len()) != Some(quoted) {
            return;
        }
        let (start, mut at) = (start + 1, 0);
        while let Some(escape) = inside[at..].find('\\').map(|found| at + found) {
            self.same(&inside[at..escape], start + at);
            let (letter, length) = unescaped(&inside[escape..]);
            let mut buffer = [0; 4];
            self.push(letter.encode_utf8(&mut buffer), start + escape, length, false);
            at = escape + length;
        }
        self.same(&inside[at..], start + at);
    }

    fn same(&mut self, text: &str, from: usize) {
        self.push(text, from, text.len(), true);
    }

    /// Adds text that is not in the file.
    fn add(&mut self, text: &str) {
        let from = self.runs.last().map_or(0, |last| last.from + last.raw);
        self.push(text, from, 0, false);
    }

    fn push(&mut self, text: &str, from: usize, raw: usize, is_same: bool) {
        if !text.is_empty() {
            self.runs.push(Run { at: self.text.len(), from, len: text.len(), raw, is_same });
            self.text.push_str(text);
        }
    }

    fn append(&mut self, other: &Self) {
        let at = self.text.len();
        self.runs.extend(other.runs.iter().map(|run| Run { at: at + run.at, ..*run }));
        self.text.push_str(&other.text);
    }

    fn end_line(&mut self) {
        if !self.text.ends_with('\n') {
            self.add("\n");
        }
    }

    /// The run that a byte of the text is in.
    fn run(&self, at: usize) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.at <= at);
        self.runs.get(after.checked_sub(1)?)
    }

    /// The byte offset in the file for one in the text.
    fn place(&self, at: usize) -> usize {
        match self.run(at) {
            Some(run) if run.is_same => run.from + (at - run.at).min(run.len),
            Some(run) if at >= run.at + run.len => run.from + run.raw,
            Some(run) => run.from,
            None => 0,
        }
    }

    /// The range of the file for one of the text: from its first character to the end of its last.
    fn range(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.place(range.start);
        let end = match range.end.checked_sub(1).filter(|_| !range.is_empty()).and_then(|last| self.run(last)) {
            Some(run) if run.is_same => run.from + (range.end - run.at).min(run.len),
            Some(run) => run.from + run.raw,
            None => start,
        };
        start..end.max(start)
    }
}

/// The line of the file, from [`Notebook::lines`], for a line of the text; both are counted from 1.
fn origin(lines: &[usize], line: usize) -> usize {
    lines.get(line.saturating_sub(1)).or(lines.last()).copied().unwrap_or(1)
}

/// The closing fence for a text that leaves one open.
fn closing(text: &str) -> String {
    let mark = if longest_run(text, '~') > longest_run(text, '`') { '~' } else { '`' };
    std::iter::repeat_n(mark, longest_run(text, mark).max(3)).collect()
}

/// The character of a JSON escape, and the length of the escape in bytes.
fn unescaped(escape: &str) -> (char, usize) {
    let unit = |text: &str| u32::from_str_radix(text.get(2..6)?, 16).ok().filter(|_| text.starts_with("\\u"));
    let letter = match escape.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            let Some(first) = unit(escape) else { return ('\u{fffd}', escape.len().min(2)) };
            let second = escape.get(6..).and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
            if let (0xd800..0xdc00, Some(second)) = (first, second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return (char::from_u32(code).unwrap_or('\u{fffd}'), 12);
            }
            return (char::from_u32(first).unwrap_or('\u{fffd}'), 6);
        }
        Some(other) => *other as char,
        None => return ('\u{fffd}', escape.len()),
    };
    (letter, 2)
}

#[cfg(test)]
mod tests;
