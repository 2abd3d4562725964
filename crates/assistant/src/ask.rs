//! The input of a reply: a question with its conversation and context.

use std::sync::Arc;

use docent_search::{Filter, Snapshot};
use docent_types::{Domain, ProjectUid, Role, ThreadId};

/// One request to the assistant, already admitted and checked.
#[derive(Debug)]
pub struct AskRequest {
    pub project: ProjectUid,
    pub domain: Domain,
    /// The docs to answer from, in their current state.
    pub docs: Arc<Snapshot>,
    /// The client's fingerprint.
    pub fp: String,
    /// The conversation as the client sent it, without empty messages. The last one is the question.
    pub said: Vec<ChatMessage>,
    pub thread: Option<ThreadId>,
    pub thread_key: Option<String>,
    /// The number of passages to answer from.
    pub passages: usize,
    pub filter: Filter,
    pub context: Vec<ContextItem>,
    /// The page that the reader is on.
    pub current_path: Option<String>,
}

/// One message of the conversation in plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    pub id: Option<String>,
    pub role: Role,
    pub text: String,
}

/// Text or code that the reader has selected or attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    pub kind: ContextKind,
    pub value: String,
    pub path: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextKind {
    Code,
    TextSelection,
}
