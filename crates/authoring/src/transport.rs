//! How repositories are reached: the port to what takes a while with git, and git itself behind it.

use std::fmt;

use async_trait::async_trait;
use docent_workspace::{CommitId, GitError, Mirror, Mirrors, PushError, Pushed, Remote};

/// Work that blocks for as long as a disk or a network takes.
pub type BlockingWork = Box<dyn FnOnce() + Send>;

/// What authoring asks of git that is not done at once.
///
/// [`Mirrors`] is git itself, on threads made for what blocks. Whoever wants to stand in between, to fail a push or to
/// delay it, has one of their own.
#[async_trait]
pub trait Transport: Send + Sync + fmt::Debug + 'static {
    /// The mirror as the repository is now.
    async fn fetch(&self, remote: &Remote) -> Result<Mirror, GitError>;

    /// The mirror as it was last fetched, by any process; `None` when it never was.
    fn fetched(&self, remote: &Remote) -> Option<Mirror>;

    /// Moves a branch of the repository, as [`Mirror::push`] does.
    async fn push(
        &self,
        mirror: Mirror,
        remote: Remote,
        branch: String,
        commit: CommitId,
        expected: Option<CommitId>,
    ) -> Result<Pushed, PushError>;

    /// Does work on a mirror where it is in nobody's way. When this returns, it is done.
    async fn does(&self, work: BlockingWork);
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
    ) -> Result<Pushed, PushError> {
        off_the_runtime(move || mirror.push(&remote, &branch, commit, expected)).await
    }

    async fn does(&self, work: BlockingWork) {
        off_the_runtime(work).await;
    }
}

/// Runs git work, which blocks, off the runtime's own threads, and still as part of the job.
async fn off_the_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(result) => result,
        // The runtime is going down, or the work panicked: the same as if we had.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => std::future::pending().await,
        },
    }
}
