//! The port to slow git operations, and its implementation with git.

use std::fmt;

use async_trait::async_trait;
use docent_workspace::{CommitId, GitError, Mirror, Mirrors, PushError, PushOutcome, Remote};

/// Work that blocks on disk or network.
pub type BlockingWork = Box<dyn FnOnce() + Send>;

/// Slow git operations, as authoring needs them.
///
/// [`Mirrors`] implements it with git, on blocking threads. A test implements it to fail or delay a push.
#[async_trait]
pub trait Transport: Send + Sync + fmt::Debug + 'static {
    /// Fetches the mirror.
    async fn fetch(&self, remote: &Remote) -> Result<Mirror, GitError>;

    /// The mirror as of the last fetch of any process; `None` without one.
    fn fetched(&self, remote: &Remote) -> Option<Mirror>;

    /// Moves a branch of the repository, as [`Mirror::push`] does.
    async fn push(
        &self,
        mirror: Mirror,
        remote: Remote,
        branch: String,
        commit: CommitId,
        expected: Option<CommitId>,
    ) -> Result<PushOutcome, PushError>;

    /// Runs work on a mirror on a blocking thread. Returns when it is done.
    async fn run_blocking(&self, work: BlockingWork);
}

#[async_trait]
impl Transport for Mirrors {
    async fn fetch(&self, remote: &Remote) -> Result<Mirror, GitError> {
        Mirrors::fetch(self, remote).await
    }

    fn fetched(&self, remote: &Remote) -> Option<Mirror> {
        self.open_existing(remote)
    }

    async fn push(
        &self,
        mirror: Mirror,
        remote: Remote,
        branch: String,
        commit: CommitId,
        expected: Option<CommitId>,
    ) -> Result<PushOutcome, PushError> {
        spawn_blocking_in_span(move || mirror.push(&remote, &branch, commit, expected)).await
    }

    async fn run_blocking(&self, work: BlockingWork) {
        spawn_blocking_in_span(work).await;
    }
}

/// Runs blocking git work on a blocking thread of the runtime, inside the job's span.
async fn spawn_blocking_in_span<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(result) => result,
        // The runtime is shutting down, or the work panicked, which is passed on.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => std::future::pending().await,
        },
    }
}
