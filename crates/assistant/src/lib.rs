//! The documentation assistant: a question and a thread become passages, a prompt, a model's stream, and stream events.
//!
//! - [`Assistant::answer`] is the whole way; dropping the stream it returns cancels the model call. [`Assistant::rate`]
//!   keeps what a reader thinks of a reply, [`Assistant::export`] and [`Assistant::forget`] are for whoever runs the
//!   server.
//! - [`Site`] is what the owner of a docs site has decided: its address, its instructions.
//! - [`prompt`] builds what the model is told: pure, and the only place where those words stand.
//! - [`Threads`] is the port to stored conversations, with its twin in [`memory`] and its suite in [`conformance`].
//!
//! Inside, `reply` steers: `query` and `rewrite` say what to look for, `retrieval` finds it and knows what is cited,
//! `asking` gets a model to begin, `bounds` says how much of a question is read and kept, `link_filter` with `targets` lets nothing out that leads nowhere, and `writes` keeps
//! the question while the reply is under way.
//!
//! This crate knows no bytes and no HTTP.

mod answer;
mod ask;
mod asking;
mod bounds;
pub mod conformance;
mod dialogue;
mod export;
mod link_filter;
pub mod memory;
pub mod prompt;
mod query;
mod question_writes;
mod reply;
mod reply_text;
mod retrieval;
mod rewrite;
mod site;
mod targets;
mod thread;

#[cfg(test)]
mod tests;

pub use answer::{AnswerError, Assistant, Reply};
pub use ask::{Ask, ChatMessage, ContextItem, ContextKind};
pub use export::{AskedTurn, Export, ExportCursor, ExportQuery, PageBudget, QuestionFilter};
pub use site::Site;
pub use thread::{CitedPage, Feedback, NewThread, Rating, Thread, ThreadKey, Threads, Turn};
