//! Items as the frames of a body.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use futures::stream::BoxStream;

/// As much as is put into one write when items come faster than they can be sent.
const WRITE: usize = 16 * 1024;

/// Writes items into frames. Those that are there at the same moment go out together; none waits for the next, and none
/// is asked for before there is room for it.
///
/// `write` appends whole frames for an item, and for `None` what is to stand at the end of a stream that just ends.
/// Nothing comes after a [`ControlFlow::Break`], whatever the stream still holds.
pub fn framed<T: Send + 'static>(
    items: impl Stream<Item = T> + Send + 'static,
    write: impl FnMut(Option<T>, &mut BytesMut) -> ControlFlow<()> + Send + Unpin + 'static,
) -> impl Stream<Item = Bytes> + Send + 'static {
    Framed { items: Box::pin(items), write, ended: false, buffer: BytesMut::new() }
}

struct Framed<T, W> {
    items: BoxStream<'static, T>,
    write: W,
    ended: bool,
    buffer: BytesMut,
}

impl<T, W: FnMut(Option<T>, &mut BytesMut) -> ControlFlow<()> + Unpin> Stream for Framed<T, W> {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        while !this.ended && this.buffer.len() < WRITE {
            match this.items.as_mut().poll_next(cx) {
                Poll::Ready(item) => {
                    let is_last = item.is_none();
                    this.ended = (this.write)(item, &mut this.buffer).is_break() || is_last;
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
    use futures::{FutureExt, StreamExt, stream};

    use super::*;

    /// One line an item, and a full stop at the end; `!` is a last word.
    fn lines(items: impl Stream<Item = &'static str> + Send + 'static) -> impl Stream<Item = Bytes> + Send + Unpin {
        Box::pin(framed(items, |item, out| {
            out.extend_from_slice(item.unwrap_or(".").as_bytes());
            out.extend_from_slice(b"\n");
            if item == Some("!") { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }))
    }

    #[test]
    fn what_is_there_goes_out_together_and_what_is_not_is_not_waited_for() {
        let mut body = lines(stream::iter(["a", "b"]).chain(stream::pending()));
        assert_eq!(body.next().now_or_never().flatten().unwrap(), "a\nb\n");
        assert!(body.next().now_or_never().is_none());
    }

    #[test]
    fn the_body_ends_at_the_last_word_even_if_more_items_come() {
        let mut body = lines(stream::iter(["a", "!"]).chain(stream::pending()));
        assert_eq!(body.next().now_or_never().flatten().unwrap(), "a\n!\n");
        assert_eq!(body.next().now_or_never(), Some(None));
    }

    #[test]
    fn a_stream_that_just_ends_is_ended_once() {
        let all: Vec<_> = lines(stream::iter(["a"])).collect().now_or_never().unwrap();
        assert_eq!(all.concat(), b"a\n.\n");
    }

    #[test]
    fn a_flood_is_sent_in_pieces() {
        let flood = stream::iter((0..20_000).map(|_| "0123456789"));
        let pieces: Vec<_> = lines(flood).collect().now_or_never().unwrap();
        assert!(pieces.len() > 5 && pieces.iter().all(|piece| piece.len() < WRITE + 1024));
    }
}
