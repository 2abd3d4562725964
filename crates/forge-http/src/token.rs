//! Where tokens come from. One source serves the forge's API and git over HTTP.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use docent_forge::ForgeError;
use docent_http_client::Secret;
use zeroize::Zeroizing;

use crate::address::Address;
use crate::app::GithubApp;

/// Where a secret is kept. It is read at every use, so that a new one counts at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptSecret {
    /// The environment variable of this name.
    Env(String),
    File(PathBuf),
}

impl KeptSecret {
    /// The token there, without white space around it.
    ///
    /// # Errors
    /// `Refused` when there is none, or what is there is no token.
    pub async fn token(&self) -> Result<Secret, ForgeError> {
        Secret::parse(&self.text().await?).map_err(|error| self.refuse(&error.to_string()))
    }

    /// Whatever text is there.
    pub(crate) async fn text(&self) -> Result<Zeroizing<String>, ForgeError> {
        let refuse = |why: &str| self.refuse(why);
        let text = match self {
            Self::Env(name) => std::env::var(name).map_err(|error| match error {
                std::env::VarError::NotPresent => refuse("it is not set"),
                std::env::VarError::NotUnicode(_) => refuse("it is not text"),
            })?,
            Self::File(path) => tokio::fs::read_to_string(path).await.map_err(|error| refuse(&error.to_string()))?,
        };
        Ok(Zeroizing::new(text))
    }

    fn refuse(&self, why: &str) -> ForgeError {
        ForgeError::Refused { sentence: format!("there is no usable secret in {self}: {why}") }
    }
}

impl fmt::Display for KeptSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "the environment variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}

/// Where the token for a repository comes from.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// None is needed.
    None,
    Fixed(Secret),
    Kept(KeptSecret),
    /// An installation token of a GitHub App, made when it is needed.
    App(Arc<GithubApp>),
}

impl TokenSource {
    /// The token to use now, good for at least some minutes. `None` only when none is configured.
    ///
    /// For git over HTTP it is the password of [`Host::git_user`](crate::Host::git_user).
    ///
    /// # Errors
    /// `Refused` when somebody has to mend something first; `Unavailable` when GitHub gives no installation token now.
    pub async fn token(&self, address: &Address) -> Result<Option<Secret>, ForgeError> {
        match self {
            Self::None => Ok(None),
            Self::Fixed(secret) => Ok(Some(secret.clone())),
            Self::Kept(secret) => secret.token().await.map(Some),
            Self::App(app) => app.token(address).await.map(Some),
        }
    }

    /// The token was not accepted: what is kept of it is of no use.
    pub(crate) fn forget(&self, address: &Address) {
        if let Self::App(app) = self {
            app.forget(address);
        }
    }
}

/// As a sentence speaks of it.
impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("a caller without a token"),
            Self::Fixed(_) => f.write_str("the token"),
            Self::Kept(secret) => write!(f, "the token in {secret}"),
            Self::App(app) => write!(f, "the GitHub App {}", app.id()),
        }
    }
}
