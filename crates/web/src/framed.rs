//! Items as the frames of a body.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use pin_project_lite::pin_project;

/// Size of a full frame, in bytes. Further items go into the next one, once the socket has taken this one.
const FULL_FRAME: usize = 32 * 1024;

/// Writes items into frames. Items that are ready at the same moment share a frame, which saves writes on a busy
/// server. No item waits for the next, and none is polled before there is room for it.
///
/// `write` appends an item's bytes, and for `None` the bytes that end a stream that ended normally.
/// After a [`ControlFlow::Break`] nothing more is sent, even if the stream has more items.
pub fn framed<T: Send + 'static>(
    items: impl Stream<Item = T> + Send + 'static,
    write: impl FnMut(Option<T>, &mut BytesMut) -> ControlFlow<()> + Send + Unpin + 'static,
) -> impl Stream<Item = Bytes> + Send + 'static {
    Framed { items, write, ended: false, buffer: BytesMut::new() }
}

pin_project! {
    struct Framed<S, W> {
        #[pin]
        items: S,
        write: W,
        ended: bool,
        buffer: BytesMut,
    }
}

impl<S: Stream, W: FnMut(Option<S::Item>, &mut BytesMut) -> ControlFlow<()>> Stream for Framed<S, W> {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        while !*this.ended && this.buffer.len() < FULL_FRAME {
            let Poll::Ready(item) = this.items.as_mut().poll_next(cx) else { break };
            let is_last = item.is_none();
            *this.ended = (this.write)(item, this.buffer).is_break() || is_last;
        }
        match (this.buffer.is_empty(), *this.ended) {
            (false, _) => Poll::Ready(Some(this.buffer.split().freeze())),
            (true, true) => Poll::Ready(None),
            (true, false) => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt, stream};

    use super::*;

    /// One line an item, and a full stop at the end; `!` breaks the stream.
    fn lines(items: impl Stream<Item = &'static str> + Send + 'static) -> impl Stream<Item = Bytes> + Send + Unpin {
        Box::pin(framed(items, |item, out| {
            out.extend_from_slice(item.unwrap_or(".").as_bytes());
            out.extend_from_slice(b"\n");
            if item == Some("!") { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }))
    }

    #[test]
    fn ready_chunks_are_sent_in_one_frame() {
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
        let pieces: Vec<_> = lines(stream::iter((0..20_000).map(|_| "0123456789"))).collect().now_or_never().unwrap();
        assert!(pieces.iter().all(|piece| piece.len() < FULL_FRAME + 11));
        assert_eq!(pieces.concat().len(), 20_000 * 11 + 2);
    }
}
