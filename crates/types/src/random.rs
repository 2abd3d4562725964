//! Randomness of the operating system, fetched for many ids at a time, because a system call costs more than making an
//! id.

use std::cell::RefCell;

/// Bytes per id.
pub(crate) const ID: usize = 16;
/// Ids per fetch.
const IDS: usize = 32;

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; ID * IDS], left: 0 }) };
}

/// Unused bytes are at the end; used ones are zeroed.
struct Pool {
    bytes: [u8; ID * IDS],
    left: usize,
}

/// Unguessable bytes; `None` when the system has none.
pub(crate) fn bytes() -> Option<[u8; ID]> {
    POOL.try_with(|pool| pool.try_borrow_mut().ok()?.take()).ok()?
}

impl Pool {
    fn take(&mut self) -> Option<[u8; ID]> {
        if self.left == 0 {
            getrandom::fill(&mut self.bytes).ok()?;
            self.left = IDS;
        }
        let place = self.bytes.len() - self.left * ID;
        let taken = self.bytes[place..].first_chunk_mut()?;
        self.left -= 1;
        // A later reader of this memory must not learn the ids handed out.
        Some(std::mem::take(taken))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_bytes_are_given_twice_by_any_thread() {
        let draw = || (0..10 * IDS).map(|_| bytes().expect("randomness")).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(draw)).collect();
        let drawn: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect();
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
    }

    #[test]
    fn what_was_given_is_not_kept() {
        let mut pool = Pool { bytes: [0; ID * IDS], left: 0 };
        for _ in 0..IDS {
            pool.take().expect("randomness");
        }
        assert_eq!(pool.bytes, [0; ID * IDS]);
    }
}
