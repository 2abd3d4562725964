//! The projects' repositories: their addresses, and their credentials.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use docent_types::{Project, WorkDurations};
use docent_workspace::{CommitId, Credentials, GitError, Mirror, Mirrors, PushError, PushOutcome, Remote};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::address::is_same_host;
use crate::docs::Docs;
use crate::transport::Transport;

/// The credentials for a project's repository; `None` when none are configured.
pub type CredentialsOf =
    Arc<dyn Fn(&Project) -> BoxFuture<'static, Result<Option<Credentials>, GitError>> + Send + Sync>;

/// How long git took, since this process began.
#[derive(Debug, Default)]
pub struct GitTimes {
    /// Fetches, those that waited for another caller's included.
    pub fetch: WorkDurations,
    /// The checks of the changed files, and the commit in the mirror.
    pub commit: WorkDurations,
    pub push: WorkDurations,
}

/// Mirrors of the projects' repositories. Clones share them.
#[derive(Clone)]
pub struct Repositories {
    transport: Arc<dyn Transport>,
    token_of: CredentialsOf,
    changed: Arc<Notify>,
    /// Mirrors of context repositories, by address, as last fetched by this process.
    context_mirrors: Arc<Mutex<HashMap<String, Mirror>>>,
    times: Arc<GitTimes>,
}

impl fmt::Debug for Repositories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repositories").field("transport", &self.transport).finish_non_exhaustive()
    }
}

impl Repositories {
    /// Repositories without credentials.
    pub fn open_to_all(mirrors: Mirrors) -> Self {
        Self::new(mirrors, Arc::new(|_| ready(Ok(None)).boxed()))
    }

    /// `token_of` is called at each use, so that a changed token takes effect at once.
    pub fn new(mirrors: Mirrors, token_of: CredentialsOf) -> Self {
        Self::with_transport(Arc::new(mirrors), token_of)
    }

    /// As [`new`](Self::new), with a transport other than git.
    pub fn with_transport(transport: Arc<dyn Transport>, token_of: CredentialsOf) -> Self {
        let (changed, context_mirrors, times) = Default::default();
        Self { transport, token_of, changed, context_mirrors, times }
    }

    /// How long git took.
    pub fn times(&self) -> &GitTimes {
        &self.times
    }

    /// The address of a project's repository, with its credentials.
    ///
    /// # Errors
    /// The credentials could not be read.
    pub async fn remote(&self, project: &Project) -> Result<Remote, GitError> {
        let remote = Remote::new(project.repository.clone());
        Ok(match (self.token_of)(project).await? {
            Some(credentials) => remote.with_credentials(credentials),
            None => remote,
        })
    }

    /// Fetches the mirror.
    pub async fn fetch(&self, project: &Project) -> Result<Mirror, GitError> {
        let remote = self.remote(project).await?;
        self.times.fetch.measure(self.transport.fetch(&remote)).await
    }

    /// Fetches the mirror of a context repository.
    pub async fn fetch_context(&self, project: &Project, url: &str) -> Result<Mirror, GitError> {
        let remote = self.context_remote(project, url).await?;
        let mirror = self.times.fetch.measure(self.transport.fetch(&remote)).await?;
        self.context_mirrors.lock().insert(url.to_owned(), mirror.clone());
        Ok(mirror)
    }

    /// The address of a context repository. The project's own credentials are added only for the same host.
    pub(crate) async fn context_remote(&self, project: &Project, url: &str) -> Result<Remote, GitError> {
        if is_same_host(&project.repository, url) {
            let credentials = self.remote(project).await?.credentials;
            return Ok(Remote { url: url.to_owned(), credentials });
        }
        Ok(Remote::new(url))
    }

    /// The mirror of a context repository, as last fetched by this process.
    pub(crate) fn known_context(&self, url: &str) -> Option<Mirror> {
        self.context_mirrors.lock().get(url).cloned()
    }

    /// Fetches the repository, and returns the docs at the tip of the project's branch.
    pub async fn docs(&self, project: &Project) -> Result<Docs, GitError> {
        let mirror = self.fetch(project).await?;
        Docs::at_tip(&mirror, project)
    }

    /// The mirror as of the last fetch of any process; `None` without one.
    pub(crate) fn fetched(&self, project: &Project) -> Option<Mirror> {
        self.transport.fetched(&Remote::new(project.repository.clone()))
    }

    /// The docs as of the last fetch of any process; `None` without one, or when they cannot be read.
    pub fn fetched_docs(&self, project: &Project) -> Option<Docs> {
        let mirror = self.fetched(project)?;
        Docs::at_tip(&mirror, project).ok()
    }

    /// Completes when this process has changed a project's branch.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn announce_change(&self) {
        self.changed.notify_one();
    }

    /// Moves a branch of a project's repository.
    pub(crate) async fn push(
        &self,
        project: &Project,
        mirror: Mirror,
        branch: String,
        commit: CommitId,
        expected: Option<CommitId>,
    ) -> Result<PushOutcome, PushError> {
        let remote = self.remote(project).await?;
        self.times.push.measure(self.transport.push(mirror, remote, branch, commit, expected)).await
    }

    /// Runs blocking work on a mirror on a blocking thread.
    pub(crate) async fn run_blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = oneshot::channel();
        // The receiver is gone when the job was stopped meanwhile.
        self.transport.run_blocking(Box::new(move || drop(sender.send(work())))).await;
        match receiver.await {
            Ok(result) => result,
            // The work was dropped: the process is shutting down.
            Err(_) => std::future::pending().await,
        }
    }
}
