//! A model that plays a script, for tests.
//!
//! ```
//! # use docent_llm::scripted::{Reply, Scripted};
//! # use serde_json::json;
//! let model = Scripted::new();
//! model.replies("I will look.");
//! model.replies(Reply::text("One moment.").call("read", json!({ "path": "index.mdx" })));
//! // … run what is under test with `model.clone()` …
//! assert_eq!(model.requests().len(), 0);
//! ```
//!
//! Clones share the script. A reply that has to wait, waits at a [`ReplyGate`] that the test opens; nothing sleeps.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use docent_types::{FinishReason, Usage};
use futures::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Semaphore, watch};

use crate::error::{ModelError, ModelErrorKind};
use crate::model::{Description, Event, EventStream, Model, Request};

/// A model that gives prepared replies in order, and records its requests.
#[derive(Debug, Clone)]
pub struct Scripted {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<ScriptState>,
    cancelled: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct ScriptState {
    script: VecDeque<Reply>,
    requests: Vec<Request>,
    calls: usize,
}

impl Default for Scripted {
    fn default() -> Self {
        Self::new()
    }
}

impl Scripted {
    /// An empty script. A model asked past the end of its script fails as [`ModelErrorKind::Fatal`].
    pub fn new() -> Self {
        Self { shared: Arc::new(Shared { state: Mutex::default(), cancelled: watch::Sender::new(0) }) }
    }

    /// Adds a reply to the end of the script: a text, or a [`Reply`].
    pub fn replies(&self, reply: impl Into<Reply>) -> &Self {
        self.shared.state.lock().script.push_back(reply.into());
        self
    }

    /// Adds a reply that is one tool call.
    pub fn calls(&self, tool: &str, input: Value) -> &Self {
        self.replies(Reply::default().call(tool, input))
    }

    /// Adds a failure before the first event.
    pub fn fails(&self, kind: ModelErrorKind) -> &Self {
        self.replies(Reply { refusal: Some(kind), ..Reply::default() })
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state.lock().requests.clone()
    }

    /// The number of replies left in the script.
    pub fn remaining(&self) -> usize {
        self.shared.state.lock().script.len()
    }

    /// The number of streams that were dropped before their end.
    pub fn cancelled(&self) -> usize {
        *self.shared.cancelled.borrow()
    }

    /// Waits until `count` streams were dropped before their end.
    pub async fn is_cancelled(&self, count: usize) {
        let mut receiver = self.shared.cancelled.subscribe();
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = receiver.wait_for(|seen| *seen >= count).await;
    }
}

#[async_trait]
impl Model for Scripted {
    fn describe(&self) -> Description {
        Description::new("scripted", "scripted")
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let reply = {
            let mut state = self.shared.state.lock();
            state.requests.push(request);
            state.script.pop_front()
        };
        let reply = reply.ok_or_else(|| {
            ModelError::new(ModelErrorKind::Fatal, "the scripted model was asked more often than it has replies")
        })?;
        if let Some(kind) = reply.refusal {
            return Err(ModelError::new(kind, "the scripted model was told to fail"));
        }
        let steps = stream::iter(reply.steps(self)).then(|step| async move {
            match step {
                ScriptStep::Event(event) => Some(Ok(event)),
                ScriptStep::Cut(kind) => Some(Err(ModelError::new(kind, "the scripted reply was told to break off"))),
                ScriptStep::Wait(gate) => {
                    gate.passed().await;
                    None
                }
            }
        });
        let events = steps.filter_map(std::future::ready).boxed();
        Ok(Watched { events, model: self.clone(), ended: false }.boxed())
    }
}

/// One reply of a script: what happens, in order, then the end.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    refusal: Option<ModelErrorKind>,
    steps: Vec<ScriptStep>,
    usage: Usage,
    reason: Option<FinishReason>,
}

#[derive(Debug, Clone)]
enum ScriptStep {
    /// The id of a tool call is assigned when it is sent.
    Event(Event),
    Cut(ModelErrorKind),
    Wait(ReplyGate),
}

