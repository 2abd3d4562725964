//! The operations of a forge over HTTP besides opening pull requests.

use async_trait::async_trait;
use docent_forge::{Forge, ForgeError};

/// The pull requests of one repository on GitHub, GitLab or Gitea.
#[async_trait]
pub trait HttpForge: Forge {
    /// Whether pull requests can be opened here, as far as can be checked without opening one. Returns the result as
    /// one sentence.
    ///
    /// # Errors
    /// `Refused` with what to fix; `Unavailable` when the forge could not be reached.
    async fn check(&self) -> Result<String, ForgeError>;
}
