//! A project: one docs repository.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{Domain, ProjectId, ProjectUid};
use crate::signature::Signature;

/// Where the project's pull requests are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForgeKind {
    Local,
    Github,
    Gitlab,
    Gitea,
}

impl ForgeKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Gitea => "gitea",
        }
    }
}

/// One docs repository, and its configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub uid: ProjectUid,
    pub id: ProjectId,
    pub domain: Domain,
    /// URL or absolute path of the git repository. Never holds credentials.
    pub repository: String,
    /// The branch the docs are read from and pull requests go to.
    #[serde(rename = "ref")]
    pub branch: String,
    /// The folder of the docs inside the repository, `""` for the whole of it.
    pub docs_root: String,
    pub forge: ForgeKind,
    /// The environment variable that holds the forge token, if one is needed.
    pub token_env: Option<String>,
    /// The address of the forge, if it does not follow from the repository's: the base of its API, or of the local
    /// forge's pages.
    pub base_url: Option<String>,
    /// Read-only repositories that an agent may read, by name.
    #[serde(default)]
    pub context: BTreeMap<String, String>,
    /// The owner's settings for jobs.
    #[serde(default)]
    pub settings: ProjectSettings,
    pub created_at: Timestamp,
}

/// The owner's settings for jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSettings {
    /// Globs of paths, relative to the docs root, that an agent may change besides documents. `*` stays within a
    /// folder, `**` does not.
    pub allow_paths: Vec<String>,
    /// Author and committer of the commits, `None` for Docent itself.
    pub author: Option<Signature>,
    /// Whether commits carry a `Signed-off-by` line of their author.
    pub sign_off: bool,
}
