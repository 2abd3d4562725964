//! The port to the docs of a project.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_search::{Indexes, Snapshot};
use docent_types::{Project, Refusal, RefusalKind};

/// The source of the docs to answer from.
#[async_trait]
pub trait Docs: Send + Sync + fmt::Debug + 'static {
    /// The project's docs in their current state.
    ///
    /// # Errors
    /// A refusal with the remedy: mostly to retry later, because the docs are still being indexed.
    async fn snapshot(&self, project: &Project) -> Result<Arc<Snapshot>, Refusal>;
}

/// Value of `Retry-After` while docs are missing.
const RETRY_AFTER: Duration = Duration::from_secs(5);

#[async_trait]
impl Docs for Indexes {
    async fn snapshot(&self, project: &Project) -> Result<Arc<Snapshot>, Refusal> {
        let domain = &project.domain;
        let state = match Indexes::snapshot(self, project.uid) {
            Ok(Some(snapshot)) => return Ok(snapshot),
            Ok(None) => "have not been read yet",
            Err(error) => {
                tracing::warn!(%domain, error = &error as &dyn std::error::Error, "no index to search");
                "cannot be searched at the moment"
            }
        };
        Err(Refusal::new(RefusalKind::Unavailable(RETRY_AFTER), format!("the docs of `{domain}` {state}; try again")))
    }
}
