//! Items as the frames of a body.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use pin_project_lite::pin_project;

use crate::beat::{Beat, Bell, Pace};
use crate::body::NOTHING;
use crate::spare;

/// As much as is put into one write when items come faster than they can be sent. A slow reader holds up no more than this
/// of what was asked for on its behalf.
const WRITE: usize = 32 * 1024;

/// A stream that was looked at so often in vain is told of what comes, and not looked at until then.
const QUIET_LOOKS: u8 = 8;

/// What comes behind an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Something that leaves as soon as it is there.
    AtOnce,
    /// Something that may wait for the beat.
    AtTheBeat,
    /// Nothing, whatever the stream still holds.
    Nothing,
}

/// Writes items into frames. Those that are there at the same moment go out together; none waits for the next, and none
/// is asked for before there is room for it. Where there is more than fits into one write, others get their turn before the
/// next.
///
/// `write` appends whole frames for an item, and for `None` what is to stand at the end of a stream that just ends.
/// Nothing comes after a [`ControlFlow::Break`], whatever the stream still holds.
pub fn framed<T: Send + 'static>(
    items: impl Stream<Item = T> + Send + 'static,
    mut write: impl FnMut(Option<T>, &mut BytesMut) -> ControlFlow<()> + Send + Unpin + 'static,
) -> impl Stream<Item = Bytes> + Send + 'static {
    framed_at(Beat::default(), items, move |item, out| match write(item, out) {
        ControlFlow::Continue(()) => Next::AtOnce,
        ControlFlow::Break(()) => Next::Nothing,
    })
}

/// Like [`framed`], with items that may wait for a beat that many streams share: `write` says which. What comes while a
/// stream waits is not asked for before the beat, and then leaves together. More than fits into one write waits for no
/// further beat, and neither does what comes within a quarter of a beat after the stream was last asked.
pub fn framed_at<T: Send + 'static>(
    beat: Beat,
    items: impl Stream<Item = T> + Send + 'static,
    write: impl FnMut(Option<T>, &mut BytesMut) -> Next + Send + Unpin + 'static,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let bell = beat.bell();
    Framed { items, write, bell, pace: Pace::AtOnce, ended: false, buffer: BytesMut::new(), quiet: 0, written: 0 }
}

pin_project! {
    struct Framed<S, W> {
        #[pin]
        items: S,
        write: W,
        bell: Bell,
        // Of what comes next.
        pace: Pace,
        ended: bool,
        buffer: BytesMut,
        // How often nothing was there in a row.
        quiet: u8,
        // How much was given away since there was last nothing to give.
        written: usize,
    }
}

impl<S: Stream, W: FnMut(Option<S::Item>, &mut BytesMut) -> Next> Stream for Framed<S, W> {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        let is_due = this.bell.is_due(cx);
        if *this.written >= WRITE {
            // Whoever writes does so when it is told to wait, and not before.
            *this.written = 0;
            this.bell.look_again();
            return Poll::Pending;
        }
        if is_due && !*this.ended && this.buffer.len() < WRITE {
            this.bell.listens(*this.pace);
            let mut context = Context::from_waker(this.bell.waker());
            let promise = this.bell.promise().filter(|_| *this.quiet < QUIET_LOOKS);
            let (drained, is_relied_on) = loop {
                let mut polled = Poll::Pending;
                let mut poll = || polled = this.items.as_mut().poll_next(&mut context);
                let is_relied_on = match promise.filter(|_| *this.pace == Pace::AtTheBeat) {
                    Some(promise) => promise(&mut poll),
                    None => {
                        poll();
                        false
                    }
                };
                match polled {
                    Poll::Ready(item) => {
                        let is_last = item.is_none();
                        spare::for_frames(this.buffer);
                        let next = (this.write)(item, this.buffer);
                        *this.ended = is_last || next == Next::Nothing;
                        *this.pace = if next == Next::AtTheBeat { Pace::AtTheBeat } else { Pace::AtOnce };
                    }
                    Poll::Pending => break (true, is_relied_on),
                }
                if *this.ended || this.buffer.len() >= WRITE {
                    break (false, false);
                }
            };
            *this.quiet = if this.buffer.is_empty() { this.quiet.saturating_add(1) } else { 0 };
            if is_relied_on {
                this.bell.comes_again();
            } else if drained {
                this.bell.turns_to(*this.pace);
            } else {
                this.bell.stays_due();
            }
        }
        if this.buffer.is_empty() {
            if this.buffer.capacity() > 0 {
                spare::frames(this.buffer);
            }
            *this.written = 0;
            return if *this.ended { Poll::Ready(None) } else { Poll::Pending };
        }
        let bytes = taken(this.buffer, WRITE - *this.written);
        *this.written += bytes.len();
        Poll::Ready(Some(bytes))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.ended && self.buffer.is_empty() { NOTHING } else { (0, None) }
    }
}

/// What is in the buffer, or the beginning of it.
fn taken(buffer: &mut BytesMut, most: usize) -> Bytes {
    if buffer.len() > most {
        // The rest does not keep the room of all of it.
        let rest = BytesMut::from(&buffer[most..]);
        let mut beginning = std::mem::replace(buffer, rest);
        beginning.truncate(most);
        return beginning.freeze();
    }
    spare::frames(buffer)
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
        assert_ne!(body.size_hint(), NOTHING);
        assert_eq!(body.next().now_or_never().flatten().unwrap(), "a\n!\n");
        assert_eq!(body.size_hint(), NOTHING, "which is known at once");
        assert_eq!(body.next().now_or_never(), Some(None));
    }

    #[test]
    fn a_stream_that_just_ends_is_ended_once() {
        let all: Vec<_> = lines(stream::iter(["a"])).collect().now_or_never().unwrap();
        assert_eq!(all.concat(), b"a\n.\n");
    }

    #[tokio::test]
    async fn a_flood_is_sent_in_pieces_and_others_get_their_turn_between() {
        let mut body = lines(stream::iter((0..20_000).map(|_| "0123456789")));
        let (mut written, mut turns) = (0, 0);
        let mut since = 0;
        loop {
            match futures::poll!(body.next()) {
                Poll::Ready(Some(piece)) => since += piece.len(),
                Poll::Ready(None) => break,
                Poll::Pending => {
                    assert!(since <= WRITE, "{since} bytes at once");
                    turns += 1;
                    written += std::mem::take(&mut since);
                }
            }
        }
        assert_eq!(written + since, 20_000 * 11 + 2);
        assert!(turns >= 20_000 * 11 / WRITE, "{turns} turns");
    }

    #[tokio::test]
    async fn an_item_larger_than_a_write_is_cut() {
        let large: &'static str = "0123456789".repeat(2_000).leak();
        let pieces: Vec<_> = lines(stream::iter([large, "!"])).collect().await;
        assert!(pieces.iter().all(|piece| piece.len() <= WRITE));
        assert_eq!(pieces.concat(), format!("{large}\n!\n").as_bytes());
    }
}
