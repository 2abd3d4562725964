//! Text that comes in thousands of small pieces and is seldom read.

use std::fmt;
use std::mem;

/// By how many bytes the room grows at least.
const STEP: usize = 512;

/// Text that only ever grows. What is there stays where it is, and there is never much more room than it takes: thousands
/// of replies are kept at once, each a few words longer every moment.
#[derive(Clone, Default)]
pub struct GrowingText {
    /// What comes last, and has room for more.
    last: String,
    /// What comes before.
    full: Vec<String>,
    /// How long that is.
    length: usize,
}

impl GrowingText {
    /// In bytes.
    pub const fn len(&self) -> usize {
        self.length + self.last.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn push_str(&mut self, text: &str) {
        if self.last.capacity() - self.last.len() < text.len() {
            let full = mem::replace(&mut self.last, String::with_capacity(text.len().max(STEP)));
            if !full.is_empty() {
                self.length += full.len();
                self.full.push(full);
            }
        }
        self.last.push_str(text);
    }

    /// From a place to the end. What is no place between two characters is taken for the next one that is.
    pub fn after(&self, place: usize) -> String {
        self.between(place, self.len())
    }

    /// From one place to another.
    pub fn between(&self, from: usize, to: usize) -> String {
        let mut text = String::with_capacity(to.saturating_sub(from));
        let mut begin = 0;
        for part in self.parts() {
            let at = |place: usize| part.ceil_char_boundary(place.saturating_sub(begin).min(part.len()));
            text.push_str(part.get(at(from)..at(to)).unwrap_or_default());
            begin += part.len();
        }
        text
    }

    fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.full.iter().map(String::as_str).chain([self.last.as_str()])
    }

    /// Whether it says anything.
    pub fn is_blank(&self) -> bool {
        self.parts().rev().all(|part| part.trim().is_empty())
    }
}

impl fmt::Display for GrowingText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().try_for_each(|part| f.write_str(part))
    }
}

impl fmt::Debug for GrowingText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.after(0), f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_says_what_was_added(pieces in proptest::collection::vec("[a\u{e4}\u{691c} ]{0,300}", 0..12), places: (u16, u16)) {
            let mut text = GrowingText::default();
            pieces.iter().for_each(|piece| text.push_str(piece));
            let whole = pieces.concat();
            prop_assert_eq!((text.len(), text.is_empty()), (whole.len(), whole.is_empty()));
            prop_assert_eq!(text.is_blank(), whole.trim().is_empty());
            prop_assert_eq!(text.to_string(), &whole[..]);
            let [from, to] = [places.0, places.1].map(|place| usize::from(place) % (whole.len() + 2));
            let at = |place: usize| whole.ceil_char_boundary(place.min(whole.len()));
            prop_assert_eq!(text.between(from, to), whole.get(at(from)..at(to)).unwrap_or_default());
            prop_assert_eq!(text.after(from), &whole[at(from)..]);
        }
    }

    #[test]
    fn there_is_little_more_room_than_it_takes() {
        let mut text = GrowingText::default();
        for _ in 0..1_000 {
            text.push_str("word ");
        }
        let room: usize = text.full.iter().chain([&text.last]).map(String::capacity).sum();
        assert!(room < text.len() + 2 * STEP, "{room}");
    }
}
