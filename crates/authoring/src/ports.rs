//! What authoring asks of the rest of the house.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_forge::Forge;
use docent_types::{Project, ProjectId, StoreError};

/// The projects as they are now. A job looks its project up when it works, so that a changed token or branch counts.
#[async_trait]
pub trait Projects: Send + Sync + fmt::Debug + 'static {
    /// The project, `None` when it was removed.
    async fn project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError>;
}

/// The forge of a project.
pub type Forges = Arc<dyn Fn(&Project) -> Arc<dyn Forge> + Send + Sync>;
