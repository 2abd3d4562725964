//! The projects' repositories: where they are, and how we get in.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use docent_types::Project;
use docent_workspace::{CommitId, Credentials, GitError, Mirror, Mirrors, PushError, Pushed, Remote};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use tokio::sync::{Notify, oneshot};

use crate::address::is_same_host;
use crate::docs::Docs;
use crate::transport::Transport;

/// What opens a project's repository; `None` when nothing is needed, or nothing is configured.
pub type CredentialsOf =
    Arc<dyn Fn(&Project) -> BoxFuture<'static, Result<Option<Credentials>, GitError>> + Send + Sync>;

/// Mirrors of the projects' repositories. Clones share them.
#[derive(Clone)]
pub struct Repositories {
    transport: Arc<dyn Transport>,
    token_of: CredentialsOf,
    changed: Arc<Notify>,
    /// The mirrors of repositories that may be read beside a project's own, by address, as this process fetched them.
    beside: Arc<Mutex<HashMap<String, Mirror>>>,
}

impl fmt::Debug for Repositories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repositories").field("transport", &self.transport).finish_non_exhaustive()
    }
}

impl Repositories {
    /// Repositories that need nothing to be opened.
    pub fn open_to_all(mirrors: Mirrors) -> Self {
        Self::new(mirrors, Arc::new(|_| ready(Ok(None)).boxed()))
    }

    /// `token_of` is asked at each use, so that a changed token counts at once.
    pub fn new(mirrors: Mirrors, token_of: CredentialsOf) -> Self {
        Self::reached_by(Arc::new(mirrors), token_of)
    }

    /// As [`new`](Self::new), with git behind a transport of the caller's own.
    pub fn reached_by(transport: Arc<dyn Transport>, token_of: CredentialsOf) -> Self {
        Self { transport, token_of, changed: Arc::new(Notify::new()), beside: Arc::default() }
    }

    /// The address of a project's repository, with what opens it.
    ///
    /// # Errors
    /// What opens it could not be had.
    pub async fn remote(&self, project: &Project) -> Result<Remote, GitError> {
        let remote = Remote::new(project.repository.clone());
        Ok(match (self.token_of)(project).await? {
            Some(credentials) => remote.with_credentials(credentials),
            None => remote,
        })
    }

    /// The mirror as the repository is now.
    pub async fn fetch(&self, project: &Project) -> Result<Mirror, GitError> {
        self.transport.fetch(&self.remote(project).await?).await
    }

    /// The mirror of a repository that may be read beside the project's own, as it is now.
    pub async fn fetch_beside(&self, project: &Project, url: &str) -> Result<Mirror, GitError> {
        let mirror = self.transport.fetch(&self.remote_beside(project, url).await?).await?;
        self.mirrors_beside().insert(url.to_owned(), mirror.clone());
        Ok(mirror)
    }

    /// The address of such a repository. What opens the project's own is shown to its own host only.
    pub(crate) async fn remote_beside(&self, project: &Project, url: &str) -> Result<Remote, GitError> {
        if is_same_host(&project.repository, url) {
            let credentials = self.remote(project).await?.credentials;
            return Ok(Remote { url: url.to_owned(), credentials });
        }
        Ok(Remote::new(url))
    }

    /// Such a mirror as this process fetched it the last time.
    pub(crate) fn known_beside(&self, url: &str) -> Option<Mirror> {
        self.mirrors_beside().get(url).cloned()
    }

    fn mirrors_beside(&self) -> std::sync::MutexGuard<'_, HashMap<String, Mirror>> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The docs at the tip of the project's branch, as the repository is now.
    pub async fn docs(&self, project: &Project) -> Result<Docs, GitError> {
        let mirror = self.fetch(project).await?;
        Docs::at_tip(&mirror, project)
    }

    /// The docs as the repository was when it was last fetched, by any process; `None` when it never was, or cannot be read.
    pub fn fetched_docs(&self, project: &Project) -> Option<Docs> {
        let mirror = self.transport.fetched(&Remote::new(project.repository.clone()))?;
        Docs::at_tip(&mirror, project).ok()
    }

    /// Completes when a project's branch was changed through us.
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
    ) -> Result<Pushed, PushError> {
        let remote = self.remote(project).await?;
        self.transport.push(mirror, remote, branch, commit, expected).await
    }

    /// Does work on a mirror, which blocks, where it is in nobody's way.
    pub(crate) async fn does<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (tells, told) = oneshot::channel();
        // Nobody listens when the job was stopped meanwhile.
        self.transport.does(Box::new(move || drop(tells.send(work())))).await;
        match told.await {
            Ok(result) => result,
            // Nobody did it: the process is going down.
            Err(_) => std::future::pending().await,
        }
    }
}
