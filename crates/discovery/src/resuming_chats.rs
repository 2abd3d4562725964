//! The chats that have declared that they resume.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::time::Duration;

use lru::LruCache;
use tokio::time::Instant;

use crate::chat::Chat;

/// How long a declaration is valid after the chat's last request.
const VALIDITY: Duration = Duration::from_secs(60 * 60);
/// Capacity.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// The chats that asked for a running reply. 64 bits of each suffice: a collision only keeps a reply for longer.
#[derive(Debug)]
pub(crate) struct ResumingChats {
    hasher: RandomState,
    last_requests: LruCache<u64, Instant>,
}

impl Default for ResumingChats {
    fn default() -> Self {
        Self { hasher: RandomState::new(), last_requests: LruCache::new(CAPACITY) }
    }
}

impl ResumingChats {
    pub(crate) fn declare(&mut self, chat: &Chat, now: Instant) {
        self.last_requests.put(self.hasher.hash_one(chat), now);
    }

    /// Extends the validity of a chat's declaration after another request of it.
    pub(crate) fn refresh(&mut self, chat: &Chat, now: Instant) {
        if self.knows(chat, now) {
            self.declare(chat, now);
        }
    }

    pub(crate) fn knows(&self, chat: &Chat, now: Instant) -> bool {
        self.last_requests.peek(&self.hasher.hash_one(chat)).is_some_and(|then| now.duration_since(*then) < VALIDITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::tests::{HERE, chat_from};

    fn chat(id: &str) -> Chat {
        chat_from(id, HERE)
    }

    #[test]
    fn a_word_holds_for_an_hour_from_when_the_chat_was_last_heard_of() {
        let (mut declared, start) = (ResumingChats::default(), Instant::now());
        declared.declare(&chat("a"), start);
        declared.refresh(&chat("a"), start + VALIDITY / 2);
        declared.refresh(&chat("b"), start);
        assert!(declared.knows(&chat("a"), start + VALIDITY));
        assert!(!declared.knows(&chat("a"), start + VALIDITY / 2 + VALIDITY));
        assert!(!declared.knows(&chat("b"), start), "it never said so");
    }

    #[test]
    fn the_oldest_words_are_forgotten_first() {
        let (mut declared, start) = (ResumingChats::default(), Instant::now());
        declared.declare(&chat("old"), start);
        for number in 0..CAPACITY.get() {
            declared.declare(&chat(&number.to_string()), start);
        }
        assert!(declared.knows(&chat("0"), start) && !declared.knows(&chat("old"), start));
    }
}
