//! The documentation assistant: a question and a thread become passages, a prompt, a model's stream, and stream events.
//!
//! - [`Assistant::answer`] is the whole way; dropping the stream it returns cancels the model call.
//! - [`prompt`] builds what the model is told: pure, and the only place where those words stand.
//! - [`Threads`] is the port to stored conversations, with its twin in [`memory`] and its suite in [`conformance`].
//!
//! This crate knows no bytes and no HTTP.

mod answer;
mod ask;
pub mod conformance;
pub mod memory;
pub mod prompt;
mod query;
mod thread;

pub use answer::{AnswerError, Assistant, Reply};
pub use ask::{Ask, ContextItem, ContextKind, Said};
pub use thread::{NewThread, Thread, ThreadKey, Threads, Turn};
