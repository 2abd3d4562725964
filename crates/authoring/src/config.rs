//! What somebody who runs Docent decides about its jobs.

use std::fmt;
use std::sync::Arc;

use docent_agent::{DocsSearch, TurnLimits};
use docent_search::{Indexes, Query};
use docent_types::{Passage, Project, ProjectUid};
use tracing::warn;

/// The search over the published docs of a project, `None` when they are not indexed here.
pub type SearchOf = Arc<dyn Fn(&Project) -> Option<Arc<dyn DocsSearch>> + Send + Sync>;

/// How jobs are worked on, beside what their projects say.
#[derive(Clone, Default)]
pub struct AuthorConfig {
    /// What one turn may take.
    pub limits: TurnLimits,
    /// The labels of a pull request.
    pub labels: Vec<String>,
    /// For the agent to search the published docs; it cannot when absent.
    pub search: Option<SearchOf>,
}

impl fmt::Debug for AuthorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorConfig")
            .field("limits", &self.limits)
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}

/// The search over what these indexes hold.
pub fn search_of(indexes: Arc<Indexes>) -> SearchOf {
    Arc::new(move |project| {
        let (indexes, project) = (Arc::clone(&indexes), project.uid);
        Some(Arc::new(Published { indexes, project }))
    })
}

/// The index of one project, as it is at each search.
struct Published {
    indexes: Arc<Indexes>,
    project: ProjectUid,
}

impl DocsSearch for Published {
    fn search(&self, words: &str, limit: usize) -> Vec<Passage> {
        let query = Query { text: words.to_owned(), limit, ..Query::default() };
        match self.indexes.snapshot(self.project) {
            Ok(snapshot) => snapshot.map(|snapshot| snapshot.search(&query)).unwrap_or_default(),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                warn!(project = %self.project, error, "an agent could not search the docs");
                Vec::new()
            }
        }
    }
}
