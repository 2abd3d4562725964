//! The port to the server that runs the dashboard: what pages show and do that no core of Docent knows.

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
    /// The docs of a project as they are indexed; `None` before they were read.
    fn docs(&self, project: &Project) -> Option<Arc<Snapshot>>;

    /// How the index of a project stands.
    fn index(&self, project: &Project) -> IndexStatus;

    /// How far bringing it up to date is, as [`IndexStatus::running`] says it; asked every second.
    fn index_progress(&self, project: &Project) -> Option<(usize, usize)>;

    /// Begins to fetch and index a project anew, unless that is going on already. Returns at once.
    fn reindex(&self, project: &Project);

    /// What is wrong or worth knowing, as `docent doctor` says it. May be a few minutes old.
    async fn findings(&self) -> Findings;

    /// A project from a form, with what was found in its repository. Nothing is stored.
    ///
    /// # Errors
    /// [`ProjectError::Form`], with the field and the remedy.
    async fn look(&self, form: ProjectForm) -> Result<FoundProject, ProjectError>;

    /// Stores a new project.
    async fn add(&self, project: Project) -> Result<(), ProjectError>;

    /// Stores a project that was changed.
    async fn change(&self, project: Project) -> Result<(), ProjectError>;

    /// Removes a project with its index. Its keys are revoked.
    async fn remove(&self, project: &Project) -> Result<(), BoxError>;

    /// The settings of the server.
    fn settings(&self) -> Vec<Setting>;

    /// How deliveries to webhooks stand, each hook by the beginning of its keys among the settings. None without webhooks.
    async fn hooks(&self) -> Result<Vec<HookState>, BoxError> {
        Ok(Vec::new())
    }
}

/// Why a project was not looked at or not stored.
#[derive(Debug)]
pub enum ProjectError {
    /// The form is wrong, or does not fit the repository.
    Form {
        /// The field of [`ProjectForm`] by its name, where the sentence is about one.
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

/// The fields of a project's form, as a person filled them in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectForm {
    pub id: String,
    pub domain: String,
    pub repository: String,
    pub branch: String,
    pub docs_root: String,
    pub forge: String,
    pub token_env: String,
    pub base_url: String,
    /// Globs, one a line.
    pub allow_paths: String,
    pub author: String,
    pub sign_off: bool,
    /// The project that is changed, or `None` for a new one.
    pub of: Option<Project>,
}

/// A project that was looked at.
#[derive(Debug, Clone)]
pub struct FoundProject {
    pub project: Project,
    /// How many pages its docs have; `None` where the repository was not looked at, since nothing of it changed.
    pub pages: Option<usize>,
    /// What was checked, in order.
    pub checks: Vec<CheckFinding>,
}

/// How an index stands.
#[derive(Debug, Clone, Default)]
pub struct IndexStatus {
    pub pages: usize,
    pub commit: Option<String>,
    /// When the index was last brought up to date by this process.
    pub at: Option<Timestamp>,
    /// What the last time found.
    pub summary: Option<Summary>,
    pub skipped: Vec<Skipped>,
    /// How far the present one is, if one is going on: files done, and files in all.
    pub running: Option<(usize, usize)>,
    /// Why the last one failed.
    pub failure: Option<String>,
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFinding {
    pub level: Level,
    /// What was checked, for example `model`.
    pub check: String,
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Good,
    /// It works, but somebody may wonder.
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

/// All findings of one look.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// When it was; `None` when none is finished yet.
    pub at: Option<Timestamp>,
    pub findings: Vec<CheckFinding>,
}

/// A setting of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its key in the configuration, for example `limits.agent_jobs_per_hour`.
    pub key: String,
    /// Never a secret: of one it says where it comes from.
    pub value: String,
    /// Where it comes from: the file with its line, a variable, the command line, or the default.
    pub source: String,
}
