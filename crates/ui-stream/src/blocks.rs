//! An answer as blocks: what it shows, for clients that have no Markdown parser.
//!
//! ```text
//!   text ──▶ tail ──parsed again with every piece──▶ blocks ──compared with what was sent──▶ changes
//!             │
//!             ▼ a block that no later text can change leaves the tail
//! ```
//!
//! Of a block that is still growing, only the end is sent again. The block structure of Markdown is decided line by line:
//! once a line has begun a block at the top level and is complete, the blocks before it are final. So the tail is short,
//! and the blocks do not depend on how the text was cut.

mod edit;
mod node;
mod parse;

use std::io;

pub(crate) use edit::Edit;
use edit::edits;
pub use node::{Align, Element, ElementKind, Node};
use parse::{TopBlock, parse};

/// The longest tail, in bytes. A longer block is cut into several.
const LONGEST_TAIL: usize = 64 * 1024;
/// What may be sent for ten bytes of text, so that with the spare and the end of the stream 64 KiB are at most three times as long.
const SENT_FOR_TEN: usize = 29;
/// What may be sent beyond that, in bytes.
const SPARE: usize = 4 * 1024;
/// What the frame of a change and the transfer coding take beside it, in bytes.
const FRAME: usize = 48;
/// What a block becomes that is there no more.
static NOTHING: Element = Element::new(ElementKind::Paragraph);

/// The blocks of a whole text: what a client has at the end of its stream, for one that renders on the server.
pub fn markdown_blocks(text: &str) -> Vec<Element> {
    parse(text).into_iter().map(|top| top.block).collect()
}

/// A change of the blocks that a client has.
#[derive(Debug)]
pub(crate) enum BlockChange {
    Begin { number: usize, block: Element },
    Edit(Vec<Edit>),
}

impl BlockChange {
    /// Its length in the stream, in bytes.
    fn length(&self) -> usize {
        let mut counter = Counter(FRAME);
        let written = match self {
            Self::Begin { block, .. } => serde_json::to_writer(&mut counter, block),
            Self::Edit(edits) => serde_json::to_writer(&mut counter, edits),
        };
        debug_assert!(written.is_ok(), "a tree of strings is JSON");
        counter.0
    }
}

/// Counts what is written to it, in bytes.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The blocks of one reply.
#[derive(Debug, Default)]
pub(crate) struct BlockStream {
    tail: String,
    /// The number of blocks before the tail.
    before: usize,
    /// The blocks of the tail that were sent.
    sent: Vec<Element>,
    received_bytes: usize,
    sent_bytes: usize,
    /// How much must be received before the next change is sent.
    due_bytes: usize,
}

impl BlockStream {
    /// Adds the next piece of the text.
    ///
    /// A change may wait for more text, so that no text makes the server send much more than its length.
    pub(crate) fn push(&mut self, mut text: &str) -> Vec<BlockChange> {
        let mut changes = Vec::new();
        self.received_bytes += text.len();
        while !text.is_empty() {
            let room = LONGEST_TAIL - self.tail.len();
            let (piece, rest) = text.split_at(text.floor_char_boundary(room.min(text.len())));
            if piece.is_empty() {
                changes.extend(self.update(true));
                if LONGEST_TAIL - self.tail.len() < char::MAX_LEN_UTF8 {
                    self.close();
                }
                continue;
            }
            self.tail.extend(piece.split('\r'));
            text = rest;
            if self.received_bytes >= self.due_bytes {
                changes.extend(self.update(false));
            }
        }
        changes
    }

    /// Ends the text. Text pushed afterwards begins another block.
    pub(crate) fn end(&mut self) -> Vec<BlockChange> {
        let changes = self.update(true);
        self.close();
        changes
    }

    fn close(&mut self) {
        self.before += self.sent.len();
        self.sent.clear();
        self.tail.clear();
    }

    fn update(&mut self, at_any_cost: bool) -> Vec<BlockChange> {
        let mut parsed = parse(&self.tail);
        if !at_any_cost && parsed.last().is_some_and(|top| self.may_become_a_table(top)) {
            parsed.pop();
        }
        let changes = self.changes(parsed.iter().map(|top| &top.block));
        let length: usize = changes.iter().map(BlockChange::length).sum();
        self.due_bytes = ((self.sent_bytes + length).saturating_sub(SPARE) * 10).div_ceil(SENT_FOR_TEN);
        if !at_any_cost && self.received_bytes < self.due_bytes {
            return Vec::new();
        }
        self.sent_bytes += length;
        // The second line of a table decides whether it is one.
        let has_begun = |top: &TopBlock| {
            let lines = if matches!(top.block.kind, ElementKind::Table { .. }) { 2 } else { 1 };
            self.tail[top.start..].matches('\n').nth(lines - 1).is_some()
        };
        let open = parsed.iter().rposition(has_begun).unwrap_or(0);
        let open_at = parsed.get(open).map_or(0, |top| top.start);
        let gone = self.sent.len().saturating_sub(parsed.len());
        self.sent = parsed.into_iter().map(|top| top.block).chain(std::iter::repeat_n(NOTHING.clone(), gone)).collect();
        self.sent.drain(..open);
        self.before += open;
        self.tail.drain(..open_at);
        changes
    }

    /// Whether this is a paragraph that looks like the beginning of a table, which readers should not see as text meanwhile.
    fn may_become_a_table(&self, top: &TopBlock) -> bool {
        let source = &self.tail[top.start..];
        top.block.kind == ElementKind::Paragraph && source.starts_with('|') && source.matches('\n').count() < 2
    }

    /// What a client must change.
    fn changes<'a>(&self, blocks: impl ExactSizeIterator<Item = &'a Element>) -> Vec<BlockChange> {
        let gone = self.sent.len().saturating_sub(blocks.len());
        let (mut begun, mut edited) = (Vec::new(), Vec::new());
        for (at, block) in blocks.chain(std::iter::repeat_n(&NOTHING, gone)).enumerate() {
            let number = self.before + at + 1;
            match self.sent.get(at) {
                Some(sent) => edited.extend(edits(number, sent, block)),
                None => begun.push(BlockChange::Begin { number, block: block.clone() }),
            }
        }
        let edited = (!edited.is_empty()).then_some(BlockChange::Edit(edited));
        edited.into_iter().chain(begun).collect()
    }
}

#[cfg(test)]
mod tests;
