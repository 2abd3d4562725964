//! The events of a reply so far, for readers that begin later.
//!
//! Every running reply has one, and few are read a second time, so it is kept small.

use std::sync::Arc;

use docent_types::StreamEvent;

/// The events of a reply in order. Its text is stored once, and replayed in one piece where it came in many.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Vec<LogEntry>,
    /// All text, of all parts of the reply.
    text: String,
    /// The text part of the last entry, while it may still grow. Cached, to avoid looking at the entry.
    open: Option<Arc<str>>,
}

#[derive(Debug)]
enum LogEntry {
    /// Consecutive deltas of one text: the offset of their end in all text, set when another entry follows. They begin
    /// at the end of the previous ones.
    Text {
        id: Arc<str>,
        to: usize,
    },
    Other(Box<StreamEvent>),
}

/// A reader's position. The default is the beginning.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    entry: usize,
    /// How much of all text was read.
    text: usize,
}

impl Log {
    /// Appends an event. Keep-alive events are not recorded.
    pub(crate) fn push(&mut self, event: &StreamEvent) {
        let entry = match event {
            StreamEvent::TextDelta { id, text } => {
                if self.open.as_ref().is_none_or(|open| !Arc::ptr_eq(open, id) && open != id) {
                    self.close();
                    self.entries.push(LogEntry::Text { id: Arc::clone(id), to: 0 });
                    self.open = Some(Arc::clone(id));
                }
                return self.text.push_str(text);
            }
            StreamEvent::KeepAlive => return,
            other => LogEntry::Other(Box::new(other.clone())),
        };
        self.close();
        self.entries.push(entry);
    }

    /// Ends the open text.
    fn close(&mut self) {
        if self.open.take().is_some()
            && let Some(LogEntry::Text { to, .. }) = self.entries.last_mut()
        {
            *to = self.text.len();
        }
    }

    /// The next event for a reader at this position; `None` at the end of the log.
    pub(crate) fn next(&self, cursor: &mut Cursor) -> Option<StreamEvent> {
        // The usual case.
        if *cursor == self.end() {
            return None;
        }
        loop {
            let event = match self.entries.get(cursor.entry)? {
                LogEntry::Text { id, to } => {
                    let is_open = self.open.is_some() && cursor.entry + 1 == self.entries.len();
                    let to = if is_open { self.text.len() } else { *to };
                    if cursor.text < to {
                        let text = self.text[cursor.text..to].to_owned();
                        cursor.text = to;
                        return Some(StreamEvent::TextDelta { id: Arc::clone(id), text });
                    }
                    if is_open {
                        return None;
                    }
                    cursor.entry += 1;
                    continue;
                }
                LogEntry::Other(event) => StreamEvent::clone(event),
            };
            cursor.entry += 1;
            return Some(event);
        }
    }

    /// The position behind the last event.
    pub(crate) fn end(&self) -> Cursor {
        Cursor { entry: self.entries.len() - usize::from(self.open.is_some()), text: self.text.len() }
    }
}

#[cfg(test)]
mod tests {

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
