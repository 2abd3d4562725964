//! Chat completions, as OpenAI's SDKs and the many clients of that protocol read them, streamed and whole.
//!
//! ```text
//! data: {"id":"chatcmpl-…","object":"chat.completion.chunk","created":…,"model":"acme","choices":[{"index":0,"delta":{"content":"Retries are"},…}]}
//!
//! data: [DONE]
//! ```
//!
//! Most clients show the text alone, so the sources are at its end; those that know annotations find them there by
//! position.

use std::fmt::Write as _;

use bytes::BytesMut;
use docent_types::{FinishReason, StreamEvent, Usage};
use serde::Serialize;
use serde_json::{Value, json};

use crate::encoder::{Encoder, json as write_json};

/// What all parts of one completion repeat.
#[derive(Debug, Clone, Serialize)]
pub struct CompletionHead {
    /// `chatcmpl-` and an id of its own.
    pub id: String,
    /// Seconds since 1970.
    pub created: i64,
    pub model: String,
}

/// A page that a completion is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedPage {
    pub title: String,
    pub url: String,
}

/// Encodes one reply as a streamed chat completion. Create a new one for every reply.
#[derive(Debug)]
pub struct ChatCompletions {
    head: CompletionHead,
    /// The URL of the docs site, without a trailing slash; empty if it is not known.
    site: String,
    includes_usage: bool,
    sources: Vec<CitedPage>,
    /// In characters, so far.
    length: usize,
    ended: bool,
}

impl ChatCompletions {
    /// `includes_usage`: whether the client wants the tokens in a part of their own.
    pub const fn new(head: CompletionHead, site: String, includes_usage: bool) -> Self {
        Self { head, site, includes_usage, sources: Vec::new(), length: 0, ended: false }
    }

    fn delta(&self, delta: &Value, reason: Option<FinishReason>, out: &mut BytesMut) {
        let reason = reason.map(finish_reason);
        self.chunk(&json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}]), None, out);
    }

    fn text(&mut self, text: &str, out: &mut BytesMut) {
        if !text.is_empty() {
            self.length += text.chars().count();
            self.delta(&json!({"content": text}), None, out);
        }
    }

    fn chunk(&self, choices: &Value, usage: Option<Usage>, out: &mut BytesMut) {
        let mut chunk = object(&self.head, "chat.completion.chunk", choices);
        if self.includes_usage {
            chunk["usage"] = usage.map(tokens).unwrap_or_default();
        }
        frame(&chunk, out);
    }
}

impl Encoder for ChatCompletions {
    const CONTENT_TYPE: &'static str = "text/event-stream; charset=utf-8";
    const PROTOCOL_HEADER: (&'static str, &'static str) = ("openai-version", "2020-10-01");
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
            StreamEvent::Start { .. } => self.delta(&json!({"role": "assistant", "content": ""}), None, out),
            StreamEvent::TextStart { .. } if self.length > 0 => self.text("\n\n", out),
            StreamEvent::TextDelta { text, .. } => self.text(text, out),
            StreamEvent::Source { passage, .. } => {
                let url = format!("{}{}", self.site, passage.href);
                self.sources.push(CitedPage { title: passage.title.clone(), url });
            }
            StreamEvent::Finish { reason, usage, .. } => {
                let (text, annotations) = sources_after(self.length, &self.sources);
                self.text(&text, out);
                if !annotations.is_empty() {
                    self.delta(&json!({"annotations": annotations}), None, out);
                }
                self.delta(&json!({}), Some(*reason), out);
                if self.includes_usage {
                    self.chunk(&json!([]), Some(*usage), out);
                }
                out.extend_from_slice(b"data: [DONE]\n\n");
                self.ended = true;
            }
            StreamEvent::Error { sentence } => {
                frame(
                    &json!({"error": {"message": sentence, "type": "server_error", "code": null, "param": null}}),
                    out,
                );
                self.ended = true;
            }
            _ => {}
        }
    }
}

/// A whole chat completion.
pub fn chat_completion(
    head: &CompletionHead,
    text: &str,
    sources: &[CitedPage],
    reason: FinishReason,
    usage: Usage,
) -> Value {
    let (listed, annotations) = sources_after(text.chars().count(), sources);
    let content = format!("{text}{listed}");
    let message = json!({"role": "assistant", "content": content, "refusal": null, "annotations": annotations});
    let choices = json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(reason)}]);
    let mut completion = object(head, "chat.completion", &choices);
    completion["usage"] = tokens(usage);
    completion
}

fn object(head: &CompletionHead, kind: &str, choices: &Value) -> Value {
    json!({"id": head.id, "object": kind, "created": head.created, "model": head.model, "choices": choices})
}

