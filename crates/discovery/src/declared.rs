//! Which chats have said that they resume.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;

use crate::chat::Chat;

/// How long a chat's word holds after it was last heard of.
const HOLDS: Duration = Duration::from_secs(60 * 60);
/// How many chats are remembered.
const MOST: usize = 10_000;

/// The chats that asked for a running reply of theirs. Two that are taken for one only cost a reply that is kept longer,
/// so 64 bits of each are enough.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    hasher: RandomState,
    heard: HashMap<u64, Instant>,
    /// Whatever was heard, oldest first: also what was heard again since.
    order: VecDeque<(u64, Instant)>,
}

impl Declared {
    pub(crate) fn declare(&mut self, chat: &Chat, now: Instant) {
        let number = self.number(chat);
        self.heard.insert(number, now);
        self.order.push_back((number, now));
        while self.order.len() > MOST
            && let Some((oldest, then)) = self.order.pop_front()
        {
            if self.heard.get(&oldest) == Some(&then) {
                self.heard.remove(&oldest);
            }
        }
    }

    /// A chat was heard of in another way: what it said before holds longer.
    pub(crate) fn refresh(&mut self, chat: &Chat, now: Instant) {
        if self.knows(chat, now) {
            self.declare(chat, now);
        }
    }

    pub(crate) fn knows(&self, chat: &Chat, now: Instant) -> bool {
        self.heard.get(&self.number(chat)).is_some_and(|then| now.duration_since(*then) < HOLDS)
    }

    /// By its id alone: a chat may come back from another address.
    fn number(&self, chat: &Chat) -> u64 {
        self.hasher.hash_one((&chat.project, &chat.id))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use docent_types::ProjectId;

    use super::*;
    use crate::chat::ChatId;

    fn chat(id: &str) -> Chat {
        let project = ProjectId::parse("acme").expect("a name");
        Chat::new(project, ChatId::of(id).expect("an id"), Ipv4Addr::LOCALHOST.into())
    }

    #[test]
    fn a_word_holds_for_an_hour_from_when_the_chat_was_last_heard_of() {
        let (mut declared, start) = (Declared::default(), Instant::now());
        declared.declare(&chat("a"), start);
        declared.refresh(&chat("a"), start + HOLDS / 2);
        declared.refresh(&chat("b"), start);
        assert!(declared.knows(&chat("a"), start + HOLDS));
        assert!(!declared.knows(&chat("a"), start + HOLDS / 2 + HOLDS));
        assert!(!declared.knows(&chat("b"), start), "it never said so");
    }

    #[test]
    fn the_oldest_words_are_forgotten_first() {
        let (mut declared, start) = (Declared::default(), Instant::now());
        declared.declare(&chat("old"), start);
        declared.declare(&chat("again"), start);
        for number in 0..MOST {
            declared.declare(&chat("again"), start + Duration::from_millis(number as u64));
        }
        assert!(declared.knows(&chat("again"), start) && !declared.knows(&chat("old"), start));
        assert!(declared.order.len() == MOST && declared.heard.len() == 1);
    }
}
