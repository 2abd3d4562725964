//! Makes one model call and collects the reply.

use std::collections::HashSet;

use docent_llm::{Event, MOST_CALLS, Model, ModelError, ModelErrorKind, Request, ToolChoice};
use docent_types::{ContentPart, FinishReason, Message, Role, Usage};
use futures::StreamExt;

use crate::transcript::TranscriptEntry;

/// Maximum size of a reply in bytes: its text and the inputs of its calls together.
const LONGEST: usize = 4 << 20;

/// A complete reply of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    pub message: Message,
    pub reason: FinishReason,
    pub usage: Usage,
}

impl From<ModelReply> for TranscriptEntry {
    fn from(reply: ModelReply) -> Self {
        Self::Replied { message: reply.message, reason: reply.reason, usage: reply.usage }
    }
}

/// Calls the model once and collects its reply; `on_event` sees each event as it arrives. After an error nothing was
/// collected, and the same request may be retried if the error's kind allows it; `on_event` then sees its text again.
/// Tool calls are dropped if the request does not allow any. If there are too many calls, the first one over the limit
/// is kept, so that [`crate::run_tools`] refuses it, and the rest are dropped.
pub async fn call_model(
    model: &dyn Model,
    request: Request,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<ModelReply, ModelError> {
    let mut taken: HashSet<String> = request.messages.iter().flat_map(call_ids).collect();
    let may_call = request.tool_choice != ToolChoice::None;
    let mut stream = model.stream(request).await?;
    let mut parts: Vec<ContentPart> = Vec::new();
    let (mut calls, mut length) = (0, 0);
    while let Some(event) = stream.next().await {
        let event = event?;
        on_event(&event);
        length += length_of(&event);
        if length > LONGEST {
            return Err(ModelError::new(ModelErrorKind::Fatal, "its reply is longer than any reply should be"));
        }
        match event {
            Event::TextDelta(delta) => match parts.last_mut() {
                Some(ContentPart::Text { text }) => text.push_str(&delta),
                _ => parts.push(ContentPart::Text { text: delta }),
            },
            Event::ToolCall { .. } if !may_call || calls > MOST_CALLS => {}
            Event::ToolCall { id, name, input } => {
                calls += 1;
                // A result refers to its call by the id, so ids must be unique.
                let mut unique = id.clone();
                let mut count = 1;
                while unique.is_empty() || !taken.insert(unique.clone()) {
                    count += 1;
                    unique = format!("{id}-{count}");
                }
                parts.push(ContentPart::ToolCall { id: unique, name, input });
            }
            Event::Done { reason, usage } => {
                return Ok(ModelReply { message: Message { role: Role::Assistant, parts }, reason, usage });
            }
        }
    }
    Err(ModelError::new(ModelErrorKind::Interrupted, "the model's reply broke off before its end"))
}

fn length_of(event: &Event) -> usize {
    match event {
        Event::TextDelta(delta) => delta.len(),
        Event::ToolCall { id, name, input } => id.len() + name.len() + input.to_string().len(),
        Event::Done { .. } => 0,
    }
}

fn call_ids(message: &Message) -> impl Iterator<Item = String> {
    message.parts.iter().filter_map(|part| match part {
        ContentPart::ToolCall { id, .. } => Some(id.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use docent_llm::scripted::{Reply as Script, Scripted};
    use serde_json::json;

    use super::*;

    fn request() -> Request {
        Request {
            system: String::new(),
            messages: vec![Message::text(Role::User, "go")],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_tokens: 10,
        }
    }

    #[tokio::test]
    async fn a_reply_is_collected_while_its_events_are_seen() {
        let model = Scripted::new();
        model.replies(Script::text("on it").call("read", json!({"path": "a"})).say("now").costs(5, 6));
        let mut seen = 0;
        let reply = call_model(&model, request(), |_| seen += 1).await.expect("a reply");
        assert_eq!(
            reply.message.parts,
            [
                ContentPart::Text { text: "on it".into() },
                ContentPart::ToolCall { id: "call-1".into(), name: "read".into(), input: json!({"path": "a"}) },
                ContentPart::Text { text: "now".into() },
            ]
        );
        assert_eq!((reply.usage.output_tokens, seen), (6, 5));
    }

    #[tokio::test]
    async fn of_a_reply_with_too_many_calls_one_too_many_is_kept() {
        let model = Scripted::new();
        let script = (0..60_000).fold(Script::text("on it"), |script, _| script.call("read", json!({"path": "a"})));
        model.replies(script);
        let reply = call_model(&model, request(), |_| ()).await.expect("a reply");
        assert_eq!(reply.message.parts.len(), 1 + MOST_CALLS + 1);
    }

    #[tokio::test]
    async fn a_reply_that_does_not_end_is_given_up() {
        let model = Scripted::new();
        let words = "word ".repeat(LONGEST / 10);
        model.replies(Script::text(&words).call("write", json!({"path": "a.md", "content": &words})).say("more"));
        let error = call_model(&model, request(), |_| ()).await.expect_err("too long");
        assert_eq!(error.kind, ModelErrorKind::Fatal);
    }

    #[tokio::test]
    async fn a_reply_that_breaks_off_is_an_error() {
        let model = Scripted::new();
        model.replies(Script::text("half a").cut(ModelErrorKind::Overloaded { retry_after: None }));
        let error = call_model(&model, request(), |_| ()).await.expect_err("broken off");
        assert_eq!(error.kind, ModelErrorKind::Overloaded { retry_after: None });
    }
}
