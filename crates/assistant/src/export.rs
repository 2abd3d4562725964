//! Exports questions and answers for analytics.

use std::borrow::Cow;

use docent_types::{Domain, ThreadId, Timestamp};

use crate::thread::{AnswerStage, CitedPage, Rating, Timing, Turn};

/// Maximum number of questions that are examined for one page.
pub const MOST_EXAMINED: u32 = 10_000;
/// Maximum number of questions whose texts are read for one page; [`QuestionFilter::text`] requires reading them.
pub const MOST_READ: u32 = 500;

/// Selects questions to export, sorted by when they were asked, newest first. Turns that a client sent as
/// [history](Turn::is_imported) are not included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportQuery {
    pub domain: Domain,
    pub which: QuestionFilter,
    /// Only questions asked at this time or later.
    pub from: Option<Timestamp>,
    /// Only questions asked before this time.
    pub to: Option<Timestamp>,
    /// Only questions after this one in the list: the [`Export::next`] of the previous page.
    pub after: Option<ExportCursor>,
    /// Maximum number of questions on a page, at least 1.
    pub limit: u32,
    /// Maximum size of a page in bytes, by [`Turn::stored_bytes`]. A larger turn gets a page of its own.
    pub most_bytes: u64,
}

/// The conditions that a question must meet; the default admits all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestionFilter {
    pub outcome: Option<QuestionOutcome>,
    pub rating: Option<RatingFilter>,
    /// A text that the question or its answer must contain, case-insensitively.
    pub text: Option<String>,
    /// The address of a page that the answer must cite; without an anchor, any place in the page.
    pub source: Option<String>,
    /// The page that the reader was on.
    pub page: Option<String>,
    /// As in [`Turn::language`], in letters of either case; [`UNKNOWN_LANGUAGE`] for questions without one.
    pub language: Option<String>,
    /// A minimum latency; only complete answers have one.
    pub waited: Option<MinimumWait>,
}

/// The BCP 47 code for an unknown language.
pub const UNKNOWN_LANGUAGE: &str = "und";

/// A minimum time that a reader waited for a stage of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimumWait {
    pub until: AnswerStage,
    pub ms: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionOutcome {
    Answered,
    /// The docs did not contain an answer, or none was produced.
    Unanswered,
    /// Unanswered, or its answer was rated down.
    Missed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatingFilter {
    Any,
    Only(Rating),
}

impl QuestionFilter {
    pub fn of_outcome(outcome: QuestionOutcome) -> Self {
        Self { outcome: Some(outcome), ..Self::default() }
    }

    pub fn rated(rating: RatingFilter) -> Self {
        Self { rating: Some(rating), ..Self::default() }
    }

    /// Whether the question meets all conditions except the text.
    pub fn admits(&self, facts: &QuestionFacts<'_>) -> bool {
        let is = |wanted: &Option<String>, is: Option<&str>| wanted.as_deref().is_none_or(|wanted| Some(wanted) == is);
        self.outcome.is_none_or(|outcome| match outcome {
            QuestionOutcome::Answered => facts.answered,
            QuestionOutcome::Unanswered => !facts.answered,
            QuestionOutcome::Missed => facts.is_missed(),
        }) && self.rating.is_none_or(|rating| match rating {
            RatingFilter::Any => facts.rating.is_some(),
            RatingFilter::Only(rating) => facts.rating == Some(rating),
        }) && is(&self.page, facts.page)
            && self
                .language
                .as_deref()
                .is_none_or(|language| facts.language.unwrap_or(UNKNOWN_LANGUAGE).eq_ignore_ascii_case(language))
            && self.waited.is_none_or(|wait| facts.timing.is_some_and(|timing| timing.until(wait.until) >= wait.ms))
            && self.source.as_deref().is_none_or(|source| facts.uses(source))
    }

    /// Whether the turn contains the text, if one is required.
    fn has_text(&self, turn: &Turn) -> bool {
        let Some(wanted) = self.text.as_ref().map(|text| text.to_lowercase()) else { return true };
        let texts = [Some(&turn.question), turn.answer.as_ref()];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
    }
}

/// The properties of a question that are available without reading its texts.
#[derive(Debug, Clone)]
pub struct QuestionFacts<'a> {
    pub asked_at: Timestamp,
    pub answer_id: &'a str,
    pub answered: bool,
    pub rating: Option<Rating>,
    pub language: Option<&'a str>,
    pub page: Option<&'a str>,
    pub timing: Option<Timing>,
    /// [`Turn::sources`] as JSON.
    pub sources: Cow<'a, str>,
}

