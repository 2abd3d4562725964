//! What is marked.

use serde::{Deserialize, Serialize};

/// How many ends of the process it takes to set something aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SubjectKind {
    /// Content that is read: set aside after one end, until it changes or is tried again.
    Content,
    /// A step that is carried out: refused after two ends at the same step.
    Step,
}

/// What is read or run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub kind: SubjectKind,
    /// Identifies the content, by its hash, or the step. What has the same key is set aside together.
    pub key: String,
    /// Whose it is, such as a project; the answer to “which of these are mine”.
    pub scope: String,
    /// For people: a path, or what was done.
    pub name: String,
}

impl Subject {
    pub fn content(scope: impl Into<String>, name: impl Into<String>, key: impl Into<String>) -> Self {
        Self { kind: SubjectKind::Content, key: key.into(), scope: scope.into(), name: name.into() }
    }

    pub fn step(scope: impl Into<String>, name: impl Into<String>, key: impl Into<String>) -> Self {
        Self { kind: SubjectKind::Step, key: key.into(), scope: scope.into(), name: name.into() }
    }
}
