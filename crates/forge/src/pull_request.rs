//! Pull requests, and the records of the local forge's.

use std::fmt;

use async_trait::async_trait;
use docent_types::{ProjectId, StoreError, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The content of a pull request to open or update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestSpec {
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The branch with the changes.
    pub head: String,
    /// The branch they are to be merged into.
    pub base: String,
    /// Whether it is opened as a draft. Only the local forge changes that later; elsewhere people decide once it is
    /// open.
    pub draft: bool,
    /// Labels to set when it is opened. A forge leaves out those it does not know or may not set.
    pub labels: Vec<String>,
}

/// A pull request as the forge returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    /// Its address for people.
    pub url: String,
    pub state: State,
    pub draft: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Merged,
    Closed,
}

impl State {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Merged => "merged",
            Self::Closed => "closed",
        }
    }
}

/// A pull request of the local forge, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRecord {
    /// Unguessable; a part of the link.
    pub id: Uuid,
    pub project: ProjectId,
    /// Counts from 1 within a project.
    pub number: u64,
    pub title: String,
    pub body: String,
    pub head: String,
    pub base: String,
    pub draft: bool,
    #[serde(default)]
    pub labels: Vec<String>,
    pub state: State,
    pub created_at: Timestamp,
    /// When it was merged or closed.
    pub ended_at: Option<Timestamp>,
    /// The commits it went from and to when it ended, in hex, so that its diff can still be displayed.
    pub ended: Option<CommitRange>,
}

/// The range of commits of an ended pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitRange {
    pub from: String,
    pub to: String,
}

/// A record to be added; the store assigns its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPullRecord {
    pub id: Uuid,
    pub project: ProjectId,
    pub request: PullRequestSpec,
    pub created_at: Timestamp,
}

/// Storage of the local forge's pull requests. A write is durable when the method returns.
#[async_trait]
pub trait PullRequests: Send + Sync + fmt::Debug + 'static {
    /// Adds one, unless the project has an open one from the same head to the same base, which is then returned
    /// unchanged. Check and insertion are one transaction.
    async fn open(&self, new: NewPullRecord) -> Result<PullRecord, StoreError>;

    /// Replaces title, body and draft of an open one. `None` when there is no such open pull request.
    async fn update(
        &self,
        project: &ProjectId,
        id: Uuid,
        request: &PullRequestSpec,
    ) -> Result<Option<PullRecord>, StoreError>;

    /// Ends an open one. `None` when there is no such open pull request.
    async fn end(
        &self,
        project: &ProjectId,
        id: Uuid,
        state: State,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError>;

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError>;

    /// The newest one from this head, whatever its state.
    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError>;

    /// All of a project, newest first, at most `limit`.
    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError>;
}
