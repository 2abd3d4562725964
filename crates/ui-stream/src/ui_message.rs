//! The UI message stream protocol that SDK majors 5, 6 and 7 read.
//!
//! ```text
//! data: {"type":"start","messageId":"…","messageMetadata":{"threadId":"…"}}
//!
//! data: {"type":"text-delta","id":"0","delta":"Retries are"}
//!
//! data: {"type":"finish",…}
//!
//! data: [DONE]
//! ```
//!
//! The clients are strict in ways that shape this file: an unknown chunk type (but `data-` with any name) ends the reply
//! with an error, so does `null` for an optional field, and releases before July 2026 also refuse unknown fields. So
//! frames have exactly the fields named here, and all additional data is under `messageMetadata` and
//! `providerMetadata`, which every release accepts.

use std::borrow::Cow;

use bytes::BytesMut;
use docent_types::{FinishReason, Passage, StreamEvent, ThreadId, ToolOutput};
use http::HeaderMap;
use http::header::{ORIGIN, USER_AGENT};
use serde::Serialize;
use serde_json::Value;

use crate::blocks::{BlockChange, BlockStream};
use crate::encoder::{Encoder, PassageMetadata, ProviderMetadata, json, title};

/// The top-level fields of the last frame.
///
/// SDK releases before July 2026 end every reply with an error if `finish` has an unknown key, and a request does not
/// show the release unless an app names it; clients that read the stream without an SDK look for `threadId` only there.
/// `messageMetadata` has both values in either style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishStyle {
    /// `threadId` and `finishReason` beside `messageMetadata`: for clients without an SDK, or with a release that
    /// accepts them.
    Open,
    /// `messageMetadata` alone: for SDK clients of any age, and so for browsers.
    Strict,
}

impl FinishStyle {
    /// The style for a client. An explicit choice has priority: `sdk` is the query parameter of that name, `strict` for
    /// a release of any age, `current` for one that accepts all fields. Otherwise SDK clients and browsers, recognized
    /// by the request, get the style that releases of any age accept. `trigger` says whether the body has that field,
    /// which only chat SDKs send.
    pub fn for_reader(headers: &HeaderMap, sdk: Option<&str>, trigger: bool) -> Self {
        match sdk {
            Some("strict") => return Self::Strict,
            Some("current") => return Self::Open,
            _ => {}
        }
        let by_agent = headers
            .get_all(USER_AGENT)
            .iter()
            .any(|agent| agent.as_bytes().windows(7).any(|window| window.eq_ignore_ascii_case(b"ai-sdk/")));
        if trigger || by_agent || headers.contains_key(ORIGIN) { Self::Strict } else { Self::Open }
    }
}

/// Encodes one reply as a UI message stream. Create a new one for every reply.
#[derive(Debug)]
pub struct UiMessageStream {
    finish: FinishStyle,
    /// Present where the answer is sent as blocks, in place of its text.
    blocks: Option<BlockStream>,
    ended: bool,
}

impl Encoder for UiMessageStream {
    const CONTENT_TYPE: &'static str = "text/event-stream; charset=utf-8";
    const PROTOCOL_HEADER: (&'static str, &'static str) = ("x-vercel-ai-ui-message-stream", "v1");
    /// A comment, which every client skips.
    const KEEP_ALIVE: &'static [u8] = b": keep-alive\n\n";

    fn ended(&self) -> bool {
        self.ended
    }

    fn encode(&mut self, event: &StreamEvent, out: &mut BytesMut) {
        if self.ended {
            return;
        }
        match event {
            StreamEvent::KeepAlive => out.extend_from_slice(Self::KEEP_ALIVE),
            StreamEvent::Finish { reason, thread_id, .. } => {
                frame(&self.finish_chunk(*reason, *thread_id), out);
                out.extend_from_slice(b"data: [DONE]\n\n");
                self.ended = true;
            }
            StreamEvent::Error { sentence } => {
                self.end_text(out);
                frame(&Chunk::Error { error_text: sentence }, out);
                self.ended = true;
            }
            StreamEvent::Data { name, id, value } => {
                frame(&Data { kind: format_args!("data-{name}"), id: id.as_deref(), data: value }, out);
            }
            StreamEvent::TextStart { .. } if self.blocks.is_some() => {}
            StreamEvent::TextDelta { text, .. } if self.blocks.is_some() => {
                let changes = self.blocks.as_mut().map_or_else(Vec::new, |blocks| blocks.push(text));
                changes.iter().for_each(|change| change_frame(change, out));
            }
            StreamEvent::TextEnd { .. } if self.blocks.is_some() => self.end_text(out),
            other => {
                if let Some(chunk) = chunk(other) {
                    frame(&chunk, out);
                }
            }
        }
    }
}

impl UiMessageStream {
    pub const fn new(finish: FinishStyle) -> Self {
        Self { finish, blocks: None, ended: false }
    }

