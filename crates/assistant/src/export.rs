//! What was asked and answered, as analytics reads it.

use docent_types::{Domain, ThreadId, Timestamp};

use crate::thread::Turn;

/// Which questions to read. They are listed by when they were asked, newest first. What a client [told](Turn::is_told) of is
/// not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportQuery {
    pub domain: Domain,
    pub which: QuestionFilter,
    /// Asked at this moment or later.
    pub from: Option<Timestamp>,
    /// Asked before this moment.
    pub to: Option<Timestamp>,
    /// Only those that come after this one in the list; what a page gave as [`Export::next`].
    pub after: Option<ExportCursor>,
    /// The most questions to give, at least 1.
    pub limit: u32,
    /// How much to give at most, in bytes of [`Turn::stored_bytes`]. A turn that is larger by itself is given alone and
    /// whole.
    pub most_bytes: u64,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionFilter {
    All,
    /// Its answer was rated.
    Rated,
    /// The docs held no answer, or none was made.
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

/// What a page holds while it is put together, so that all who do that stop at the same place.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageBudget {
    questions: u32,
    bytes: u64,
}

impl PageBudget {
    /// Whether the next turn, of so many bytes, still belongs on the page; then it counts. After the first that does not the
    /// page is whole.
    pub fn takes(&mut self, query: &ExportQuery, bytes: u64) -> bool {
        let (questions, bytes) = (self.questions.saturating_add(1), self.bytes.saturating_add(bytes));
        let fits = self.questions == 0 || (questions <= query.limit && bytes <= query.most_bytes);
        if fits {
            *self = Self { questions, bytes };
        }
        fits
    }
}

/// A place in the list. Neither part of it ever changes, so a page never begins twice at the same one.
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
    /// A page of these turns, and whether the list goes on after them.
    pub fn page(turns: Vec<AskedTurn>, goes_on: bool) -> Self {
        let next = turns.last().filter(|_| goes_on).map(AskedTurn::cursor);
        Self { turns, next }
    }
}
