//! The chat that a question belongs to, and who may resume its reply.
//!
//! A chat's id is chosen by its client, and some clients send the same for all of their readers, such as the name of
//! the site. So an id gives access to a reply only from the address that began it, and not at all if it is a well-known
//! name or was used in two threads.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroUsize;

use docent_types::{Project, ProjectUid, ThreadId};
use lru::LruCache;

/// The longest accepted id, in characters.
pub const LONGEST_ID: usize = 200;
/// Capacity for ids with the thread they were first used in, and for ids that were used in several threads.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(20_000).unwrap();

/// A chat's id, as its client has chosen it: 1 to 200 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChatId(Box<str>);

impl ChatId {
    /// `None` when this cannot be the id of a chat.
    pub fn of(text: &str) -> Option<Self> {
        (!text.is_empty() && text.chars().nth(LONGEST_ID).is_none()).then(|| Self(text.into()))
    }

    fn is(&self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(name)
    }
}

/// The key by which a reply is found.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Chat {
    pub(crate) project: ProjectUid,
    pub(crate) id: ChatId,
    /// The address that the question came from, and that a resuming client must have.
    address: IpAddr,
}

impl Chat {
    /// `None` when the id is well known: the project's, the site's, or the asker's fingerprint (`fp`), if given.
    pub(crate) fn of(project: &Project, id: ChatId, fp: Option<&str>, address: IpAddr) -> Option<Self> {
        let names = [Some(project.id.as_str()), Some(project.domain.as_str()), fp];
        let is_a_name = names.into_iter().flatten().any(|name| id.is(name));
        (!is_a_name).then_some(Self { project: project.uid, id, address })
    }

    /// Whether the ids are equal; the addresses may differ.
    pub(crate) fn has_same_id(&self, other: &Self) -> bool {
        self.project == other.project && self.id == other.id
    }
}

/// The thread in which each chat id was first used, from any address. 64 bits of each suffice: a collision only makes a
/// reply not resumable.
#[derive(Debug)]
pub(crate) struct UsedIds {
    hasher: RandomState,
    first_threads: LruCache<u64, ThreadId>,
    ambiguous: LruCache<u64, ()>,
}

impl Default for UsedIds {
    fn default() -> Self {
        let (first_threads, ambiguous) = (LruCache::new(CAPACITY), LruCache::new(CAPACITY));
        Self { hasher: RandomState::new(), first_threads, ambiguous }
    }
}

impl UsedIds {
    /// Records that a chat asks in a thread; returns whether its id was used in no other thread.
    pub(crate) fn note(&mut self, chat: &Chat, thread: ThreadId) -> bool {
        let hash = self.hasher.hash_one((&chat.project, &chat.id));
        if self.ambiguous.get(&hash).is_some() {
            return false;
        }
        let is_first = *self.first_threads.get_or_insert(hash, || thread) == thread;
        if !is_first {
            self.first_threads.pop(&hash);
            self.ambiguous.put(hash, ());
        }
        is_first
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::Ipv4Addr;

    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    pub(crate) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    pub(crate) const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn project() -> Project {
        let project = json!({
            "uid": "00000000-0000-4000-8000-000000000001", "id": "acme", "domain": "acme-docs",
            "repository": "/srv/acme.git", "ref": "main", "docs_root": "", "forge": "local", "token_env": null, "base_url": null, "created_at": "2026-01-01T00:00:00Z",
        });
        serde_json::from_value(project).expect("a project")
    }

    pub(crate) fn chat_from(id: &str, from: IpAddr) -> Chat {
        Chat::of(&project(), ChatId::of(id).expect("an id"), None, from).expect("no name")
    }

    pub(crate) fn thread(n: u128) -> ThreadId {
        ThreadId::new(Uuid::from_u128(n))
    }

    #[test]
    fn an_id_has_a_length_that_an_id_can_have() {
        for (text, is_one) in [("", false), ("a", true), (&"é".repeat(200), true), (&"é".repeat(201), false)] {
            assert_eq!(ChatId::of(text).is_some(), is_one, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_chat_is_another_at_another_address_and_none_under_a_name_that_many_know() {
        assert_eq!(chat_from("jBWk0bLlnyoeL6nO", HERE), chat_from("jBWk0bLlnyoeL6nO", HERE));
        assert_ne!(chat_from("jBWk0bLlnyoeL6nO", HERE), chat_from("jBWk0bLlnyoeL6nO", THERE));
        for (id, fp, is_one) in [
            ("acme", None, false),
            ("Acme", None, false),
            ("acme-docs", None, false),
            ("ann", Some("ann"), false),
            ("ann", Some("bob"), true),
            ("ann", None, true),
        ] {
            let chat = Chat::of(&project(), ChatId::of(id).expect("an id"), fp, HERE);
            assert_eq!(chat.is_some(), is_one, "{id} {fp:?}");
        }
    }

    #[test]
    fn an_id_that_was_used_in_two_threads_is_good_in_none() {
        let mut used = UsedIds::default();
        assert!(used.note(&chat_from("a", HERE), thread(1)) && used.note(&chat_from("a", THERE), thread(1)));
        assert!(used.note(&chat_from("b", HERE), thread(2)));
        assert!(!used.note(&chat_from("a", THERE), thread(2)));
        assert!(!used.note(&chat_from("a", HERE), thread(1)), "never again");
        assert!(used.note(&chat_from("b", HERE), thread(2)));
    }
}