    /// Sends the answer as blocks, for clients that have no Markdown parser.
    #[must_use]
    pub fn with_blocks(self) -> Self {
        Self { blocks: Some(BlockStream::default()), ..self }
    }

    fn end_text(&mut self, out: &mut BytesMut) {
        let changes = self.blocks.as_mut().map_or_else(Vec::new, BlockStream::end);
        changes.iter().for_each(|change| change_frame(change, out));
    }

    fn finish_chunk(&self, reason: FinishReason, thread_id: Option<ThreadId>) -> Chunk<'static> {
        let open = self.finish == FinishStyle::Open;
        Chunk::Finish {
            finish_reason: open.then_some(reason),
            thread_id: thread_id.filter(|_| open),
            message_metadata: Metadata { thread_id, finish_reason: Some(reason) },
        }
    }
}

/// The frame of an event, if it depends on that event alone.
fn chunk(event: &StreamEvent) -> Option<Chunk<'_>> {
    Some(match event {
        StreamEvent::Start { message_id, thread_id } => Chunk::Start {
            message_id: *message_id,
            message_metadata: thread_id.map(|id| Metadata { thread_id: Some(id), finish_reason: None }),
        },
        StreamEvent::StepStart => Chunk::StartStep,
        StreamEvent::ToolCall { id, name, input } => {
            Chunk::ToolInputAvailable { tool_call_id: id, tool_name: name, input }
        }
        StreamEvent::ToolResult { id, output: ToolOutput::Error(sentence) } => {
            Chunk::ToolOutputError { tool_call_id: id, error_text: sentence }
        }
        StreamEvent::ToolResult { id, output: ToolOutput::Json(value) } => {
            Chunk::ToolOutputAvailable { tool_call_id: id, output: Output::Json(value) }
        }
        StreamEvent::ToolResult { id, output: ToolOutput::Passages(passages) } => {
            let results = passages.iter().map(|passage| PassageBody::of(passage)).collect();
            Chunk::ToolOutputAvailable { tool_call_id: id, output: Output::Search { kind: "search", results } }
        }
        StreamEvent::Source { id, passage } => Chunk::SourceUrl {
            source_id: id,
            url: &passage.href,
            title: title(passage),
            provider_metadata: ProviderMetadata::of(passage),
        },
        StreamEvent::TextStart { id } => Chunk::TextStart { id },
        StreamEvent::TextDelta { id, text } => Chunk::TextDelta { id, delta: text },
        StreamEvent::TextEnd { id } => Chunk::TextEnd { id },
        StreamEvent::StepFinish { .. } => Chunk::FinishStep,
        StreamEvent::Data { .. } | StreamEvent::Finish { .. } | StreamEvent::Error { .. } | StreamEvent::KeepAlive => {
            return None;
        }
    })
}

fn frame<T: Serialize>(chunk: &T, out: &mut BytesMut) {
    out.extend_from_slice(b"data: ");
    json(chunk, out);
    out.extend_from_slice(b"\n\n");
}

fn change_frame(change: &BlockChange, out: &mut BytesMut) {
    match change {
        BlockChange::Begin { number, block } => {
            frame(&Data { kind: "data-block", id: Some(number.to_string()), data: block }, out);
        }
        BlockChange::Edit(edits) => frame(&Data { kind: "data-edit", id: None::<&str>, data: edits }, out),
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Chunk<'a> {
    Start {
        message_id: docent_types::MessageId,
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Metadata>,
    },
    StartStep,
    ToolInputAvailable {
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: &'a Value,
    },
    ToolOutputAvailable {
        tool_call_id: &'a str,
        output: Output<'a>,
    },
    ToolOutputError {
        tool_call_id: &'a str,
        error_text: &'a str,
    },
    SourceUrl {
        source_id: &'a str,
        url: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        provider_metadata: ProviderMetadata<'a>,
    },
    TextStart {
        id: &'a str,
    },
    TextDelta {
        id: &'a str,
        delta: &'a str,
    },
    TextEnd {
        id: &'a str,
    },
    FinishStep,
    Finish {
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thread_id: Option<ThreadId>,
        message_metadata: Metadata,
    },
    Error {
        error_text: &'a str,
    },
}

/// The output of a tool.
#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Json(&'a Value),
    Search {
        #[serde(rename = "type")]
        kind: &'static str,
        results: Vec<PassageBody<'a>>,
    },
}

/// A passage that a search found.
#[derive(Serialize)]
struct PassageBody<'a> {
    content: String,
    path: Cow<'a, str>,
    metadata: PassageMetadata<'a>,
}

impl<'a> PassageBody<'a> {
    fn of(passage: &'a Passage) -> Self {
        Self { content: passage.under_headings(), path: passage.encoded_path(), metadata: PassageMetadata::of(passage) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<ThreadId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<FinishReason>,
}

/// Named data. `kind` is `data-` and the name.
#[derive(Serialize)]
struct Data<K, I, D> {
    #[serde(rename = "type")]
    kind: K,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<I>,
    data: D,
}

#[cfg(test)]
mod tests;
