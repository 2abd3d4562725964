//! Whether the server is about to go away.

use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// Tells when the server a request came to has been told to stop.
///
/// An answer that ends by itself need not care: it has time to. One that goes on for as long as something else does
/// should end when it hears this, and say that it did not come to its end.
///
/// [`crate::serve()`] gives it to every request. Who calls [`crate::answer()`] may put one among the extensions of the
/// request; without it nothing is ever told.
#[derive(Debug, Clone, Default)]
pub struct Draining(
    // Each request has one, and to clone a token takes a lock.
    Option<Arc<CancellationToken>>,
);

impl From<CancellationToken> for Draining {
    fn from(token: CancellationToken) -> Self {
        Self(Some(Arc::new(token)))
    }
}

impl Draining {
    /// Waits until the server is told to stop.
    pub async fn told(&self) {
        match &self.0 {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Waits for `work`, but no longer than until the server is told to stop: `None` then, and `work` is dropped.
    pub async fn unless_told<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match &self.0 {
            Some(token) => token.run_until_cancelled(work).await,
            None => Some(work.await),
        }
    }
}
