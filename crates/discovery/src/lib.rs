//! Common parts of all endpoints under `/discovery`, in all versions of the API.
//!
//! The versions differ in the format of a message and in the protocol of the stream. The rest of a question is here
//! once, so that the versions cannot diverge:
//!
//! | file | what |
//! |---|---|
//! | `readers.rs` | which keys are admitted, and which pages' scripts may read the answer |
//! | `ask_body.rs`, `message_part.rs`, `filter.rs` | the body of a question and its rules |
//! | `answering.rs` | from a question to the answer's head and its stream |
//! | `whole_reply.rs` | a reply from its beginning to its end, for clients that read no stream |
//! | `replies.rs`, `permit.rs` | how many replies run at a time, and their outcomes |
//! | `chat.rs`, `chats.rs`, `resuming_chats.rs` | which replies can be resumed, by which client, and for how long |
//! | `shared_reply.rs`, `live.rs`, `log.rs` | one reply, its events so far, and its readers |
//! | `docs.rs` | the port to the docs of a project |
//! | `readable_docs.rs`, `page_links.rs`, `template_tags.rs` | the docs as one reader may see them: pages as Markdown, their list, near misses |
//! | `outline.rs` | a long list of pages as a folder shows it |
//!
//! This crate knows no path and no version, no model and no storage.

mod answering;
mod ask_body;
mod chat;
mod chats;
mod docs;
mod filter;
mod live;
mod log;
mod message_part;
mod outline;
mod page_links;
mod permit;
mod readable_docs;
mod readers;
mod replies;
mod resuming_chats;
mod shared_reply;
mod template_tags;
mod whole_reply;

pub use answering::Answering;
pub use ask_body::{MessageBody, Question, QuestionBody};
pub use chat::{ChatId, LONGEST_ID};
pub use docs::Docs;
pub use filter::FilterBody;
pub use message_part::{MessagePart, texts};
pub use outline::{Outlined, outline};
pub use readable_docs::{MarkdownPage, ReadableDocs, page_named};
pub use readers::{Readers, credentials, is_shared, preflight};
pub use replies::{Replies, ReplyCounts};
pub use whole_reply::WholeReply;

/// Largest body of these endpoints, in bytes: chat clients send the whole conversation with every question, including
/// sources.
pub const LARGEST_BODY: usize = 4 * 1024 * 1024;
