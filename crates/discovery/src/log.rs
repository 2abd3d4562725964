//! What a reply has said so far, for whoever reads it from the beginning.
//!
//! Every reply that runs has one, and few are ever read a second time, so it is kept small.

use std::sync::Arc;

use docent_types::{GrowingText, StreamEvent, ToolOutput};

use crate::shelf::{Kept, Shelf};

/// The events of a reply in order. Its text is kept once, and is told again in one piece where it came in many.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Vec<Entry>,
    /// All text there was, whichever part of the reply it belongs to.
    text: GrowingText,
    /// The text that the last entry is of: it may still grow, and nobody looks at the entry for that.
    open: Option<Arc<str>>,
    shelf: Arc<Shelf>,
}

#[derive(Debug)]
enum Entry {
    /// A run of deltas of one text: where in all the text it ends, once another entry follows. It begins where the one before
    /// has ended.
    Text {
        id: Arc<str>,
        to: usize,
    },
    Found {
        id: Box<str>,
        passages: Box<[Kept]>,
    },
    Source {
        id: Box<str>,
        passage: Box<Kept>,
    },
    StepStart,
    TextStart {
        id: Arc<str>,
    },
    Other(Box<StreamEvent>),
}

/// How far somebody has read. The beginning is the default.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    entry: usize,
    /// How much of all the text was read.
    text: usize,
}

impl Log {
    /// An empty one that shares its passages with all others of this shelf.
    pub(crate) fn with(shelf: &Arc<Shelf>) -> Self {
        Self { shelf: Arc::clone(shelf), ..Self::default() }
    }

    /// Takes note of an event. A sign of life says nothing, and is forgotten.
    pub(crate) fn push(&mut self, event: &StreamEvent) {
        let entry = match event {
            StreamEvent::TextDelta { id, text } => {
                if self.open.as_ref().is_none_or(|open| !Arc::ptr_eq(open, id) && open != id) {
                    self.close();
                    self.entries.push(Entry::Text { id: Arc::clone(id), to: 0 });
                    self.open = Some(Arc::clone(id));
                }
                return self.text.push_str(text);
            }
            StreamEvent::KeepAlive => return,
            StreamEvent::ToolResult { id, output: ToolOutput::Passages(passages) } => {
                let passages = passages.iter().map(|passage| self.shelf.keep(passage)).collect();
                Entry::Found { id: id.as_str().into(), passages }
            }
            StreamEvent::Source { id, passage } => {
                Entry::Source { id: id.as_str().into(), passage: Box::new(self.shelf.keep(passage)) }
            }
            StreamEvent::StepStart => Entry::StepStart,
            StreamEvent::TextStart { id } => Entry::TextStart { id: Arc::clone(id) },
            other => Entry::Other(Box::new(other.clone())),
        };
        self.close();
        self.entries.push(entry);
    }

    /// Nothing is added any more to the text that is open.
    fn close(&mut self) {
        if self.open.take().is_some()
            && let Some(Entry::Text { to, .. }) = self.entries.last_mut()
        {
            *to = self.text.len();
        }
    }

    /// What comes next for somebody who has read so far; `None` at the end of the log.
    pub(crate) fn next(&self, cursor: &mut Cursor) -> Option<StreamEvent> {
        // As nearly always.
        if *cursor == self.end() {
            return None;
        }
        loop {
            let event = match self.entries.get(cursor.entry)? {
                Entry::Text { id, to } => {
                    let is_open = self.open.is_some() && cursor.entry + 1 == self.entries.len();
                    let to = if is_open { self.text.len() } else { *to };
                    if cursor.text < to {
                        let text = self.text.between(cursor.text, to);
                        cursor.text = to;
                        return Some(StreamEvent::TextDelta { id: Arc::clone(id), text });
                    }
                    if is_open {
                        return None;
                    }
                    cursor.entry += 1;
                    continue;
                }
                Entry::Found { id, passages } => {
                    let passages = passages.iter().map(Kept::passage).collect();
                    StreamEvent::ToolResult { id: id.to_string(), output: ToolOutput::Passages(passages) }
                }
                Entry::Source { id, passage } => StreamEvent::Source { id: id.to_string(), passage: passage.passage() },
                Entry::StepStart => StreamEvent::StepStart,
                Entry::TextStart { id } => StreamEvent::TextStart { id: Arc::clone(id) },
                Entry::Other(event) => StreamEvent::clone(event),
            };
            cursor.entry += 1;
            return Some(event);
        }
    }

    /// Where somebody is who has read everything.
    pub(crate) fn end(&self) -> Cursor {
        Cursor { entry: self.entries.len() - usize::from(self.open.is_some()), text: self.text.len() }
    }
}

#[cfg(test)]
mod tests {
    use docent_types::Passage;

    use super::*;

    fn delta(id: &str, text: &str) -> StreamEvent {
        StreamEvent::TextDelta { id: id.into(), text: text.into() }
    }

    fn rest(log: &Log, cursor: &mut Cursor) -> Vec<StreamEvent> {
        std::iter::from_fn(|| log.next(cursor)).collect()
    }

    #[test]
    fn text_is_told_again_in_one_piece_and_the_rest_as_it_was() {
        let mut log = Log::default();
        let (mut first, mut late) = (Cursor::default(), Cursor::default());
        for event in [StreamEvent::StepStart, delta("1", "a"), delta("1", "b")] {
            log.push(&event);
        }
        assert_eq!(rest(&log, &mut first), [StreamEvent::StepStart, delta("1", "ab")]);
        for event in [StreamEvent::KeepAlive, delta("1", "c"), delta("2", ""), delta("2", "d"), StreamEvent::StepStart]
        {
            log.push(&event);
        }
        assert_eq!(rest(&log, &mut first), [delta("1", "c"), delta("2", "d"), StreamEvent::StepStart]);
        let whole = [StreamEvent::StepStart, delta("1", "abc"), delta("2", "d"), StreamEvent::StepStart];
        assert_eq!(rest(&log, &mut late), whole);
    }

    #[test]
    fn what_was_found_is_told_as_it_was_though_another_reply_found_it_too() {
        let found = |score| {
            Arc::new(Passage {
                path: "retries".to_owned(),
                href: "/retries#pauses".to_owned(),
                title: "Retries".to_owned(),
                headings: vec!["Pauses".to_owned()],
                content: "They grow.".to_owned(),
                score,
                version: None,
                language: Some("en".to_owned()),
            })
        };
        let shelf = Arc::default();
        let logs = [0.5, 0.25].map(|score| {
            let events = [
                StreamEvent::ToolResult { id: "1".to_owned(), output: ToolOutput::Passages(vec![found(score)]) },
                StreamEvent::Source { id: "2".to_owned(), passage: found(score) },
            ];
            let mut log = Log::with(&shelf);
            events.iter().for_each(|event| log.push(event));
            (log, events)
        });
        for (log, events) in logs {
            assert_eq!(rest(&log, &mut Cursor::default()), events);
        }
    }

    #[test]
    fn who_has_read_everything_is_at_the_end() {
        let mut log = Log::default();
        for event in [delta("1", "ä"), StreamEvent::StepStart, delta("1", "b"), delta("2", "c")] {
            log.push(&event);
            let mut end = log.end();
            assert_eq!(rest(&log, &mut end), []);
            log.push(&delta("2", "x"));
            assert_eq!(rest(&log, &mut end), [delta("2", "x")]);
        }
    }
}
