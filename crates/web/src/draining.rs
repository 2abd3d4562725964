//! Whether the server is shutting down.

use tokio_util::sync::CancellationToken;

/// Signals that the server has begun to shut down.
///
/// An answer that ends by itself need not look: running requests have time to finish. One that continues for as long as
/// something else does should end on this signal, and say that it is incomplete.
///
/// [`crate::serve()`] gives it to every request. A caller of [`crate::answer()`] may insert one into the extensions of
/// the request; without it the signal never comes.
#[derive(Debug, Clone, Default)]
pub struct Draining(CancellationToken);

impl From<CancellationToken> for Draining {
    fn from(token: CancellationToken) -> Self {
        Self(token)
    }
}

impl Draining {
    /// Waits until the shutdown begins.
    pub async fn begun(&self) {
        self.0.cancelled().await;
    }
}
