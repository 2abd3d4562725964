//! The model port: requests, and the events of a reply.

use std::fmt;

use async_trait::async_trait;
use docent_types::{FinishReason, Message, Usage};
use futures::stream::BoxStream;
use serde_json::Value;

use crate::error::ModelError;

/// Maximum number of tool calls in one reply. A decoder emits at most one more, by which a caller sees that the limit
/// was exceeded, and drops the rest.
pub const MOST_CALLS: usize = 256;

/// The events of one call. Dropping it cancels the call.
pub type EventStream = BoxStream<'static, Result<Event, ModelError>>;

/// A language model, or a substitute for one.
#[async_trait]
pub trait Model: Send + Sync + fmt::Debug {
    /// Describes the model for logs, `doctor` and the dashboard.
    fn describe(&self) -> Description;

    /// Sends one request. An error here means that no part of a reply arrived; an error in the stream, that the reply
    /// was cut. A stream without an error ends with exactly one [`Event::Done`].
    async fn stream(&self, request: Request) -> Result<EventStream, ModelError>;
}

/// The provider of the model that needs no service, in [`Description::provider`] and in configurations. Reserved: no
/// other model may have this name.
pub const BUILTIN: &str = "builtin";

/// The properties of a model that its callers need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The provider, for example `anthropic`, `openai` or `builtin`.
    pub provider: String,
    /// The provider's name for the model; the provider's own name if it has only one model.
    pub model: String,
    /// Maximum number of tokens of a request and its reply together.
    pub context_tokens: u32,
    /// Whether a call costs money or much time. If so, the journal is made durable before a call.
    pub costs: bool,
    pub editor: Editor,
}

/// The set of file-editing tools that the model was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Editor {
    /// One tool each to read, edit, insert and write.
    #[default]
    Separate,
    /// One tool with the commands `view`, `str_replace`, `create` and `insert`.
    TextEditor,
}

impl Description {
    /// A model whose calls cost something, with a context of 128,000 tokens and separate tools for editing.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        let (provider, model) = (provider.into(), model.into());
        Self { provider, model, context_tokens: 128_000, costs: true, editor: Editor::Separate }
    }

    /// Whether this is the model that needs no configuration; answers then mention it.
    pub fn is_builtin(&self) -> bool {
        self.provider == BUILTIN
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.provider == self.model {
            f.write_str(&self.provider)
        } else {
            write!(f, "{} {}", self.provider, self.model)
        }
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The system prompt; empty for none.
    pub system: String,
    /// The transcript, oldest first. The last message is the user's: text, or the results of the preceding calls.
    pub messages: Vec<Message>,
    /// The tools the model may call.
    pub tools: Vec<ToolSpec>,
    pub tool_choice: ToolChoice,
    /// Maximum number of tokens of the reply.
    pub max_tokens: u32,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// The JSON Schema of its input, an object.
    pub schema: Value,
}

/// Whether the model may call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No calls: the reply is text.
    None,
}

/// One event of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    TextDelta(String),
    /// A complete call. An input that is not JSON is passed on as a JSON string, which tools refuse.
    ToolCall {
        /// Unique in the transcript.
        id: String,
        name: String,
        input: Value,
    },
    /// The end of the reply, exactly once.
    Done {
        reason: FinishReason,
        usage: Usage,
    },
}