impl<'a> QuestionFacts<'a> {
    pub fn of(turn: &'a Turn) -> Self {
        Self {
            asked_at: turn.asked_at,
            answer_id: &turn.answer_id,
            answered: turn.answered,
            rating: turn.feedback.as_ref().map(|feedback| feedback.rating),
            language: turn.language.as_deref(),
            page: turn.page.as_deref(),
            timing: turn.timing,
            sources: serde_json::to_string(&turn.sources).unwrap_or_default().into(),
        }
    }

    pub(crate) fn is_missed(&self) -> bool {
        !self.answered || self.rating == Some(Rating::Down)
    }

    /// Whether the answer cites the page at this address.
    fn uses(&self, address: &str) -> bool {
        let parsed = || serde_json::from_str::<Vec<CitedPage>>(&self.sources).unwrap_or_default();
        // Most answers cite other pages, so a substring search avoids most of the parsing.
        self.sources.contains(address.trim_start_matches('/'))
            && parsed().iter().any(|source| source.url == address || source.page() == address)
    }
}

/// Builds a page. Shared by all implementations, so that they end it at the same turn.
#[derive(Debug)]
pub struct PageBuilder<'q> {
    query: &'q ExportQuery,
    turns: Vec<AskedTurn>,
    bytes: u64,
    examined: u32,
    read: u32,
    /// The last question that was examined.
    last: ExportCursor,
    goes_on: bool,
}

impl<'q> PageBuilder<'q> {
    pub fn new(query: &'q ExportQuery) -> Self {
        let last = ExportCursor { asked_at: Timestamp::default(), answer_id: String::new() };
        Self { query, turns: Vec::new(), bytes: 0, examined: 0, read: 0, last, goes_on: false }
    }

    /// Decides about the next question of the period, and returns whether to continue. `read` returns the question and
    /// its [`Turn::stored_bytes`], and is called only for questions that may be on the page.
    pub fn examine<E>(
        &mut self,
        facts: &QuestionFacts<'_>,
        read: impl FnOnce() -> Result<(AskedTurn, u64), E>,
    ) -> Result<bool, E> {
        if self.examined == MOST_EXAMINED {
            return Ok(self.end());
        }
        self.examined += 1;
        if self.query.which.admits(facts) {
            let is_full = u32::try_from(self.turns.len()).is_ok_and(|turns| turns >= self.query.limit);
            if is_full || (self.query.which.text.is_some() && self.read == MOST_READ) {
                return Ok(self.end());
            }
            self.read += 1;
            let (turn, bytes) = read()?;
            if self.query.which.has_text(&turn.turn) {
                let bytes = self.bytes.saturating_add(bytes);
                if !self.turns.is_empty() && bytes > self.query.most_bytes {
                    return Ok(self.end());
                }
                self.bytes = bytes;
                self.turns.push(turn);
            }
        }
        self.last.asked_at = facts.asked_at;
        facts.answer_id.clone_into(&mut self.last.answer_id);
        Ok(true)
    }

    fn end(&mut self) -> bool {
        self.goes_on = true;
        false
    }

    pub fn page(self) -> Export {
        Export { turns: self.turns, next: Some(self.last).filter(|_| self.goes_on) }
    }
}

/// A position in the list. Neither part ever changes, so no two pages begin at the same position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExportCursor {
    pub asked_at: Timestamp,
    /// [`Turn::answer_id`].
    pub answer_id: String,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// May have fewer turns than the limit, or none, although the list continues.
    pub turns: Vec<AskedTurn>,
    /// The start of the next page; `None` at the end of the list.
    pub next: Option<ExportCursor>,
}

/// One question with its answer and its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedTurn {
    pub thread: ThreadId,
    /// The fingerprint of the client that began the thread.
    pub fp: String,
    pub turn: Turn,
}
