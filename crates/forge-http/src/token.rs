//! Where tokens come from. One source serves the forge's API and git over HTTP.

use std::fmt;
use std::sync::Arc;

use docent_forge::ForgeError;
use docent_http_client::{Secret, SecretSource, SecretSourceError};
use docent_types::error_chain;

use crate::address::Address;
use crate::app::GithubApp;

/// The source of the token for a repository.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// No token is needed.
    None,
    Fixed(Secret),
    /// Read from a variable or a file at each use.
    Read(SecretSource),
    /// An installation token of a GitHub App, requested when it is needed.
    App(Arc<GithubApp>),
}

impl TokenSource {
    /// The current token, valid for at least some minutes. `None` only if none is configured.
    ///
    /// For git over HTTP it is the password of [`Host::git_user`](crate::Host::git_user).
    ///
    /// # Errors
    /// `Refused` if a person has to fix something first; `Unavailable` if GitHub issues no installation token now.
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

    /// Drops the cached token after it was refused.
    pub(crate) fn forget(&self, address: &Address) {
        if let Self::App(app) = self {
            app.forget(address);
        }
    }
}

/// The error for a missing or invalid secret.
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
