//! Stream events → the bytes a chat client reads.
//!
//! The assistant and the agent emit [`docent_types::StreamEvent`]s, independent of any client's protocol. This crate
//! encodes them in the protocols of the chat SDKs, one file per client generation:
//!
//! | file | protocol | clients |
//! |---|---|---|
//! | `data_stream.rs` | the data stream: lines of one letter and one JSON value each | SDK major 4 |
//! | `ui_message.rs` | the UI message stream: server-sent events with one JSON object each | SDK majors 5, 6, 7 |
//!
//! An [`Encoder`] is a small state machine from one event to zero or more bytes, appended to a buffer that the caller owns.
//! What one call appends is a whole number of frames, so a caller may flush after any call and never splits a character
//! or a line. It knows no runtime and no sockets, and of headers the protocol's own and those by which
//! [`FinishStyle::for_reader`] tells one kind of reader from another.
//!
//! [`Grammar`] checks an event stream against the order that [`docent_types::StreamEvent`] promises; it is for the
//! tests of crates that produce such streams.

mod data_stream;
mod encoder;
mod grammar;
mod ui_message;

pub use data_stream::DataStream;
pub use encoder::Encoder;
pub use grammar::{Grammar, GrammarError};
pub use ui_message::{FinishStyle, UiMessageStream};
