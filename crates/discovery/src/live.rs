//! A reply that is being made.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use docent_types::StreamEvent;
use futures::Stream;
use futures::stream::BoxStream;

use crate::replies::{Outcome, Place};

/// The events of a reply, and the place it holds while they come.
///
/// Ends after the last word. Dropping it before that is what cancels the model call.
pub(crate) struct Live {
    events: BoxStream<'static, StreamEvent>,
    /// `None` once the last word was said. Apart, for nobody looks into it until then.
    place: Option<Box<Place>>,
}

impl Live {
    pub(crate) fn new(events: BoxStream<'static, StreamEvent>, mut place: Place) -> Self {
        place.comes_to(Outcome::Begun);
        Self { events, place: Some(Box::new(place)) }
    }
}

impl Stream for Live {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        if self.place.is_none() {
            return Poll::Ready(None);
        }
        let event = ready!(self.events.as_mut().poll_next(cx));
        let outcome = match &event {
            Some(StreamEvent::Finish { .. }) => Outcome::Finished,
            // An end without a last word must not count as an answer.
            Some(StreamEvent::Error { .. }) | None => Outcome::Failed,
            Some(_) => return Poll::Ready(event),
        };
        if let Some(mut place) = self.place.take() {
            place.comes_to(outcome);
        }
        Poll::Ready(event)
    }
}
