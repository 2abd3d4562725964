//! Who asks for the next piece of a body again, woken or not.
//!
//! Whoever reads thousands of bodies at a beat of its own need not be woken for what comes on them, and to be told of each
//! piece costs something. So it may promise, for the time of one poll, to poll again before long, and a body that relies on
//! that is not watched until somebody polls it without a promise.

use std::cell::Cell;

thread_local! {
    static PROMISE: Cell<Promise> = const { Cell::new(Promise::None) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    None,
    Made,
    /// Somebody will not wake who made it.
    ReliedOn,
}

/// Polls with the promise to poll again before long, even if nobody wakes. Says whether anybody relies on it: if not, it
/// need not be kept. A body relies on it only once some of it was read, and only when it comes as it is made
/// (`text/event-stream`), over a connection without TLS and proxy.
pub fn promising(poll: &mut dyn FnMut()) -> bool {
    /// Ends a promise, whether the poll returns or not.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            PROMISE.set(Promise::None);
        }
    }

    let _end = End;
    PROMISE.set(Promise::Made);
    poll();
    PROMISE.get() == Promise::ReliedOn
}

/// Whether who polls has promised to poll again.
pub(crate) fn is_made() -> bool {
    PROMISE.get() != Promise::None
}

/// Relies on that.
pub(crate) fn rely() {
    PROMISE.set(Promise::ReliedOn);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_lasts_for_one_poll_and_is_kept_where_somebody_relies_on_it() {
        assert!(!is_made());
        assert!(!promising(&mut || assert!(is_made())));
        assert!(promising(&mut rely));
        assert!(!is_made());
        assert!(std::panic::catch_unwind(|| promising(&mut || panic!("as it polled"))).is_err());
        assert!(!is_made());
    }
}
