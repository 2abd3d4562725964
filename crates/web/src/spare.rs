//! Memory at hand.
//!
//! Thousands of streams write a little each, one after the other, and nothing of it is left once the socket has it. Memory
//! that each asked for anew, or kept for its next turn, would have gone cold every time. So what one stream has written into,
//! the next one on the same thread writes into.

use std::cell::Cell;
use std::mem;

use bytes::{Bytes, BytesMut};

/// How much of it there is for frames. Whoever holds on to a frame holds on to all of it.
const ROOM: usize = 4 * 1024;
/// Frames of more bytes than this have memory of their own, and there is room for as many.
const LITTLE: usize = ROOM / 4;
/// As much as is kept for pieces on their way to a socket.
const MOST: usize = 16 * 1024;

thread_local! {
    static FRAMES: Cell<BytesMut> = Cell::default();
    static PIECE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Gives a buffer without any room some, for frames that [`frames`] takes out again.
pub(crate) fn for_frames(buffer: &mut BytesMut) {
    if buffer.capacity() == 0 {
        *buffer = FRAMES.take();
        let enough = if buffer.capacity() == 0 { ROOM } else { LITTLE };
        // Where nobody holds on to what was written before, this is its memory again.
        buffer.reserve(enough);
    }
}

/// All that is in a buffer, which has no room afterwards.
pub(crate) fn frames(buffer: &mut BytesMut) -> Bytes {
    let mut rest = mem::take(buffer);
    let frames = rest.split().freeze();
    if frames.len() <= LITTLE {
        FRAMES.set(rest);
    }
    frames
}

/// An empty vector.
pub(crate) fn piece() -> Vec<u8> {
    PIECE.take()
}

/// Takes back one whose bytes are with the kernel.
pub(crate) fn is_written(mut piece: Vec<u8>) {
    if piece.capacity() <= MOST {
        piece.clear();
        PIECE.set(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &[u8]) -> Bytes {
        let mut buffer = BytesMut::new();
        for_frames(&mut buffer);
        buffer.extend_from_slice(text);
        let frames = frames(&mut buffer);
        assert_eq!(buffer.capacity(), 0);
        frames
    }

    #[test]
    fn frames_that_are_gone_make_room_for_others() {
        let places: Vec<usize> = (0..100).map(|_| written(&[b'x'; 100]).as_ptr() as usize).collect();
        let (first, last) = (places.iter().min().unwrap(), places.iter().max().unwrap());
        assert!(last - first < ROOM, "{places:?}");
    }

    #[test]
    fn frames_that_are_held_stay_as_they_are() {
        let held: Vec<Bytes> = (0..=255).map(|n| written(&[n; 90])).collect();
        assert!((0..=255).zip(&held).all(|(n, frames)| frames[..] == [n; 90]));
    }

    #[test]
    fn who_holds_much_holds_nobody_elses() {
        let _ = written(b"a");
        let mut buffer = BytesMut::new();
        for_frames(&mut buffer);
        buffer.extend_from_slice(&[0; 10 * ROOM]);
        let large = frames(&mut buffer);
        assert!(FRAMES.take().capacity() == 0, "what had to grow is not kept");
        drop(large);
        is_written(Vec::with_capacity(MOST + 1));
        assert_eq!(piece().capacity(), 0);
        is_written(vec![1; 10]);
        let again = piece();
        assert!(again.is_empty() && again.capacity() >= 10);
    }
}
