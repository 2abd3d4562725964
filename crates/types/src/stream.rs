//! What happens while a reply is made, one event at a time, in no client's protocol.
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
    /// A page the answer leans on. `id` is unique in the reply; no page comes twice. What the passage says was shown with
    /// the search that found it, and may be left out here.
    Source {
        id: String,
        passage: Arc<Passage>,
    },
    /// The id of a text comes with every piece of it, so all of them share it.
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
    /// A named piece of data beside the text; one with the same name and id replaces the one before.
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
    /// The reply could not be finished. The sentence is fit for the reader.
    Error {
        sentence: String,
    },
    KeepAlive,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutput {
    /// Shared with whoever still needs them: they are the largest part of a reply.
    Passages(Vec<Arc<Passage>>),
    Json(Value),
    /// The call failed, and this is what was said about it.
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

/// Tokens read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All that was read, whether or not the provider had it at hand.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// How many of the tokens read came from the provider's cache.
    pub cached_input_tokens: u64,
}

impl Usage {
    /// Tokens read and written, none of them from a cache.
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
