//! The port to a forge.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{BoxError, StoreError};
use thiserror::Error;

use crate::pull_request::{PullRequest, PullRequestSpec};

/// One repository on a forge.
#[async_trait]
pub trait Forge: Send + Sync + fmt::Debug + 'static {
    /// The newest pull request from this branch of this repository (not of a fork), whatever its state.
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError>;

    /// Opens a pull request. The caller has searched for one before; opening twice must not make two: the second call
    /// returns the first. Labels that cannot be set are left out.
    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError>;

    /// Replaces title and body of an open pull request. `found` is the current result of [`find`](Self::find).
    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError>;
}

/// Why a call of a forge failed.
#[derive(Debug, Error)]
pub enum ForgeError {
    /// Refused, and will be until a setting is changed. The sentence names it.
    #[error("{sentence}")]
    Refused { sentence: String },
    /// The branch has no commit that its base lacks.
    #[error("the branch `{head}` holds nothing that `{base}` does not have")]
    NoChanges { head: String, base: String },
    /// The forge does not have the branch: it was deleted after the push, or the forge lags behind the push.
    #[error("the forge has no branch `{head}`")]
    HeadMissing { head: String },
    /// The forge could not be reached or is overloaded; a retry may help.
    #[error("the forge could not be reached")]
    Unavailable {
        retry_after: Option<Duration>,
        #[source]
        source: BoxError,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}
