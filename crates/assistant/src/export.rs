//! Questions and answers, exported for analytics.

use docent_types::{Domain, ThreadId, Timestamp};

use crate::thread::Turn;

/// Which questions to export, sorted by when they were asked, newest first. Turns that a client sent as
/// [history](Turn::is_told) are not included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportQuery {
    pub domain: Domain,
    pub which: QuestionFilter,
    /// Asked at this moment or later.
    pub from: Option<Timestamp>,
    /// Asked before this moment.
    pub to: Option<Timestamp>,
    /// Only questions after this one in the list: the [`Export::next`] of the previous page.
    pub after: Option<ExportCursor>,
    /// Most questions on a page, at least 1.
    pub limit: u32,
    /// Most bytes on a page, by [`Turn::stored_bytes`]. A larger turn makes a page of its own.
    pub most_bytes: u64,
}

/// The result of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionFilter {
    All,
    /// Its answer was rated.
    Rated,
    /// The docs held no answer, or none was produced.
    Unanswered,
}

impl QuestionFilter {
    pub const fn has(self, turn: &Turn) -> bool {
        match self {
            Self::All => true,
            Self::Rated => turn.feedback.is_some(),
            Self::Unanswered => !turn.answered,
        }
    }
}

/// The limits of a page while it is built, shared by all implementations so that they end it at the same turn.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageBudget {
    questions: u32,
    bytes: u64,
}

impl PageBudget {
    /// Whether the next turn, of `bytes` bytes, still fits on the page; if so it is counted. The first that does not
    /// ends the page.
    pub fn takes(&mut self, query: &ExportQuery, bytes: u64) -> bool {
        let (questions, bytes) = (self.questions.saturating_add(1), self.bytes.saturating_add(bytes));
        let fits = self.questions == 0 || (questions <= query.limit && bytes <= query.most_bytes);
        if fits {
            *self = Self { questions, bytes };
        }
        fits
    }
}

/// A position in the list. Neither part ever changes, so two pages never begin at the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExportCursor {
    pub asked_at: Timestamp,
    /// [`Turn::answer_id`].
    pub answer_id: String,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub turns: Vec<AskedTurn>,
    /// Where the next page begins; `None` at the end of the list.
    pub next: Option<ExportCursor>,
}

/// One question, what was answered, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedTurn {
    pub thread: ThreadId,
    /// The fingerprint of the client that began the thread.
    pub fp: String,
    pub turn: Turn,
}

impl AskedTurn {
    pub fn cursor(&self) -> ExportCursor {
        ExportCursor { asked_at: self.turn.asked_at, answer_id: self.turn.answer_id.clone() }
    }
}

impl Export {
    /// A page of these turns; `goes_on` if the list has more.
    pub fn page(turns: Vec<AskedTurn>, goes_on: bool) -> Self {
        let next = turns.last().filter(|_| goes_on).map(AskedTurn::cursor);
        Self { turns, next }
    }
}
