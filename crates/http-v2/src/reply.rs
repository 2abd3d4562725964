//! Stream events as the bytes of a body.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use docent_types::StreamEvent;
use docent_ui_stream::UiMessageStream;
use futures::Stream;
use futures::stream::BoxStream;

/// As much as is put into one write when events come faster than they can be sent.
const WRITE: usize = 16 * 1024;

/// A reply in the making. Events that are there at the same moment go out together; none waits for the next.
pub(crate) struct ReplyBytes {
    events: BoxStream<'static, StreamEvent>,
    encoder: UiMessageStream,
    buffer: BytesMut,
}

impl ReplyBytes {
    pub(crate) fn new(events: BoxStream<'static, StreamEvent>, encoder: UiMessageStream) -> Self {
        Self { events, encoder, buffer: BytesMut::new() }
    }
}

impl Stream for ReplyBytes {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        while !this.encoder.ended() && this.buffer.len() < WRITE {
            match this.events.as_mut().poll_next(cx) {
                Poll::Ready(Some(event)) => this.encoder.encode(&event, &mut this.buffer),
                // An end without a last word must not look like an answer.
                Poll::Ready(None) => {
                    let sentence = "The answer broke off. Ask again.".to_owned();
                    this.encoder.encode(&StreamEvent::Error { sentence }, &mut this.buffer);
                }
                Poll::Pending if this.buffer.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        if this.buffer.is_empty() { Poll::Ready(None) } else { Poll::Ready(Some(this.buffer.split().freeze())) }
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{FinishReason, Usage};
    use docent_ui_stream::FinishStyle;
    use futures::{FutureExt, StreamExt, stream};

    use super::*;

    fn delta(text: &str) -> StreamEvent {
        StreamEvent::TextDelta { id: "0".into(), text: text.into() }
    }

    fn finish() -> StreamEvent {
        StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::default(), thread_id: None }
    }

    fn bytes(events: impl Stream<Item = StreamEvent> + Send + 'static) -> ReplyBytes {
        ReplyBytes::new(Box::pin(events), UiMessageStream::new(FinishStyle::Strict))
    }

    #[test]
    fn what_is_there_goes_out_together_and_what_is_not_is_not_waited_for() {
        let mut reply = bytes(stream::iter([delta("a"), delta("b")]).chain(stream::pending()));
        let first = reply.next().now_or_never().flatten().unwrap();
        assert_eq!(first.windows(4).filter(|window| window == b"data").count(), 2);
        assert!(reply.next().now_or_never().is_none());
    }

    #[test]
    fn the_body_ends_at_the_last_word_even_if_more_events_come() {
        let mut reply = bytes(stream::iter([finish()]).chain(stream::pending()));
        assert!(reply.next().now_or_never().flatten().unwrap().ends_with(b"data: [DONE]\n\n"));
        assert_eq!(reply.next().now_or_never(), Some(None));
    }

    #[test]
    fn a_reply_that_just_stops_ends_in_an_error() {
        let all: Vec<_> = bytes(stream::iter([delta("a")])).collect().now_or_never().unwrap();
        assert!(all.concat().ends_with(b"{\"type\":\"error\",\"errorText\":\"The answer broke off. Ask again.\"}\n\n"));
    }

    #[test]
    fn a_flood_is_sent_in_pieces() {
        let flood = stream::iter((0..2000).map(|_| delta("0123456789"))).chain(stream::iter([finish()]));
        let pieces: Vec<_> = bytes(flood).collect().now_or_never().unwrap();
        assert!(pieces.len() > 5 && pieces.iter().all(|piece| piece.len() < WRITE + 1024));
    }
}
