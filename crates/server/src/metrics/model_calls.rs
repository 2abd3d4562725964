//! Counts and times model calls, by how they ended, and their tokens.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use async_trait::async_trait;
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_types::{Durations, Usage};
use futures::Stream;
use parking_lot::Mutex;

/// The counts by configured model. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelCalls(Arc<Mutex<BTreeMap<String, Arc<CallCounts>>>>);

/// The counts of one model.
#[derive(Debug, Default)]
pub(super) struct CallCounts {
    pub(super) done: Durations,
    pub(super) failed: Durations,
    pub(super) cancelled: Durations,
    // The usage of the calls that succeeded.
    pub(super) input_tokens: AtomicU64,
    pub(super) output_tokens: AtomicU64,
    pub(super) cached_input_tokens: AtomicU64,
}

impl CallCounts {
    pub(super) fn by_outcome(&self) -> [(&'static str, &Durations); 3] {
        [("done", &self.done), ("failed", &self.failed), ("cancelled", &self.cancelled)]
    }

    fn used(&self, usage: Usage) {
        self.input_tokens.fetch_add(usage.input_tokens, Ordering::Relaxed);
        self.output_tokens.fetch_add(usage.output_tokens, Ordering::Relaxed);
        self.cached_input_tokens.fetch_add(usage.cached_input_tokens, Ordering::Relaxed);
    }
}

impl ModelCalls {
    /// Wraps a model so that its calls are counted.
    pub(crate) fn of(&self, name: &str, model: Arc<dyn Model>) -> Arc<dyn Model> {
        let counts = Arc::clone(self.0.lock().entry(name.to_owned()).or_default());
        Arc::new(CountedModel { model, counts })
    }

    pub(super) fn of_all(&self) -> BTreeMap<String, Arc<CallCounts>> {
        self.0.lock().clone()
    }
}

#[derive(Debug)]
struct CountedModel {
    model: Arc<dyn Model>,
    counts: Arc<CallCounts>,
}

#[async_trait]
impl Model for CountedModel {
    fn describe(&self) -> Description {
        self.model.describe()
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        // Dropped before the first event: the call was cancelled.
        let mut call = CallGuard { counts: Arc::clone(&self.counts), begun: Instant::now(), ended: false };
        match self.model.stream(request).await {
            Ok(events) => Ok(Box::pin(CountedStream { events, call })),
            Err(error) => {
                call.ends(|counts| &counts.failed);
                Err(error)
            }
        }
    }
}

/// Ensures that a call is counted exactly once.
struct CallGuard {
    counts: Arc<CallCounts>,
    begun: Instant,
    ended: bool,
}

impl CallGuard {
    fn ends(&mut self, outcome: impl FnOnce(&CallCounts) -> &Durations) {
        if !std::mem::replace(&mut self.ended, true) {
            outcome(&self.counts).record(self.begun.elapsed());
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.ends(|counts| &counts.cancelled);
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
                if !self.call.ended {
                    self.call.counts.used(*usage);
                }
                self.call.ends(|counts| &counts.done);
            }
            Some(Err(_)) | None => self.call.ends(|counts| &counts.failed),
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
        let counted = &calls.of_all()["sonnet"];
        let counts = [&counted.done, &counted.failed, &counted.cancelled].map(|durations| durations.counts().count);
        assert_eq!(counts, [2, 2, 1]);
    }
}
