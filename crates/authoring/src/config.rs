//! The operator's settings for jobs.

use std::fmt;
use std::sync::Arc;

use docent_agent::{DocsSearch, TurnLimits};
use docent_quarantine::Quarantine;
use docent_search::{Indexes, Query};
use docent_types::{Passage, Project, ProjectUid};
use tracing::warn;

/// The search over the published docs of a project, `None` when they are not indexed here.
pub type SearchOf = Arc<dyn Fn(&Project) -> Option<Arc<dyn DocsSearch>> + Send + Sync>;

/// The beginning of the command that allows the agents of a project more.
pub type AllowCommand = Arc<dyn Fn(&Project) -> String + Send + Sync>;

/// How jobs are worked on, in addition to the settings of their projects.
#[derive(Clone, Default)]
pub struct AuthorConfig {
    /// The limits of one turn.
    pub limits: TurnLimits,
    /// The labels of a pull request.
    pub labels: Vec<String>,
    /// The search over the published docs; without it the agent cannot search them.
    pub search: Option<SearchOf>,
    /// The command line that allows a project's agents more, up to `--allow-path` and `--allow-code`. Without it,
    /// `docent project set ID`.
    pub allow_command: Option<AllowCommand>,
    /// Marks the work on the files of a job, so that a step that ends the process is refused after its second time, and
    /// knows the files that are not to be read.
    pub quarantine: Quarantine,
}

impl fmt::Debug for AuthorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorConfig")
            .field("limits", &self.limits)
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}

/// A search over these indexes.
pub fn search_of(indexes: Arc<Indexes>) -> SearchOf {
    Arc::new(move |project| {
        let (indexes, project) = (Arc::clone(&indexes), project.uid);
        Some(Arc::new(Published { indexes, project }))
    })
}

/// The index of one project, looked up at each search.
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
