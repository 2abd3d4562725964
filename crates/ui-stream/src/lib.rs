//! Encodes stream events as the bytes that a chat client reads.
//!
//! The assistant and the agent emit [`docent_types::StreamEvent`]s, independent of any client's protocol. This crate
//! encodes them in the protocols of chat clients, one file per protocol:
//!
//! | file | protocol | clients |
//! |---|---|---|
//! | `data_stream.rs` | the data stream: lines of one letter and one JSON value each | SDK major 4 |
//! | `chat_completions.rs` | chat completions, streamed and whole | OpenAI's SDKs, and front ends for that API |
//! | `ui_message.rs` | the UI message stream: server-sent events with one JSON object each | SDK majors 5, 6, 7 |
//!
//! `blocks.rs` makes a tree of vetted nodes of an answer's Markdown, for clients that have no parser: a UI message stream may
//! carry these in place of the text, and [`markdown_blocks`] has them for a page.
//!
//! An [`Encoder`] is a small state machine that appends zero or more bytes per event to a buffer that the caller owns.
//! Each call appends whole frames, so a caller may flush after any call and never splits a character or a line. The
//! crate knows no runtime and no sockets, and only those headers that identify the protocol and those by which
//! [`FinishStyle::for_reader`] distinguishes kinds of readers.
//!
//! [`Grammar`] checks the order of an event stream that [`docent_types::StreamEvent`] requires; it is for the tests of
//! crates that produce such streams.

mod blocks;
mod chat_completions;
mod data_stream;
mod encoder;
mod grammar;
mod ui_message;

pub use blocks::{Align, Element, ElementKind, Node, markdown_blocks};
pub use chat_completions::{ChatCompletions, CitedPage, CompletionHead, chat_completion};
pub use data_stream::DataStream;
pub use encoder::Encoder;
pub use grammar::{Grammar, GrammarError};
pub use ui_message::{FinishStyle, UiMessageStream};
