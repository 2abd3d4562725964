//! What goes on on one connection, for telling an idle one from a busy one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Shared by a connection's socket, its requests and the task that closes it when it is idle.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Requests ever begun.
    started: AtomicUsize,
    /// Requests whose answer is not yet handed to the socket to the end.
    running: AtomicUsize,
    /// Whether the socket has bytes that the client does not take yet.
    writing: AtomicBool,
}

impl Activity {
    /// How many requests were ever begun, while nothing goes on; `None` while something does. The same number twice
    /// means that nothing went on in between.
    pub(crate) fn idle_since(&self) -> Option<usize> {
        let busy = self.running.load(Ordering::Relaxed) > 0 || self.writing.load(Ordering::Relaxed);
        (!busy).then(|| self.started.load(Ordering::Relaxed))
    }

    pub(crate) fn writing(&self, waits: bool) {
        self.writing.store(waits, Ordering::Relaxed);
    }
}

/// A request that counts as running until this is dropped.
#[derive(Debug)]
pub(crate) struct RunningRequest(Arc<Activity>);

impl RunningRequest {
    pub(crate) fn start(activity: &Arc<Activity>) -> Self {
        activity.started.fetch_add(1, Ordering::Relaxed);
        activity.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}
