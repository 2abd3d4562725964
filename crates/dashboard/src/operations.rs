//! The port to the server that runs the dashboard: data and actions of pages that the core crates do not provide.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_access::AddError;
use docent_jobs::HookState;
use docent_search::{Skipped, Snapshot, Summary};
use docent_types::{BoxError, Project, Timestamp};

/// What a server does for its dashboard.
#[async_trait]
pub trait Operations: Send + Sync + fmt::Debug + 'static {
    /// The indexed docs of a project; `None` before they were read for the first time.
    fn docs(&self, project: &Project) -> Option<Arc<Snapshot>>;

    /// The state of a project's index.
    fn index(&self, project: &Project) -> IndexStatus;

    /// The progress of a running update of the index, as in [`IndexStatus::running`]. Called every second.
    fn index_progress(&self, project: &Project) -> Option<(usize, usize)>;

    /// Begins to fetch and index a project again, unless an update is running already. Returns at once.
    fn reindex(&self, project: &Project);

    /// The findings of the checks of `docent doctor`. May be a few minutes old.
    async fn findings(&self) -> Findings;

    /// The names of variables and paths of files that may be chosen for a project's token.
    fn offered_tokens(&self) -> Vec<String> {
        Vec::new()
    }

    /// The project that a form describes, after checking it and its repository. Nothing is stored.
    ///
    /// # Errors
    /// [`ProjectError::Form`], with the field and the remedy.
    async fn check_project(&self, form: ProjectForm) -> Result<CheckedProject, ProjectError>;

    /// Stores a new project.
    async fn add(&self, project: Project) -> Result<(), ProjectError>;

    /// Stores a project that was changed.
    async fn change(&self, project: Project) -> Result<(), ProjectError>;

    /// Removes a project with its index. Its keys are revoked.
    async fn remove(&self, project: &Project) -> Result<(), BoxError>;

    /// The settings of the server.
    fn settings(&self) -> Vec<Setting>;

    /// The state of webhook deliveries. A hook is named by the prefix of its keys in the settings. Empty without
    /// webhooks.
    async fn hooks(&self) -> Result<Vec<HookState>, BoxError> {
        Ok(Vec::new())
    }
}

/// Why a project was not checked or not stored.
#[derive(Debug)]
pub enum ProjectError {
    /// The form is wrong, or does not fit the repository.
    Form {
        /// The name of the field of [`ProjectForm`] that the sentence is about, if it is about one.
        field: Option<&'static str>,
        sentence: String,
    },
    /// This server failed, for example its store.
    Failed(BoxError),
}

impl From<AddError> for ProjectError {
    fn from(error: AddError) -> Self {
        let field = match &error {
            AddError::IdTaken(_) => "id",
            AddError::DomainTaken { .. } => "domain",
            AddError::Store(_) => return Self::Failed(error.into()),
        };
        Self::Form { field: Some(field), sentence: error.to_string() }
    }
}

/// The value of [`ProjectForm::token`] that keeps the token of a project for the servers that it was given for. No
/// variable and no file has this name.
pub const SAME_TOKEN: &str = "(same)";

/// The fields of a project's form, as a person filled them in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectForm {
    pub id: String,
    pub domain: String,
    pub repository: String,
    pub branch: String,
    pub docs_root: String,
    pub forge: String,
    /// One of [`Operations::offered_tokens`], [`SAME_TOKEN`], or empty for none.
    pub token: String,
    pub base_url: String,
    /// Globs, one a line.
    pub allow_paths: String,
    /// Globs, one a line.
    pub allow_code: String,
    /// Repositories that an agent may read, one a line: `name=url`.
    pub context: String,
    pub author: String,
    pub sign_off: bool,
    /// The project that is changed, or `None` for a new one.
    pub of: Option<Project>,
}

/// The result of checking a project.
#[derive(Debug, Clone)]
pub struct CheckedProject {
    pub project: Project,
    /// What was found in the repository, if it was read, and what was checked, in order.
    pub checks: Vec<CheckFinding>,
}

/// The state of an index.
#[derive(Debug, Clone, Default)]
pub struct IndexStatus {
    pub pages: usize,
    pub commit: Option<String>,
    /// When this process last updated the index.
    pub at: Option<Timestamp>,
    /// The result of the last update.
    pub summary: Option<Summary>,
    pub skipped: Vec<Skipped>,
    /// The progress of the current update, if one is running: files done, and files in total.
    pub running: Option<(usize, usize)>,
    /// Why the last update failed.
    pub failure: Option<String>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFinding {
    pub level: Level,
    /// What was checked, for example `model`.
    pub check: String,
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
    /// Folders that may be served instead of the given one, for a button each.
    pub docs_roots: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Good,
    /// It works, but may need an explanation.
    Note,
    Bad,
}

impl Level {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

/// All findings of one run of the checks.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The time of the run; `None` if none has finished yet.
    pub at: Option<Timestamp>,
    pub findings: Vec<CheckFinding>,
}

/// A setting of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its key in the configuration, for example `limits.agent_jobs_per_hour`.
    pub key: String,
    /// Never a secret; for a secret, where it comes from.
    pub value: String,
    /// The source of the value: the file with its line, a variable, the command line, or the default.
    pub source: String,
}
