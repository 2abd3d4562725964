//! The forge of one repository, whichever kind it is.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_forge::{Forge, ForgeError, PullRequest, PullRequestSpec};
use docent_http_client::Client;
use docent_types::Clock;

use crate::address::{Address, Host};
use crate::api::ForgeApi;
use crate::gitea::Gitea;
use crate::github::Github;
use crate::gitlab::Gitlab;
use crate::setup_check::SetupCheck;
use crate::token::TokenSource;

/// The pull requests of one repository on GitHub, GitLab or Gitea.
pub struct HttpForge(Box<dyn SetupCheck>);

impl HttpForge {
    /// Makes no request yet. The clock is used for rate limits.
    pub fn new(client: Client, address: Address, tokens: TokenSource, clock: Arc<dyn Clock>) -> Self {
        let host = address.host;
        let api = ForgeApi { client, address, tokens, clock };
        Self(match host {
            Host::Github => Box::new(Github(api)),
            Host::Gitlab => Box::new(Gitlab(api)),
            Host::Gitea => Box::new(Gitea(api)),
        })
    }

    /// Whether pull requests can be opened here, as far as can be checked without opening one. Returns the result as one
    /// sentence.
    ///
    /// # Errors
    /// `Refused` with what to fix; `Unavailable` when the forge could not be reached.
    pub async fn check(&self) -> Result<String, ForgeError> {
        self.0.check().await
    }
}

impl fmt::Debug for HttpForge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl Forge for HttpForge {
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError> {
        self.0.find(head).await
    }

    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        self.0.open(request).await
    }

    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        self.0.update(found, request).await
    }
}
