//! The ports of authoring.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_forge::Forge;
use docent_types::{Project, ProjectId, StoreError};

/// The current projects. A job looks its project up when it works, so that a changed token or branch takes effect.
#[async_trait]
pub trait Projects: Send + Sync + fmt::Debug + 'static {
    /// The project, `None` when it was removed.
    async fn project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError>;
}

/// The forge of a project.
pub type Forges = Arc<dyn Fn(&Project) -> Arc<dyn Forge> + Send + Sync>;
