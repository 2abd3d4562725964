//! Whether anything is in progress on one connection, which distinguishes an idle connection from a busy one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Shared by a connection's socket, its requests and the task that closes it when it is idle.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Requests begun since the connection was accepted.
    started: AtomicUsize,
    /// Requests whose response has not been handed to the socket completely.
    running: AtomicUsize,
    /// Whether the socket holds bytes that the client has not accepted yet.
    writing: AtomicBool,
}

impl Activity {
    /// The number of requests begun so far if nothing is in progress, otherwise `None`. The same number twice means
    /// that nothing happened in between.
    pub(crate) fn idle_since(&self) -> Option<usize> {
        let busy = self.running.load(Ordering::Relaxed) > 0 || self.writing.load(Ordering::Relaxed);
        (!busy).then(|| self.started.load(Ordering::Relaxed))
    }

    /// Whether there was a request.
    pub(crate) fn has_begun(&self) -> bool {
        self.started.load(Ordering::Relaxed) > 0
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
