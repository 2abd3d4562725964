//! What goes on on one connection, for telling an idle one from a busy one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

/// How far a request has come, of those that come one at a time. Of others nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Arrival {
    /// It has a body that nobody has asked for.
    Unread = 1,
    /// Its body is read.
    Read = 2,
    /// It is there to its last byte.
    Whole = 3,
}

/// Shared by a connection's socket, its requests and whoever watches it.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Requests ever begun.
    started: AtomicUsize,
    /// Requests whose answer is not yet handed to the socket to the end.
    running: AtomicUsize,
    /// How far the newest request has come, as an [`Arrival`].
    arrival: AtomicU8,
    /// Whether the socket has bytes that the client does not take yet.
    writing: AtomicBool,
    /// Whether an answer has come to its end that may not be with the socket yet.
    unflushed: AtomicBool,
}

impl Activity {
    /// How many requests were ever begun, while nothing goes on; `None` while something does. The same number twice
    /// means that nothing went on in between.
    pub(crate) fn idle_since(&self) -> Option<usize> {
        let busy = self.running.load(Ordering::Relaxed) > 0 || self.writing.load(Ordering::Relaxed);
        (!busy).then(|| self.started.load(Ordering::Relaxed))
    }

    /// The newest request has come so far.
    pub(crate) fn arrives(&self, arrival: Arrival) {
        self.arrival.store(arrival as u8, Ordering::Relaxed);
    }

    /// Whether the newest request is there to its last byte, so that what comes behind it is the next one.
    pub(crate) fn has_arrived(&self) -> bool {
        self.arrival.load(Ordering::Relaxed) == Arrival::Whole as u8
    }

    /// Whether a client waits for an answer and nobody reads what it sends.
    pub(crate) fn is_waited_for(&self) -> bool {
        let unread = [Arrival::Unread, Arrival::Whole].map(|arrival| arrival as u8);
        self.running.load(Ordering::Relaxed) > 0 && unread.contains(&self.arrival.load(Ordering::Relaxed))
    }

    pub(crate) fn writing(&self, waits: bool) {
        self.writing.store(waits, Ordering::Relaxed);
    }

    /// Everything that was answered so far is with the socket.
    pub(crate) fn flushed(&self) {
        self.unflushed.store(false, Ordering::Relaxed);
    }

    /// Whether that is so.
    pub(crate) fn is_flushed(&self) -> bool {
        !self.unflushed.load(Ordering::Relaxed)
    }
}

/// A request that counts as running until this is dropped.
#[derive(Debug)]
pub(crate) struct Running(Arc<Activity>);

impl Running {
    pub(crate) fn start(activity: &Arc<Activity>) -> Self {
        activity.started.fetch_add(1, Ordering::Relaxed);
        activity.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.unflushed.store(true, Ordering::Relaxed);
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}
