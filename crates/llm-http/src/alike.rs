//! Frames that differ in their text alone.
//!
//! A reply comes as hundreds of frames of JSON, each with a word or two and much that never changes:
//!
//! ```text
//! {"id":"c-1","choices":[{"index":0,"delta":{"content":" Retries"},"finish_reason":null}]}
//! {"id":"c-1","choices":[{"index":0,"delta":{"content":" wait"},"finish_reason":null}]}
//! └────────────────────── the same ─────────────────────┘     └─────── the same ────────┘
//! ```
//!
//! Once such a frame has been read as JSON, the next is compared with it: with the same bytes before and behind, and letters
//! between that stand for themselves in a JSON string, it says the same but for these letters. Comparing takes a fraction
//! of the time that reading takes.

use std::borrow::Cow;
use std::ops::Range;

/// A longer frame is not kept: it is the text that makes it long.
const LONGEST: usize = 4 << 10;

/// The last frame that was read as JSON, and where in it the text stands.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    frame: String,
    /// What of it is text, as it stands between the quotes. Empty until there is such a frame.
    text: Range<usize>,
}

impl Alike {
    /// The text of a frame, as `read` reads it.
    pub(crate) fn text<'f>(
        &mut self,
        frame: &'f str,
        read: impl FnOnce(&'f str) -> Option<Cow<'f, str>>,
    ) -> Option<Cow<'f, str>> {
        if let Some(text) = self.compared(frame) {
            return Some(Cow::Borrowed(text));
        }
        let text = read(frame);
        // Borrowed text is as it stands in the frame.
        if let Some(Cow::Borrowed(text)) = &text
            && !text.is_empty()
            && frame.len() <= LONGEST
            && let Some(at) = (text.as_ptr() as usize).checked_sub(frame.as_ptr() as usize)
            && frame.get(at..at + text.len()) == Some(text)
        {
            frame.clone_into(&mut self.frame);
            self.text = at..at + text.len();
        }
        text
    }

    fn compared<'f>(&self, frame: &'f str) -> Option<&'f str> {
        if self.text.is_empty() {
            return None;
        }
        let text = frame.strip_prefix(&self.frame[..self.text.start])?.strip_suffix(&self.frame[self.text.end..])?;
        text.bytes().all(stands_for_itself).then_some(text)
    }
}

/// Whether a byte of a JSON string is what it says: neither its end, nor the beginning of an escape, nor forbidden.
const fn stands_for_itself(byte: u8) -> bool {
    !matches!(byte, b'"' | b'\\' | 0..b' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Said<'f> {
        #[serde(borrow)]
        say: Cow<'f, str>,
    }

    fn read(frame: &str) -> Option<Cow<'_, str>> {
        serde_json::from_str(frame).ok().map(|Said { say }| say)
    }

    #[test]
    fn only_what_differs_otherwise_is_read_again() {
        let mut alike = Alike::default();
        for (frame, text, is_read) in [
            (r#"{"say":"", "n":1}"#, Some(""), true),
            (r#"{"say":"a", "n":1}"#, Some("a"), true),
            (r#"{"say":"b", "n":1}"#, Some("b"), false),
            (r#"{"say":"größer", "n":1}"#, Some("größer"), false),
            (r#"{"say":"", "n":1}"#, Some(""), false),
            (r#"{"say":"\n", "n":1}"#, Some("\n"), true),
            (r#"{"say":"a","say":"b", "n":1}"#, None, true),
            ("{\"say\":\"\n\", \"n\":1}", None, true),
            (r#"{"say":"c", "n":1}"#, Some("c"), false),
            (r#"{"say":"c", "n":2}"#, Some("c"), true),
            (r#"{"say":"d", "n":2}"#, Some("d"), false),
            (r#"{"say":"d", "n":1}"#, Some("d"), true),
            (r#"{"say":""#, None, true),
            ("", None, true),
        ] {
            let mut was_read = false;
            let told = alike.text(frame, |frame| {
                was_read = true;
                read(frame)
            });
            assert_eq!((told.as_deref(), was_read), (text, is_read), "{frame}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_says_what_it_says_alone(
            frames in prop::collection::vec(
                (
                    prop::sample::select(vec!["{\"say\":\"", "{ \"say\":\"", "{\"n\":\"\",\"say\":\"", "{\"say\":"]),
                    "[ab\"\\\\\n\u{e4} ]{0,3}",
                    prop::sample::select(vec!["\"}", "\",\"n\":\"\"}", "\",\"say\":\"\"}", "}", ""]),
                ),
                1..12,
            ),
        ) {
            let mut alike = Alike::default();
            for (before, text, behind) in frames {
                let frame = [before, text.as_str(), behind].concat();
                prop_assert_eq!(alike.text(&frame, read), read(&frame), "{}", frame);
            }
        }
    }
}
