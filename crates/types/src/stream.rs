//! The events of a reply in progress, independent of any client's protocol.
//!
//! A well-formed reply is
//! `Start (StepStart (ToolCall | ToolResult | Source | TextStart TextDelta* TextEnd)* StepFinish)+ Finish`, with
//! [`StreamEvent::Data`] and [`StreamEvent::KeepAlive`] anywhere between. [`StreamEvent::Error`] ends a reply early and
//! nothing follows it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{MessageId, ThreadId};
use crate::passage::Passage;

/// One event of a streamed reply.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    Start {
        message_id: MessageId,
        thread_id: Option<ThreadId>,
    },
    StepStart,
    ToolCall {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        id: String,
        output: ToolOutput,
    },
    /// A page that the answer uses. `id` is unique in the reply; no page comes twice. The passage was shown with the
    /// search that found it, and may be empty here.
    Source {
        id: String,
        passage: Arc<Passage>,
    },
    /// Every delta repeats the id of its text, so all share it.
    TextStart {
        id: Arc<str>,
    },
    TextDelta {
        id: Arc<str>,
        text: String,
    },
    TextEnd {
        id: Arc<str>,
    },
    /// Named data beside the text; it replaces earlier data of the same name and id.
    Data {
        name: &'static str,
        id: Option<String>,
        value: Value,
    },
    StepFinish {
        reason: FinishReason,
        usage: Usage,
    },
    Finish {
        reason: FinishReason,
        usage: Usage,
        thread_id: Option<ThreadId>,
    },
    /// The reply failed. The sentence is written for the reader.
    Error {
        sentence: String,
    },
    KeepAlive,
}

/// The output of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutput {
    /// Shared: outputs are the largest part of a reply.
    Passages(Vec<Arc<Passage>>),
    Json(Value),
    /// The call failed, with this error for the model.
    Error(String),
}

/// Why a step or a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    Stop,
    Length,
    ContentFilter,
    ToolCalls,
    Error,
    Other,
}

impl FinishReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content-filter",
            Self::ToolCalls => "tool-calls",
            Self::Error => "error",
            Self::Other => "other",
        }
    }
}

/// Input and output tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All input tokens, cached or not.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Input tokens from the provider's cache.
    pub cached_input_tokens: u64,
}

impl Usage {
    /// Input and output tokens without any from a cache.
    pub const fn of(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, cached_input_tokens: 0 }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_input_tokens += other.cached_input_tokens;
    }
}