impl Reply {
    /// A reply that begins with text, streamed word by word.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().say(text)
    }

    /// Adds text.
    #[must_use]
    pub fn say(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        // Each word keeps the whitespace after it, so that the words concatenate to the text.
        let words = text.split_inclusive(char::is_whitespace);
        self.steps.extend(words.map(|word| ScriptStep::Event(Event::TextDelta(word.to_owned()))));
        self
    }

    /// Adds a tool call. Ids are `call-1`, `call-2`, … in order of the whole script.
    #[must_use]
    pub fn call(self, tool: &str, input: Value) -> Self {
        self.with(ScriptStep::Event(Event::ToolCall { id: String::new(), name: tool.to_owned(), input }))
    }

    /// Waits here until the gate is opened.
    #[must_use]
    pub fn wait(self, gate: &ReplyGate) -> Self {
        self.with(ScriptStep::Wait(gate.clone()))
    }

    /// Breaks off here with this error.
    #[must_use]
    pub fn cut(self, kind: ModelErrorKind) -> Self {
        self.with(ScriptStep::Cut(kind))
    }

    /// The reported usage of the reply, in tokens.
    #[must_use]
    pub fn costs(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage = Usage::of(input_tokens, output_tokens);
        self
    }

    /// The reason for the end, if it is neither `Stop` (a text) nor `ToolCalls` (with calls).
    #[must_use]
    pub fn ends(mut self, reason: FinishReason) -> Self {
        self.reason = Some(reason);
        self
    }

    fn with(mut self, step: ScriptStep) -> Self {
        self.steps.push(step);
        self
    }

    /// The steps with ids assigned and the end added, unless the reply breaks off before.
    fn steps(mut self, model: &Scripted) -> Vec<ScriptStep> {
        let mut reason = FinishReason::Stop;
        for step in &mut self.steps {
            if let ScriptStep::Event(Event::ToolCall { id, .. }) = step {
                reason = FinishReason::ToolCalls;
                let mut state = model.shared.state.lock();
                state.calls += 1;
                *id = format!("call-{}", state.calls);
            }
        }
        if let Some(cut) = self.steps.iter().position(|step| matches!(step, ScriptStep::Cut(_))) {
            self.steps.truncate(cut + 1);
            return self.steps;
        }
        let (reason, usage) = (self.reason.unwrap_or(reason), self.usage);
        self.with(ScriptStep::Event(Event::Done { reason, usage })).steps
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Delays a reply until the test opens the gate.
#[derive(Debug, Clone)]
pub struct ReplyGate(Arc<Semaphore>);

impl Default for ReplyGate {
    fn default() -> Self {
        Self::closed()
    }
}

impl ReplyGate {
    /// A closed gate.
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Opens the gate permanently.
    pub fn open(&self) {
        self.0.close();
    }

    async fn passed(&self) {
        // A closed semaphore is an open gate: every wait for a permit ends at once.
        let _ = self.0.acquire().await;
    }
}

/// Detects a stream that is dropped before its end.
struct Watched {
    events: EventStream,
    model: Scripted,
    ended: bool,
}

impl Stream for Watched {
    type Item = Result<Event, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.events.as_mut().poll_next(context);
        if let Poll::Ready(None | Some(Err(_) | Ok(Event::Done { .. }))) = polled {
            self.ended = true;
        }
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.ended {
            self.model.shared.cancelled.send_modify(|count| *count += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{Message, Role};
    use serde_json::json;

    use super::*;
    use crate::model::ToolChoice;

    fn request(text: &str) -> Request {
        Request {
            system: String::new(),
            messages: vec![Message::text(Role::User, text)],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_tokens: 100,
        }
    }

    #[tokio::test]
    async fn it_plays_its_script_and_remembers_what_it_was_asked() {
        let model = Scripted::new();
        model.replies(Reply::text("on my way").call("read", json!({})).costs(3, 2));
        model.fails(ModelErrorKind::Overloaded { retry_after: None });
        let events: Vec<_> = model.stream(request("go")).await.expect("a stream").map(Result::unwrap).collect().await;
        assert_eq!(
            events,
            [
                Event::TextDelta("on ".into()),
                Event::TextDelta("my ".into()),
                Event::TextDelta("way".into()),
                Event::ToolCall { id: "call-1".into(), name: "read".into(), input: json!({}) },
                Event::Done { reason: FinishReason::ToolCalls, usage: Usage::of(3, 2) },
            ]
        );
        let refused = model.stream(request("again")).await.err().expect("a failure");
        assert_eq!(refused.kind, ModelErrorKind::Overloaded { retry_after: None });
        assert_eq!(model.stream(request("more")).await.err().expect("no script left").kind, ModelErrorKind::Fatal);
        assert_eq!(model.requests().len(), 3);
        assert_eq!(model.cancelled(), 0);
    }

    #[tokio::test]
    async fn a_reply_waits_at_its_gate_and_a_dropped_stream_is_noticed() {
        let model = Scripted::new();
        let gate = ReplyGate::closed();
        model.replies(Reply::text("first ").wait(&gate).say("second"));
        model.replies(Reply::text("never").wait(&ReplyGate::closed()));
        let mut stream = model.stream(request("go")).await.expect("a stream");
        assert_eq!(stream.next().await.expect("open").expect("an event"), Event::TextDelta("first ".into()));
        assert!(futures::poll!(stream.next()).is_pending());
        gate.open();
        assert_eq!(stream.next().await.expect("open").expect("an event"), Event::TextDelta("second".into()));
        assert!(matches!(stream.next().await, Some(Ok(Event::Done { .. }))));
        drop(stream);
        assert_eq!(model.cancelled(), 0);

        drop(model.stream(request("go")).await.expect("a stream"));
        model.is_cancelled(1).await;
        assert_eq!(model.cancelled(), 1);
    }

    #[tokio::test]
    async fn a_reply_can_break_off() {
        let model = Scripted::new();
        model.replies(Reply::text("half").cut(ModelErrorKind::Interrupted));
        let events: Vec<_> = model.stream(request("go")).await.expect("a stream").collect().await;
        assert_eq!(events.len(), 2);
        assert_eq!(events[1].as_ref().expect_err("an error").kind, ModelErrorKind::Interrupted);
    }
}