/// The list of sources behind a text of this many characters, and an annotation for each.
fn sources_after(length: usize, sources: &[CitedPage]) -> (String, Vec<Value>) {
    let (mut text, mut annotations) = (String::new(), Vec::new());
    if !sources.is_empty() {
        text.push_str("\n\nSources:\n");
    }
    let mut at = length + text.chars().count();
    for CitedPage { title, url } in sources {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("- [{}]({url})", title.replace('[', "(").replace(']', ")"));
        let end = at + line.chars().count();
        let citation = json!({"start_index": at + 2, "end_index": end, "title": title, "url": url});
        annotations.push(json!({"type": "url_citation", "url_citation": citation}));
        let _ = writeln!(text, "{line}");
        at = end + 1;
    }
    text.truncate(text.trim_end().len());
    (text, annotations)
}

const fn finish_reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        // The assistant's own tools are no tools of the client.
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Error | FinishReason::Other => "stop",
    }
}

fn tokens(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
    })
}

fn frame(value: &Value, out: &mut BytesMut) {
    out.extend_from_slice(b"data: ");
    write_json(value, out);
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use docent_types::{MessageId, Passage};
    use uuid::Uuid;

    use super::*;

    fn head() -> CompletionHead {
        CompletionHead { id: "chatcmpl-1".to_owned(), created: 1_795_000_000, model: "acme".to_owned() }
    }

    fn source() -> StreamEvent {
        let passage = Passage {
            path: "guides/retries".into(),
            href: "/guides/retries#backoff".into(),
            title: "Retries [new]".into(),
            headings: Vec::new(),
            content: String::new(),
            score: 0.5,
            version: None,
            language: None,
        };
        StreamEvent::Source { id: "source-1".into(), passage: Arc::new(passage) }
    }

    fn delta(text: &str) -> StreamEvent {
        StreamEvent::TextDelta { id: "1".into(), text: text.into() }
    }

    /// The JSON of the frames, without `[DONE]`, which is counted.
    fn encoded(encoder: &mut ChatCompletions, events: &[StreamEvent]) -> (Vec<Value>, usize) {
        let mut out = BytesMut::new();
        events.iter().for_each(|event| encoder.encode(event, &mut out));
        let text = String::from_utf8(out.to_vec()).expect("text");
        let data: Vec<&str> = text.split("\n\n").filter_map(|frame| frame.strip_prefix("data: ")).collect();
        let done = data.iter().filter(|data| **data == "[DONE]").count();
        let data = data.iter().filter(|data| **data != "[DONE]");
        (data.map(|data| serde_json::from_str(data).expect("JSON")).collect(), done)
    }

    #[test]
    fn the_streamed_text_and_its_annotations_are_those_of_the_whole_completion() {
        let mut encoder = ChatCompletions::new(head(), "https://acme.test/docs".to_owned(), true);
        let start = StreamEvent::Start { message_id: MessageId::new(Uuid::from_u128(1)), thread_id: None };
        let (reason, usage) = (FinishReason::Length, Usage::of(3, 4));
        let finish = StreamEvent::Finish { reason, usage, thread_id: None };
        let begins = StreamEvent::TextStart { id: "1".into() };
        let events = [start, begins.clone(), delta("Größe"), begins, delta("zählt."), source(), finish, delta("late")];
        let (chunks, done) = encoded(&mut encoder, &events);
        assert_eq!((done, encoder.ended()), (1, true));
        let delta = |name: &str| {
            chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"].get(name).cloned()).collect::<Vec<_>>()
        };
        let text: String = delta("content").iter().filter_map(Value::as_str).collect();
        let page =
            CitedPage { title: "Retries [new]".into(), url: "https://acme.test/docs/guides/retries#backoff".into() };
        let whole = chat_completion(&head(), "Größe\n\nzählt.", &[page], reason, usage);
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["content"], text);
        assert_eq!(delta("annotations"), [message["annotations"].clone()]);
        let cited = &message["annotations"][0]["url_citation"];
        let span = |name: &str| cited[name].as_u64().and_then(|at| usize::try_from(at).ok()).expect("a position");
        let cited: String =
            text.chars().skip(span("start_index")).take(span("end_index") - span("start_index")).collect();
        assert_eq!(cited, "[Retries (new)](https://acme.test/docs/guides/retries#backoff)");
        assert_eq!(chunks.last().expect("the tokens")["usage"]["total_tokens"], 7);
        assert_eq!(whole["choices"][0]["finish_reason"], "length");
    }

    #[test]
    fn a_reply_without_sources_lists_none_and_one_that_fails_is_an_error() {
        let mut encoder = ChatCompletions::new(head(), String::new(), false);
        let finish = StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::default(), thread_id: None };
        let (chunks, _) = encoded(&mut encoder, &[delta("No."), finish]);
        assert_eq!(chunks.len(), 2, "{chunks:?}");
        assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));
        let mut encoder = ChatCompletions::new(head(), String::new(), false);
        let (chunks, done) = encoded(&mut encoder, &[delta("No"), StreamEvent::Error { sentence: "It broke.".into() }]);
        assert_eq!((chunks[1]["error"]["message"].as_str(), done), (Some("It broke."), 0));
    }
}
