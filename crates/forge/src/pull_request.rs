//! What a pull request is, and how the local forge's are kept.

use std::fmt;

use async_trait::async_trait;
use docent_types::{ProjectId, StoreError, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What is asked of a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestSpec {
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The branch with the changes.
    pub head: String,
    /// The branch they should go to.
    pub base: String,
    /// Whether it is opened as a draft. Nothing but the local forge changes that later: once it is open, people decide.
    pub draft: bool,
    /// Names of labels to put on it when it is opened. A forge leaves out those it does not know or may not set.
    pub labels: Vec<String>,
}

/// A pull request as a forge tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    /// Where a person looks at it.
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

/// A pull request of the local forge, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRecord {
    /// Unguessable; part of the link.
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
    /// The commits it went from and to when it ended, in hex, so that its diff can be shown ever after.
    pub ended: Option<Ending>,
}

/// What an ended pull request changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub from: String,
    pub to: String,
}

/// A record to be; the store gives it its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPullRecord {
    pub id: Uuid,
    pub project: ProjectId,
    pub request: PullRequestSpec,
    pub created_at: Timestamp,
}

/// Storage of the local forge's pull requests. What a method wrote is durable when it returns.
#[async_trait]
pub trait PullRequests: Send + Sync + fmt::Debug + 'static {
    /// Adds one, unless the project has an open one from the same head to the same base: then gives that one back
    /// unchanged. Check and addition are one transaction.
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
        ending: Option<Ending>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError>;

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError>;

    /// The newest one from this head, whatever its state.
    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError>;

    /// All of a project, newest first, at most `limit`.
    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError>;
}
