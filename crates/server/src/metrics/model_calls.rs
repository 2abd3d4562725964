//! Counts model calls, their failures, time and tokens.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_types::Usage;
use futures::Stream;
use parking_lot::Mutex;

/// The counts by configured model. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelCalls(Arc<Mutex<BTreeMap<String, CallCounts>>>);

/// The counts of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    pub(super) done: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    /// The total usage of the calls that succeeded.
    pub(super) usage: Usage,
}

impl ModelCalls {
    /// Wraps a model so that its calls are counted.
    pub(crate) fn of(&self, name: &str, model: Arc<dyn Model>) -> Arc<dyn Model> {
        Arc::new(CountedModel { name: name.to_owned(), model, calls: self.clone() })
    }

    pub(super) fn totals(&self) -> BTreeMap<String, CallCounts> {
        self.0.lock().clone()
    }

    fn count(&self, name: &str, count: impl FnOnce(&mut CallCounts)) {
        count(self.0.lock().entry(name.to_owned()).or_default());
    }
}

#[derive(Debug)]
struct CountedModel {
    name: String,
    model: Arc<dyn Model>,
    calls: ModelCalls,
}

#[async_trait]
impl Model for CountedModel {
    fn describe(&self) -> Description {
        self.model.describe()
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        // Dropped before the first event: the call was cancelled.
        let mut call = CallGuard { name: self.name.clone(), calls: self.calls.clone(), ended: false };
        match self.model.stream(request).await {
            Ok(events) => Ok(Box::pin(CountedStream { events, call })),
            Err(error) => {
                call.ends(|calls| calls.failed += 1);
                Err(error)
            }
        }
    }
}

/// Ensures that a call is counted exactly once.
struct CallGuard {
    name: String,
    calls: ModelCalls,
    ended: bool,
}

impl CallGuard {
    fn ends(&mut self, count: impl FnOnce(&mut CallCounts)) {
        if !std::mem::replace(&mut self.ended, true) {
            self.calls.count(&self.name, count);
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.ends(|calls| calls.cancelled += 1);
    }
}

struct CountedStream {
    events: EventStream,
    call: CallGuard,
}

impl Stream for CountedStream {
    type Item = Result<Event, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = std::task::ready!(self.events.as_mut().poll_next(cx));
        match &next {
            Some(Ok(Event::Done { usage, .. })) => {
                let usage = *usage;
                self.call.ends(|calls| {
                    calls.done += 1;
                    calls.usage += usage;
                });
            }
            Some(Err(_)) | None => self.call.ends(|calls| calls.failed += 1),
            Some(Ok(Event::TextDelta(_) | Event::ToolCall { .. })) => {}
        }
        Poll::Ready(next)
    }
}

#[cfg(test)]
mod tests {
    use docent_llm::ModelErrorKind;
    use docent_llm::ToolChoice;
    use docent_llm::scripted::{Reply, Scripted};
    use docent_types::{Message, Role};
    use futures::StreamExt;

    use super::*;

    fn request() -> Request {
        Request {
            system: String::new(),
            messages: vec![Message::text(Role::User, "How?")],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_tokens: 100,
        }
    }

    #[tokio::test]
    async fn each_call_is_counted_once_by_how_it_ended() {
        let (script, calls) = (Scripted::new(), ModelCalls::default());
        script.replies("So.").replies("So.").fails(ModelErrorKind::Fatal);
        script.replies(Reply::text("So").cut(ModelErrorKind::Fatal)).replies("Never read.");
        let model = calls.of("sonnet", Arc::new(script));
        for _ in 0..2 {
            let read: Vec<_> = model.stream(request()).await.expect("a reply").collect().await;
            assert!(matches!(read.last(), Some(Ok(Event::Done { .. }))));
        }
        assert!(model.stream(request()).await.is_err());
        let cut: Vec<_> = model.stream(request()).await.expect("a reply").collect().await;
        assert!(matches!(cut.last(), Some(Err(_))));
        drop(model.stream(request()).await.expect("a reply"));
        let counted = calls.totals()["sonnet"];
        assert_eq!((counted.done, counted.failed, counted.cancelled), (2, 2, 1));
        assert!(counted.usage.output_tokens > 0 || counted.usage == Usage::default());
    }
}
