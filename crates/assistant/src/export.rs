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
    /// A page from the conversations after a place, of which one more than `limit` was looked for.
    pub fn page(mut conversations: Vec<Conversation>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = conversations.len() > limit;
        conversations.truncate(limit);
        let next = conversations.last().filter(|_| more).map(Conversation::cursor);
        Self { conversations, next }
    }
}
