//! The public data of an agent job.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{Domain, JobId, ProjectId};

/// The status of a job.
///
/// ```text
///            finish            archive
///   active ─────────▶ completed ─────┐
///    │  ▲ ╲  fail                    ▼
///    │  │  ╲────────▶ failed ────▶ archived
///    │  └── follow-up ──┘ (completed too)  ▲
///    └──────────── archive ────────────────┘
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobStatus {
    Active,
    Completed,
    Failed,
    Archived,
}

impl JobStatus {
    pub const ALL: [Self; 4] = [Self::Active, Self::Completed, Self::Archived, Self::Failed];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Archived => "archived",
        }
    }
}

/// Why a job stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    Completed,
    /// The repository could not be reached, cloned or pushed.
    GitMisconfigured,
    Error,
}

/// The repository a job works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// URL or path as git takes it, never with credentials; [`crate::repository_url`] is how it is shown.
    pub repository: String,
    /// The branch the agent works on.
    #[serde(rename = "ref")]
    pub branch: String,
}

/// One agent job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentJob {
    pub id: JobId,
    pub project: ProjectId,
    pub domain: Domain,
    pub status: JobStatus,
    pub source: Source,
    /// The configured model's name, for example `sonnet`.
    pub model: String,
    pub as_draft: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_link: Option<String>,
    /// The agent's final message, or why the job failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why it stopped; `None` while active. An archived job keeps the reason it first stopped for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halt: Option<Halt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<Todo>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
}

/// One line of the agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    pub id: String,
    pub content: String,
    pub status: TodoStatus,
    pub priority: TodoPriority,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TodoPriority {
    High,
    Medium,
    Low,
}
