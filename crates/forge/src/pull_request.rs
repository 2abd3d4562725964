//! Pull requests, and the records of the local forge's.

use std::fmt;

use async_trait::async_trait;
use docent_types::{ListPage, PageChoice, ProjectId, StoreError, Timestamp};
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
    /// Its web address.
    pub url: String,
    pub state: PullState,
    pub draft: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PullState {
    Open,
    Merged,
    Closed,
}

impl PullState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Merged, Self::Closed];

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
    pub state: PullState,
    pub created_at: Timestamp,
    /// When it was merged or closed.
    pub ended_at: Option<Timestamp>,
    /// The merge base and the tip at its end, in hex, so that its diff can still be displayed.
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

/// Most comments on one pull request.
pub const MOST_COMMENTS: usize = 1_000;

/// A person's comment on a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullComment {
    pub at: Timestamp,
    /// The operator's name.
    pub author: String,
    /// Markdown.
    pub text: String,
}

/// The sort key of a pull request in a list: newer ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PullKey {
    pub created_at: Timestamp,
    pub id: Uuid,
}

impl PullRecord {
    pub const fn key(&self) -> PullKey {
        PullKey { created_at: self.created_at, id: self.id }
    }
}

/// The criteria of a search.
#[derive(Debug, Clone, Default)]
pub struct PullSearch {
    pub projects: Vec<ProjectId>,
    pub state: Option<PullState>,
    /// A text in title, description or branch, ignoring case; empty for any.
    pub text: String,
    pub page: ListPage<PullKey>,
    /// Most pull requests on a page.
    pub limit: usize,
}

/// A page of pull requests, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPulls {
    pub pulls: Vec<PullRecord>,
    /// The number of matching pull requests in each state, on all pages and regardless of `state`, in the order of
    /// [`PullState::ALL`].
    pub counts: [u64; PullState::ALL.len()],
    pub has_newer: bool,
    pub has_older: bool,
}

/// Counts the pull requests that match apart from their state, and selects those of a page. All stores use it, so that
/// they select alike.
#[derive(Debug)]
pub struct PullChoice {
    state: Option<PullState>,
    folded: String,
    counts: [u64; PullState::ALL.len()],
    choice: PageChoice<PullKey>,
}

impl PullChoice {
    pub fn new(search: &PullSearch) -> Self {
        let choice = PageChoice::new(search.page, search.limit);
        Self { state: search.state, folded: search.text.to_lowercase(), counts: Default::default(), choice }
    }

    /// Whether [`examine`](Self::examine) needs texts.
    pub const fn reads_texts(&self) -> bool {
        !self.folded.is_empty()
    }

    /// Takes a pull request of one of the searched projects, with its title, description and branch.
    pub fn examine(&mut self, key: PullKey, state: PullState, texts: [&str; 3]) {
        if self.reads_texts() && !texts.iter().any(|text| text.to_lowercase().contains(&self.folded)) {
            return;
        }
        for (known, count) in PullState::ALL.iter().zip(&mut self.counts) {
            *count += u64::from(*known == state);
        }
        if self.state.is_none_or(|wanted| wanted == state) {
            self.choice.examine(key);
        }
    }

    /// The page; `read` reads the pull request of an id.
    pub fn page<E>(self, mut read: impl FnMut(Uuid) -> Result<Option<PullRecord>, E>) -> Result<FoundPulls, E> {
        let chosen = self.choice.page();
        let pulls = chosen.keys.into_iter().filter_map(|key| read(key.id).transpose()).collect::<Result<_, _>>()?;
        Ok(FoundPulls { pulls, counts: self.counts, has_newer: chosen.has_newer, has_older: chosen.has_older })
    }
}

/// Storage of the local forge's pull requests. A write is durable when the method returns.
#[async_trait]
pub trait PullRequests: Send + Sync + fmt::Debug + 'static {
    /// Adds a pull request, unless the project has an open one from the same head to the same base, which is then
    /// returned unchanged. Check and insertion are one transaction.
    async fn open(&self, new: NewPullRecord) -> Result<PullRecord, StoreError>;

    /// Replaces title, body and draft of an open pull request. `None` when there is no open one with this id.
    async fn update(
        &self,
        project: &ProjectId,
        id: Uuid,
        request: &PullRequestSpec,
    ) -> Result<Option<PullRecord>, StoreError>;

    /// Ends an open pull request. `None` when there is no open one with this id.
    async fn end(
        &self,
        project: &ProjectId,
        id: Uuid,
        state: PullState,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError>;

    /// Reopens a closed pull request. `None` when there is no closed one with this id, or another one is open from its
    /// head to its base. Check and change are one transaction.
    async fn reopen(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError>;

    /// Adds a comment. `false` when there is no such pull request, or it has [`MOST_COMMENTS`].
    async fn comment(&self, project: &ProjectId, id: Uuid, comment: PullComment) -> Result<bool, StoreError>;

    /// The comments on a pull request, oldest first.
    async fn comments(&self, project: &ProjectId, id: Uuid) -> Result<Vec<PullComment>, StoreError>;

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError>;

    /// The newest pull request from this head, whatever its state.
    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError>;

    /// A page of the matching pull requests, and the number of them in each state.
    async fn search(&self, search: PullSearch) -> Result<FoundPulls, StoreError>;

    /// All pull requests of a project, newest first, at most `limit`.
    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError>;
}
