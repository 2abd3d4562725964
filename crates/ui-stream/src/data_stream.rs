//! The data stream protocol that SDK major 4 reads.
//!
//! ```text
//! f:{"messageId":"…"}
//! 8:[{"threadId":"…"}]
//! 9:{"toolCallId":"c1","toolName":"search","args":{"query":"retries"}}
//! a:{"toolCallId":"c1","result":{"type":"search","results":[…],…}}
//! h:{"sourceType":"url","id":"s1","url":"/guides/retries","title":"Retries"}
//! 0:"Retries are"
//! e:{"finishReason":"stop","usage":{"promptTokens":9,"completionTokens":3},"isContinued":false}
//! 2:[{"type":"finish","threadId":"…"}]
//! d:{"finishReason":"stop","usage":{"promptTokens":9,"completionTokens":3},"threadId":"…"}
//! ```
//!
//! Each line is one letter, a colon, one JSON value, and a line break. The clients are strict in ways that shape this
//! file: an unknown letter ends the reply with an error and discards the other lines of its network packet, so only
//! these letters and `3:` are written, and data that has no letter is omitted. A client parses nothing before a packet
//! ends in a line break. It ignores the thread in `d:`, so the thread is also sent where an app can read it: in an
//! annotation of the message, which apps send back with their next question, and in the data, as the event `finish`.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::BytesMut;
use docent_types::{FinishReason, MessageId, Passage, StreamEvent, ThreadId, ToolOutput, Usage};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::encoder::{Encoder, PassageMetadata, ProviderMetadata, json, title};

/// Encodes one reply as a data stream. Create a new one for every reply.
#[derive(Debug, Default)]
pub struct DataStream {
    /// The message id of the steps, once the message has begun.
    message: Option<MessageId>,
    /// Whether a step has begun. The first `StepStart` writes nothing, because `Start` begins the first step.
    has_begun_step: bool,
    ended: bool,
}

impl DataStream {
    pub const fn new() -> Self {
        Self { message: None, has_begun_step: false, ended: false }
    }
}

impl Encoder for DataStream {
    const CONTENT_TYPE: &'static str = "text/plain; charset=utf-8";
    const PROTOCOL_HEADER: (&'static str, &'static str) = ("x-vercel-ai-data-stream", "v1");
    /// An empty line, because the protocol has no comments.
    const KEEP_ALIVE: &'static [u8] = b"\n";

    fn ended(&self) -> bool {
        self.ended
    }

    fn encode(&mut self, event: &StreamEvent, out: &mut BytesMut) {
        if self.ended {
            return;
        }
        match event {
            StreamEvent::TextDelta { text, .. } => line(b'0', text, out),
            StreamEvent::KeepAlive => out.extend_from_slice(Self::KEEP_ALIVE),
            StreamEvent::Start { message_id, thread_id } => {
                self.message = Some(*message_id);
                line(b'f', &Start { message_id: *message_id }, out);
                if let Some(thread_id) = *thread_id {
                    line(b'8', &[Annotation { thread_id }], out);
                }
            }
            // Each step repeats the message's id; a different id would rename the message.
            StreamEvent::StepStart => {
                if let Some(message_id) = self.message.filter(|_| self.has_begun_step) {
                    line(b'f', &Start { message_id }, out);
                }
                self.has_begun_step = true;
            }
            StreamEvent::ToolCall { id, name, input } => {
                line(b'9', &ToolCall { tool_call_id: id, tool_name: name, args: Args(input) }, out);
            }
            StreamEvent::ToolResult { id, output } => {
                line(b'a', &ToolResult { tool_call_id: id, result: SearchResult(output) }, out);
            }
            StreamEvent::Source { id, passage } => line(b'h', &Source::of(id, passage), out),
            StreamEvent::StepFinish { reason, usage } => {
                line(b'e', &StepFinish { finish_reason: *reason, usage: usage.into(), is_continued: false }, out);
            }
            StreamEvent::Finish { reason, usage, thread_id } => {
                if let Some(thread_id) = *thread_id {
                    line(b'2', &[FinishData { kind: "finish", thread_id }], out);
                }
                line(b'd', &Finish { finish_reason: *reason, usage: usage.into(), thread_id: *thread_id }, out);
                self.ended = true;
            }
            StreamEvent::Error { sentence } => {
                line(b'3', sentence, out);
                self.ended = true;
            }
            // Text parts have no start or end in this protocol, and its clients read no data of other names.
            StreamEvent::TextStart { .. } | StreamEvent::TextEnd { .. } | StreamEvent::Data { .. } => {}
        }
    }
}

fn line<T: Serialize + ?Sized>(letter: u8, value: &T, out: &mut BytesMut) {
    out.extend_from_slice(&[letter, b':']);
    json(value, out);
    out.extend_from_slice(b"\n");
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Start {
    message_id: MessageId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotation {
    thread_id: ThreadId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall<'a> {
    tool_call_id: &'a str,
    tool_name: &'a str,
    args: Args<'a>,
}

/// The input of a call as an object, which clients require.
struct Args<'a>(&'a Value);

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_object() { self.0.serialize(serializer) } else { serializer.collect_map([("input", self.0)]) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult<'a> {
    tool_call_id: &'a str,
    result: SearchResult<'a>,
}

/// The result of a search. Most clients read `results`; some treat the result itself as a hit, so it also has the
/// fields of the best hit, empty when nothing was found. The result of a failed call is empty, because the protocol
/// cannot express failure. Results of other tools are passed on unchanged.
struct SearchResult<'a>(&'a ToolOutput);

impl Serialize for SearchResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ToolOutput::Passages(passages) => SearchResultBody::of(passages).serialize(serializer),
            ToolOutput::Json(given) => given.serialize(serializer),
            ToolOutput::Error(_) => SearchResultBody::of(&[]).serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct SearchResultBody<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    results: Vec<PassageBody<'a>>,
    #[serde(flatten)]
    best: PassageBody<'a>,
}

#[derive(Clone, Default, Serialize)]
struct PassageBody<'a> {
    content: String,
    path: Cow<'a, str>,
    url: &'a str,
    metadata: PassageMetadata<'a>,
}

impl<'a> SearchResultBody<'a> {
    fn of(passages: &'a [Arc<Passage>]) -> Self {
        let results: Vec<PassageBody<'a>> = passages.iter().map(|passage| PassageBody::of(passage)).collect();
        let best = results.first().cloned().unwrap_or_default();
        Self { kind: "search", results, best }
    }
}

impl<'a> PassageBody<'a> {
    fn of(passage: &'a Passage) -> Self {
        let (content, path) = (passage.under_headings(), passage.encoded_path());
        Self { content, path, url: &passage.href, metadata: PassageMetadata::of(passage) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Source<'a> {
    source_type: &'static str,
    id: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    provider_metadata: ProviderMetadata<'a>,
}

impl<'a> Source<'a> {
    fn of(id: &'a str, passage: &'a Passage) -> Self {
        Self {
            source_type: "url",
            id,
            url: &passage.href,
            title: title(passage),
            provider_metadata: ProviderMetadata::of(passage),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepFinish {
    finish_reason: FinishReason,
    usage: Tokens,
    is_continued: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FinishData {
    #[serde(rename = "type")]
    kind: &'static str,
    thread_id: ThreadId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finish {
    finish_reason: FinishReason,
    usage: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<ThreadId>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens }
    }
}

#[cfg(test)]
mod tests;
