//! A project: one docs repository.

use std::collections::BTreeMap;
use std::fmt;

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
    /// Where the token for git over HTTP and the forge is, if one is needed.
    #[serde(flatten)]
    pub token: Option<TokenLocation>,
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

/// Where a project's token is read, at each use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenLocation {
    /// An environment variable of the server.
    #[serde(rename = "token_env")]
    Variable(String),
    /// The absolute path of a file that holds the token alone.
    #[serde(rename = "token_file")]
    File(String),
}

impl TokenLocation {
    /// The name of the variable, or the path of the file.
    pub fn name(&self) -> &str {
        match self {
            Self::Variable(name) | Self::File(name) => name,
        }
    }
}

impl fmt::Display for TokenLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "the file {path}"),
        }
    }
}

/// The owner's settings for jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSettings {
    /// Globs of paths, relative to the docs root, that an agent may change besides documents. `*` stays within a
    /// folder, `**` does not.
    pub allow_paths: Vec<String>,
    /// Globs of pages, drawings and diagrams that an agent may add code to.
    pub allow_code: Vec<String>,
    /// Author and committer of the commits, `None` for Docent itself.
    pub author: Option<Signature>,
    /// Whether commits carry a `Signed-off-by` line of their author.
    pub sign_off: bool,
    /// Whether the project's branch is the one that the repository called its default, as nobody named another: it is
    /// followed when it gets another name.
    pub follows_default: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_stored_project_has_a_token_in_one_place_or_none() {
        let stored = |more: Value| {
            let mut body = json!({
                "uid": "3f0c2c54-5d55-4b8f-9a0e-0b4f3f6f9d11", "id": "acme", "domain": "acme", "repository": "/srv/acme.git",
                "ref": "main", "docs_root": "", "forge": "local", "base_url": null, "created_at": "2026-01-01T00:00:00Z",
            });
            body.as_object_mut().expect("members").extend(more.as_object().expect("members").clone());
            serde_json::from_value::<Project>(body).expect("a project")
        };
        for (body, token) in [
            (json!({}), None),
            (json!({ "token_env": null }), None),
            (json!({ "token_env": "T" }), Some(TokenLocation::Variable("T".to_owned()))),
            (json!({ "token_file": "/t" }), Some(TokenLocation::File("/t".to_owned()))),
        ] {
            let project = stored(body.clone());
            assert_eq!(project.token, token, "{body}");
            let again = serde_json::to_value(&project).expect("JSON");
            assert_eq!(serde_json::from_value::<Project>(again).expect("a project"), project);
        }
    }
}
