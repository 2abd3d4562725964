//! The documentation assistant: a question and a thread become passages, a prompt, a model's stream, and stream events.
//!
//! - [`Assistant::answer`] makes the reply; dropping the stream it returns cancels the model call. [`Assistant::rate`]
//!   stores a reader's rating, [`Assistant::export`], [`Assistant::summary`], [`Assistant::gaps`] and
//!   [`Assistant::forget`] are for the operator of the server.
//! - [`SiteSettings`] is the configuration of a docs site: its address, its instructions.
//! - [`prompt`] builds the model's request: pure, and the only place with those texts.
//! - [`SearchLog`] counts what readers search for without asking.
//! - [`Threads`] is the port to stored conversations, [`Searches`] the one to counted searches and [`Spends`] the one to what
//!   was spent, with implementations in [`memory`] and their suites in [`conformance`].
//!
//! Internally, `reply` is in control: `query` and `rewrite` decide what to search for, `retrieval` searches and tracks
//! citations, `model_call` calls the model, `bounds` limits how much of a question is read and stored, `link_filter`
//! with `targets` removes invalid links, and `question_writes` stores the question while the reply is in progress.
//!
//! This crate does not know HTTP or any wire format.

mod analytics;
mod answer;
mod ask;
mod bounds;
pub mod conformance;
mod dialogue;
mod export;
mod gaps;
mod link_filter;
pub mod memory;
mod model_call;
pub mod prompt;
mod query;
mod question_writes;
mod reader_words;
mod reply;
mod reply_text;
mod retrieval;
mod rewrite;
mod search_log;
mod searches;
mod site;
mod spend;
mod targets;
mod thread;

#[cfg(test)]
mod tests;

pub use analytics::{
    DayCount, Days, Latency, NEWEST, NewestQuestions, Percentiles, QuestionCounts, SourceCount, Summary, Tally,
};
pub use answer::{AnswerStream, Assistant};
pub use ask::{AskRequest, ChatMessage, ContextItem, ContextKind};
pub use export::{
    AskedTurn, Export, ExportCursor, ExportQuery, MOST_EXAMINED, MOST_READ, MinimumWait, PageBuilder, QuestionFacts,
    QuestionFilter, QuestionOutcome, RatingFilter, UNKNOWN_LANGUAGE,
};
pub use gaps::{Gap, GapQuestion, MOST_GROUPED, gaps};
pub use reader_words::{question_instruction, search_instruction};
pub use search_log::SearchLog;
pub use searches::{MOST_TERMS_A_DAY, Search, SearchCounts, SearchTerm, SearchTerms, Searches, TermCursor, TermQuery};
pub use site::SiteSettings;
pub use spend::{DailyBudget, DailyLimit, DailyLimits, Spend, Spends};
pub use thread::{AnswerStage, CitedPage, Feedback, NewThread, Rating, Thread, ThreadKey, Threads, Timing, Turn};
