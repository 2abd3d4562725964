//! Normalizes a text as docutils does before it parses markup, and groups its lines.

use std::ops::Range;

use crate::page_builder::Line;
use crate::parse_lines::each_line;
use crate::regex;

// List markers, whose content is indented to where they end.
regex!(MARKERS, r"\A *(?:(?:[*+-]|#\.|[0-9]+[.)]) *)*\z");
regex!(OPTION, r"\A *:[^\s:`](?:[^\s`:\\]|\\.)*:(?: |\z)");

/// Columns per tab stop.
const TAB: usize = 8;

/// Normalizes the whitespace of a text: every line ends in a line feed, and words are indented and separated by spaces.
///
/// docutils replaces form feeds and vertical tabs with spaces, splits lines where Python does, and expands tabs.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut line, mut column) = (0, 0);
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                if c == '\r' {
                    chars.next_if_eq(&'\n');
                }
                let end = line + plain[line..].trim_end().len();
                plain.truncate(end);
                plain.push('\n');
                (line, column) = (plain.len(), 0);
            }
            '\t' => {
                let blank = TAB - column % TAB;
                plain.extend(std::iter::repeat_n(' ', blank));
                column += blank;
            }
            c => {
                plain.push(if matches!(c, '\u{b}' | '\u{c}' | '\u{1f}') { ' ' } else { c });
                column += 1;
            }
        }
    }
    plain.truncate(line + plain[line..].trim_end().len());
    plain
}

/// The lines of a normalized text, and their paragraphs.
pub(super) struct Blocks<'t> {
    lines: Vec<Line<'t>>,
    /// For each line, the lines of its paragraph; a blank line is its own paragraph.
    paragraphs: Vec<Range<usize>>,
    /// The first and the last line that may be the border of a simple table.
    borders: Option<(usize, usize)>,
}

impl<'t> Blocks<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let lines = Line::all(text);
        let mut paragraphs = Vec::with_capacity(lines.len());
        while let Some(first) = lines.get(paragraphs.len()) {
            let start = paragraphs.len();
            let length = lines[start..].iter().take_while(|line| !line.is_blank()).count();
            let paragraph = start..start + length.max(usize::from(first.is_blank()));
            paragraphs.extend(std::iter::repeat_n(paragraph.clone(), paragraph.len()));
        }
        let mut borders = lines.iter().enumerate().filter(|(_, line)| may_be_border(line.text)).map(|(ix, _)| ix);
        let first = borders.next();
        let borders = first.map(|first| (first, borders.next_back().unwrap_or(first)));
        Self { lines, paragraphs, borders }
    }

    pub(super) fn number(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start <= at).saturating_sub(1)
    }

    pub(super) fn line(&self, number: usize) -> Option<&Line<'t>> {
        self.lines.get(number)
    }

    /// Whether a line may be part of a simple table, whose cells begin in any column.
    pub(super) fn may_be_in_simple_table(&self, number: usize) -> bool {
        self.borders.is_some_and(|(first, last)| first < number && number < last)
    }

    /// The byte range of the paragraph that contains a byte.
    pub(super) fn paragraph(&self, at: usize) -> Range<usize> {
        let lines = self.paragraphs[self.number(at)].clone();
        self.lines[lines.start].start..self.lines[lines.end - 1].end()
    }

    /// Whether the line of a byte, or a later one of its paragraph, may be part of a table.
    pub(super) fn may_be_in_table(&self, at: usize) -> bool {
        let number = self.number(at);
        let behind = self.paragraphs[number].end;
        self.may_be_in_simple_table(number) || self.lines[number..behind].iter().any(is_row)
    }

    /// The offset by which a directive at a byte has certainly ended, whatever contains it, and with it all others of
    /// its paragraph.
    pub(super) fn block_end(&self, at: usize) -> usize {
        let number = self.number(at);
        let behind = self.paragraphs[number].end;
        let margin = self.lines[number..behind].iter().map(|line| line.indent).min().unwrap_or(0);
        let is_inside = |line: &&Line<'_>| line.is_blank() || line.indent > margin;
        let indented = self.lines[behind..].iter().take_while(is_inside).filter(|line| !line.is_blank()).last();
        let mut end = indented.map_or(0, Line::end).max(self.lines[behind - 1].end());
        if self.may_be_in_simple_table(number)
            && let Some((_, last)) = self.borders
        {
            end = end.max(self.lines[last].end());
        }
        end
    }

    /// Whether the argument of a directive may continue after its line. In a table, whose cells begin in any column, it
    /// may in any case.
    pub(super) fn goes_on(&self, at: usize) -> bool {
        let number = self.number(at);
        let line = &self.lines[number];
        let Some(next) = self.lines.get(number + 1).filter(|next| !next.is_blank()) else { return false };
        let before = &line.text[..at - line.start];
        let margin = if MARKERS.is_match(before) { before.chars().count() } else { line.indent };
        self.may_be_in_simple_table(number)
            || is_row(line)
            || is_row(next)
            || (next.indent > margin && !OPTION.is_match(next.text))
    }
}

/// Whether a line may be part of a grid table.
fn is_row(line: &Line<'_>) -> bool {
    line.words().starts_with(['|', '+'])
}

/// Whether a line may be the border of a simple table (`=====  ===`), possibly after a list marker.
fn may_be_border(line: &str) -> bool {
    let mut words = line.split(' ').filter(|word| !word.is_empty()).rev();
    let mut is_border = || words.next().is_some_and(|word| word.bytes().all(|byte| byte == b'='));
    is_border() && is_border()
}

/// The lines of a block without the common indentation of all but the first.
pub(super) fn dedented(block: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let rest = || each_line(block).skip(1);
    let least = rest().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let mut dedented = each_line(block).next().unwrap_or_default().to_owned();
    for line in rest() {
        dedented.push_str(&line[least.min(indent(line))..]);
    }
    dedented
}
