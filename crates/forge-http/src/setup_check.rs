//! Trying a forge before it is used.

use async_trait::async_trait;
use docent_forge::{Forge, ForgeError};

/// What a forge can do for a person who sets a project up, beside opening pull requests.
#[async_trait]
pub(crate) trait SetupCheck: Forge {
    async fn check(&self) -> Result<String, ForgeError>;
}
