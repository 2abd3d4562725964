//! The events of a reply so far, for readers that begin later.

use std::sync::Arc;

use docent_types::StreamEvent;

/// The events of a reply in order. Consecutive deltas of one text are one entry, and are replayed in one piece.
#[derive(Debug, Default)]
pub(crate) struct Log(Vec<LogEntry>);

#[derive(Debug)]
enum LogEntry {
    Text { id: Arc<str>, text: String },
    Other(StreamEvent),
}

/// A reader's position. The default is the beginning.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    entry: usize,
    /// How many bytes of this entry were read, if it is a text.
    text: usize,
}

impl Log {
    /// Appends an event. Keep-alive events are not recorded.
    pub(crate) fn push(&mut self, event: &StreamEvent) {
        match (event, self.0.last_mut()) {
            (StreamEvent::TextDelta { id, text }, Some(LogEntry::Text { id: last, text: so_far })) if id == last => {
                so_far.push_str(text);
            }
            (StreamEvent::TextDelta { id, text }, _) => {
                self.0.push(LogEntry::Text { id: Arc::clone(id), text: text.clone() });
            }
            (StreamEvent::KeepAlive, _) => {}
            (other, _) => self.0.push(LogEntry::Other(other.clone())),
        }
    }

    /// The next event for a reader at this position; `None` at the end of the log.
    pub(crate) fn next(&self, cursor: &mut Cursor) -> Option<StreamEvent> {
        loop {
            match self.0.get(cursor.entry)? {
                LogEntry::Text { id, text } if cursor.text < text.len() => {
                    let text = text[std::mem::replace(&mut cursor.text, text.len())..].to_owned();
                    return Some(StreamEvent::TextDelta { id: Arc::clone(id), text });
                }
                // The last text may still grow.
                LogEntry::Text { .. } if cursor.entry + 1 == self.0.len() => return None,
                LogEntry::Text { .. } => *cursor = Cursor { entry: cursor.entry + 1, text: 0 },
                LogEntry::Other(event) => {
                    *cursor = Cursor { entry: cursor.entry + 1, text: 0 };
                    return Some(event.clone());
                }
            }
        }
    }

    /// The position behind the last event.
    pub(crate) fn end(&self) -> Cursor {
        match self.0.last() {
            Some(LogEntry::Text { text, .. }) => Cursor { entry: self.0.len() - 1, text: text.len() },
            _ => Cursor { entry: self.0.len(), text: 0 },
        }
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
