//! A reply in progress.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use docent_types::StreamEvent;
use futures::Stream;
use futures::stream::BoxStream;

use crate::permit::{Permit, ReplyOutcome};

/// The events of a reply, and the permit it holds meanwhile.
///
/// Ends after the last event. Dropping it before that cancels the model call.
pub(crate) struct Live {
    events: BoxStream<'static, StreamEvent>,
    /// `None` after the last event.
    permit: Option<Permit>,
}

impl Live {
    pub(crate) fn new(events: BoxStream<'static, StreamEvent>, mut permit: Permit) -> Self {
        permit.set_outcome(ReplyOutcome::Begun);
        Self { events, permit: Some(permit) }
    }
}

impl Stream for Live {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        if self.permit.is_none() {
            return Poll::Ready(None);
        }
        let event = ready!(self.events.as_mut().poll_next(cx));
        if let (Some(StreamEvent::TextDelta { .. }), Some(permit)) = (&event, &mut self.permit) {
            permit.has_words();
        }
        let outcome = match &event {
            Some(StreamEvent::Finish { .. }) => ReplyOutcome::Finished,
            // A stream that ends without its last event counts as failed.
            Some(StreamEvent::Error { .. }) | None => ReplyOutcome::Failed,
            Some(_) => return Poll::Ready(event),
        };
        if let Some(mut permit) = self.permit.take() {
            permit.set_outcome(outcome);
        }
        Poll::Ready(event)
    }
}
