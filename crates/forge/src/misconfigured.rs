//! The forge of a misconfigured project.

use async_trait::async_trait;

use crate::port::{Forge, ForgeError};
use crate::pull_request::{PullRequest, PullRequestSpec};

/// Refuses everything with one sentence: what about the project's configuration must be corrected.
#[derive(Debug, Clone)]
pub struct Misconfigured {
    pub sentence: String,
}

impl Misconfigured {
    fn refuse<T>(&self) -> Result<T, ForgeError> {
        Err(ForgeError::Refused { sentence: self.sentence.clone() })
    }
}

#[async_trait]
impl Forge for Misconfigured {
    async fn find(&self, _head: &str) -> Result<Option<PullRequest>, ForgeError> {
        self.refuse()
    }

    async fn open(&self, _request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        self.refuse()
    }

    async fn update(&self, _found: &PullRequest, _request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        self.refuse()
    }
}
