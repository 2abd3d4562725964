//! Where tokens come from. One source serves the forge's API and git over HTTP.

use std::fmt;
use std::sync::Arc;

use docent_forge::ForgeError;
use docent_http_client::{Secret, SecretSource, SecretSourceError};
use docent_types::error_chain;

use crate::address::Address;
use crate::app::GithubApp;

/// Where the token for a repository comes from.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// None is needed.
    None,
    Fixed(Secret),
    /// Read at each use.
    Read(SecretSource),
    /// An installation token of a GitHub App, made when it is needed.
    App(Arc<GithubApp>),
}

impl TokenSource {
    /// The token to use now, valid for at least some minutes. `None` only when none is configured.
    ///
    /// For git over HTTP it is the password of [`Host::git_user`](crate::Host::git_user).
    ///
    /// # Errors
    /// `Refused` when somebody has to fix something first; `Unavailable` when GitHub issues no installation token now.
    pub async fn token(&self, address: &Address) -> Result<Option<Secret>, ForgeError> {
        match self {
            Self::None => Ok(None),
            Self::Fixed(secret) => Ok(Some(secret.clone())),
            Self::Read(source) => Self::read(source).map(Some),
            Self::App(app) => app.token(address).await.map(Some),
        }
    }

    /// The current token.
    ///
    /// # Errors
    /// `Refused` when there is none, or it is not a token.
    pub fn read(source: &SecretSource) -> Result<Secret, ForgeError> {
        source.read().map_err(|error| refuse(&error))
    }

    /// The token was refused: drop the cached one.
    pub(crate) fn forget(&self, address: &Address) {
        if let Self::App(app) = self {
            app.forget(address);
        }
    }
}

/// The configured source of a secret is missing or invalid.
pub(crate) fn refuse(error: &SecretSourceError) -> ForgeError {
    ForgeError::Refused { sentence: error_chain(error) }
}

/// The source as named in error sentences.
impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("a caller without a token"),
            Self::Fixed(_) => f.write_str("the token"),
            Self::Read(source) => write!(f, "the token in {source}"),
            Self::App(app) => write!(f, "the GitHub App {}", app.id()),
        }
    }
}
