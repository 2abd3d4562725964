//! Conversations in the form in which they are stored.

use std::fmt;

use async_trait::async_trait;
use docent_types::{Domain, Ids, StoreError, ThreadId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::analytics::{DayCount, Days, Summary};
use crate::export::{Export, ExportQuery};

/// One question and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The client's id of the question, if it sent one. A repeated id means that the question is asked again; the new
    /// answer then replaces the old one.
    pub question_id: Option<String>,
    pub question: String,
    /// The id of the reply.
    pub answer_id: String,
    /// `None` while the answer is being generated, and if it was never completed.
    pub answer: Option<String>,
    /// The pages that the answer cites. Empty without an answer.
    pub sources: Vec<CitedPage>,
    /// Whether the docs contained an answer.
    pub answered: bool,
    pub asked_at: Timestamp,
    /// The time at which the answer was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<Timestamp>,
    /// The page that the reader was on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The reader's rating of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
    /// The language of the page that matches the question best, as a tag such as `pt-BR`. `None` if nothing was found,
    /// and on a site that declares no languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The latencies of the answer. `None` while it is being generated, and for older turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// Whether the answer only quotes search results, without a language model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub search_only: bool,
    /// Whether a person who runs the server asked, and no reader: such a question is part of its conversation, and in no list
    /// and no count of questions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_operators: bool,
}

/// Milliseconds since the question was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Until the first search had returned its passages.
    pub search_ms: u32,
    /// Until the first words of the answer were sent.
    pub first_word_ms: u32,
    /// Until the answer was complete.
    pub end_ms: u32,
}

/// The stages of an answer that a reader waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerStage {
    /// The passages of the first search.
    Search,
    FirstWord,
    End,
}

impl Timing {
    pub const fn until(self, stage: AnswerStage) -> u32 {
        match stage {
            AnswerStage::Search => self.search_ms,
            AnswerStage::FirstWord => self.first_word_ms,
            AnswerStage::End => self.end_ms,
        }
    }
}

impl Turn {
    /// The size of the turn when stored as JSON, in bytes: mostly that of its texts.
    pub fn stored_bytes(&self) -> u64 {
        serde_json::to_vec(self).map_or(0, |body| body.len() as u64)
    }

    /// Whether this turn is history that the client sent when it began the thread, and was never asked here.
    pub fn is_imported(&self) -> bool {
        self.asked_at == Timestamp::default()
    }

    /// The time by which stores list and count the question; 0 for one that is in no list.
    pub fn listed_at(&self) -> Timestamp {
        if self.is_operators { Timestamp::default() } else { self.asked_at }
    }
}

/// A page that an answer cites, with its title at that time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredCitedPage")]
pub struct CitedPage {
    pub title: String,
    /// The address of the page for readers: the path on the site, with an anchor if there is one.
    pub url: String,
}

impl CitedPage {
    /// The address without the anchor.
    pub fn page(&self) -> &str {
        self.url.split('#').next().unwrap_or_default()
    }
}

/// The stored forms of a cited page: older turns have only the page's path.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredCitedPage {
    Path(String),
    Page { title: String, url: String },
}

impl From<StoredCitedPage> for CitedPage {
    fn from(stored: StoredCitedPage) -> Self {
        match stored {
            StoredCitedPage::Path(path) => Self { url: format!("/{path}"), title: path },
            StoredCitedPage::Page { title, url } => Self { title, url },
        }
    }
}

/// A reader's rating of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    pub rating: Rating,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rating {
    Up,
    Down,
}

/// A conversation with its turns in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub id: ThreadId,
    pub domain: Domain,
    pub key: ThreadKey,
    pub created_at: Timestamp,
    pub turns: Vec<Turn>,
}

/// A conversation to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewThread {
    pub id: ThreadId,
    pub domain: Domain,
    /// The client's fingerprint.
    pub fp: String,
    pub key: ThreadKey,
    pub created_at: Timestamp,
    pub turns: Vec<Turn>,
}

/// SHA-256 of the secret of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadKey(pub [u8; 32]);

impl ThreadKey {
    /// A new secret, and its hash, which is stored.
    pub fn mint(ids: &dyn Ids) -> (String, Self) {
        let secret = ids.unguessable().as_simple().to_string();
        let key = Self::of(&secret);
        (secret, key)
    }

    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Compares in constant time.
    pub fn fits(&self, secret: &str) -> bool {
        self.0.ct_eq(&Self::of(secret).0).into()
    }
}

/// Storage of conversations. A write is visible to every later read, and survives a crash of the process. It does not
/// wait for the disk: a power loss may lose the last moments of a conversation, but never feedback.
#[async_trait]
pub trait Threads: Send + Sync + fmt::Debug + 'static {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError>;

    /// A thread of this domain with its last `turns` turns; a thread of another domain is not found.
    async fn thread(&self, domain: &Domain, id: ThreadId, turns: usize) -> Result<Option<Thread>, StoreError>;

    /// Adds a turn, or replaces the one with the same `answer_id`; if `instead_of` names an `answer_id`, that turn and
    /// all after it are deleted first. Feedback is not written: a turn keeps its stored feedback. Does nothing if the
    /// thread was deleted.
    async fn put_turn(&self, id: ThreadId, turn: Turn, instead_of: Option<String>) -> Result<(), StoreError>;

    /// Sets the feedback of the turn with this `answer_id`. `false` if the domain has no such thread, or the thread no
    /// such turn.
    async fn rate(
        &self,
        domain: &Domain,
        id: ThreadId,
        answer_id: &str,
        feedback: Feedback,
    ) -> Result<bool, StoreError>;

    /// The questions of a domain in a period, newest first. A page ends early rather than examine more than
    /// [`MOST_EXAMINED`](crate::export::MOST_EXAMINED) questions.
    async fn export(&self, query: ExportQuery) -> Result<Export, StoreError>;

    /// The number of questions of a domain on each of these UTC days that has any, in order.
    async fn counts(&self, domain: &Domain, days: Days) -> Result<Vec<DayCount>, StoreError> {
        Ok(self.summary(domain, days).await?.by_day)
    }

    /// Statistics on the questions of a domain on these UTC days.
    async fn summary(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError>;

    /// Deletes threads in which nothing was asked or rated since this time, at most `limit` of them; returns their
    /// number.
    async fn forget(&self, untouched_since: Timestamp, limit: u32) -> Result<u32, StoreError>;
}
