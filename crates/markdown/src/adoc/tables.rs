//! Reads tables, whose cells contain text or blocks.

use super::lines::{self, BlockAttributes, Delimiter};
use super::{OpenParagraph, PageParser};

/// An open table.
#[derive(Debug)]
pub(super) struct Table {
    /// The number of open blocks around its rows, the table included.
    pub(super) depth: usize,
    /// The character before each cell; `None` if each line is a row.
    separator: Option<char>,
    /// Whether cells contain blocks.
    has_blocks: bool,
}

impl Table {
    pub(super) fn of(styled: &BlockAttributes, separator: Option<char>, depth: usize) -> Self {
        let is_plain = styled.named("format").is_some_and(|format| format != "psv");
        let own = styled.named("separator").and_then(|sign| sign.chars().next());
        let has_blocks = styled
            .named("cols")
            .is_some_and(|columns| columns.split([',', ';']).any(|column| column.trim_end().ends_with('a')));
        Self { depth, separator: if is_plain { None } else { separator.map(|sign| own.unwrap_or(sign)) }, has_blocks }
    }
}

impl PageParser<'_> {
    /// Reads a line of a table; `None` if it is not one, or begins a block in a cell.
    pub(super) fn table_line(&mut self, at: usize, kind: Option<Delimiter>) -> Option<usize> {
        let line = self.lines[at];
        let table = self.tables.last().filter(|table| table.depth == self.open.len())?;
        if self.open.contains(&line.text) {
            return None;
        }
        let (separator, has_blocks) = (table.separator, table.has_blocks);
        if has_blocks && (kind.is_some() || line.text == "+") {
            return None;
        }
        let Some(separator) = separator else {
            self.words(line.words_start()..line.end(), "");
            return Some(at + 1);
        };
        let mut from = line.start;
        let mut is_first = true;
        let bytes = line.text.as_bytes();
        let cuts = line.text.match_indices(separator).filter(|(cut, _)| *cut == 0 || bytes[cut - 1] != b'\\');
        let cuts: Vec<usize> = cuts.map(|(cut, _)| line.start + cut).chain([line.end()]).collect();
        for (ix, cut) in cuts.iter().enumerate() {
            let is_last = ix + 1 == cuts.len();
            let piece = &self.text[from..*cut];
            // The specifier of the next cell precedes its separator.
            let specifier = if is_last { "" } else { specifier(piece) };
            let piece = &piece[..piece.len() - specifier.len()];
            if specifier.ends_with('a')
                && let Some(table) = self.tables.last_mut()
            {
                table.has_blocks = true;
            }
            let start = from + piece.len() - piece.trim_start().len();
            let range = start..start + piece.trim().len();
            if !is_first {
                self.flush();
            }
            if !range.is_empty() {
                self.cell(at, range, is_first, has_blocks);
            }
            is_first = false;
            from = (*cut + separator.len_utf8()).min(line.end());
        }
        Some(at + 1)
    }

    /// A piece of a cell; one at the beginning of a line continues the previous cell.
    fn cell(&mut self, at: usize, range: std::ops::Range<usize>, continues_cell: bool, has_blocks: bool) {
        if continues_cell && has_blocks && (self.item_in_cell(range.clone()) || self.block_attributes(at).is_some()) {
            return;
        }
        match &mut self.paragraph {
            Some(paragraph)
                if continues_cell
                    && self.text[paragraph.range.end..range.start].bytes().filter(|byte| *byte == b'\n').count()
                        <= 1 =>
            {
                paragraph.range.end = range.end;
            }
            _ => {
                self.flush();
                self.paragraph = Some(OpenParagraph { range, mark: "", is_item: false });
            }
        }
    }

    fn item_in_cell(&mut self, range: std::ops::Range<usize>) -> bool {
        let (mark, length) = match lines::marker(&self.text[range.clone()]) {
            Some(lines::Marker::Bullet(length)) => ("- ", length),
            Some(lines::Marker::Number(length)) => ("1. ", length),
            _ => return false,
        };
        self.flush();
        self.paragraph = Some(OpenParagraph { range: range.start + length..range.end, mark, is_item: true });
        true
    }
}

/// The specifier of a cell before its separator: span, alignment and style.
fn specifier(piece: &str) -> &str {
    let token = &piece[piece.rfind([' ', '\t']).map_or(0, |at| at + 1)..];
    let shape = token.strip_suffix(['a', 'd', 'e', 'h', 'l', 'm', 's', 'v']).unwrap_or(token);
    let layout = shape.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let numbers = &shape[..shape.len() - layout.len()];
    let layout = if numbers.is_empty() || numbers == "." {
        layout
    } else {
        match layout.strip_prefix(['+', '*']) {
            Some(layout) => layout,
            None => return "",
        }
    };
    if layout.chars().all(|c| "<>^.".contains(c)) && layout.len() <= 3 { token } else { "" }
}
