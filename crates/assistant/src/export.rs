//! Conversations as analytics reads them.

use docent_types::{Domain, ThreadId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::thread::Turn;

/// Which conversations to read. They are listed by when they began, newest first, each with all its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportQuery {
    pub domain: Domain,
    /// Conversations that began at this moment or later.
    pub from: Option<Timestamp>,
    /// Conversations that began before this moment.
    pub to: Option<Timestamp>,
    /// Only those that come after this one in the list; what a page gave as [`Export::next`].
    pub after: Option<ExportCursor>,
    /// The most conversations to give, at least 1.
    pub limit: u32,
    /// How much to give at most, in bytes of [`Turn::stored_bytes`]. A conversation that is larger by itself is given alone
    /// and whole.
    pub most_bytes: u64,
}

/// What a page holds while it is put together, so that all who do that stop at the same place.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filled {
    conversations: u32,
    bytes: u64,
}

impl Filled {
    /// Whether the next conversation, of so many bytes, still belongs on the page; then it counts. After the first that
    /// does not the page is whole.
    pub fn takes(&mut self, query: &ExportQuery, bytes: u64) -> bool {
        let (conversations, bytes) = (self.conversations.saturating_add(1), self.bytes.saturating_add(bytes));
        let fits = self.conversations == 0 || (conversations <= query.limit && bytes <= query.most_bytes);
        if fits {
            *self = Self { conversations, bytes };
        }
        fits
    }
}

/// A place in the list of conversations. Neither part of it ever changes, so a page never begins twice at the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExportCursor {
    pub began_at: Timestamp,
    pub id: ThreadId,
}

/// A page of conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub conversations: Vec<Conversation>,
    /// Where the next page begins; `None` at the end of the list.
    pub next: Option<ExportCursor>,
}

/// A conversation, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub id: ThreadId,
    /// The fingerprint of the client that began it.
    pub fp: String,
    pub began_at: Timestamp,
    /// When something was last asked or rated in it.
    pub touched_at: Timestamp,
    /// In order. Those before the first question to us are as the client told them: see [`Turn::is_told`].
    pub turns: Vec<Turn>,
}

impl Conversation {
    pub fn cursor(&self) -> ExportCursor {
        ExportCursor { began_at: self.began_at, id: self.id }
    }
}

impl Export {
    /// A page of these conversations, and whether the list goes on after them.
    pub fn page(conversations: Vec<Conversation>, goes_on: bool) -> Self {
        let next = conversations.last().filter(|_| goes_on).map(Conversation::cursor);
        Self { conversations, next }
    }
}
