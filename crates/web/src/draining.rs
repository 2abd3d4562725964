//! Whether the server is shutting down.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// Signals that the server has begun to shut down.
///
/// An answer that ends by itself need not look: running requests have time to finish. One that continues for as long as
/// something else does should end on this signal, and say that it is incomplete.
///
/// [`crate::serve()`] gives it to every request. A caller of [`crate::answer()`] may insert one into the extensions of
/// the request; without it the signal never comes.
#[derive(Debug, Clone, Default)]
pub struct Draining(
    // Each request has one, and cloning a token takes a lock.
    Option<Arc<CancellationToken>>,
);

impl From<CancellationToken> for Draining {
    fn from(token: CancellationToken) -> Self {
        Self(Some(Arc::new(token)))
    }
}

impl Draining {
    /// Waits until the shutdown begins.
    pub async fn begun(&self) {
        match &self.0 {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }
}
