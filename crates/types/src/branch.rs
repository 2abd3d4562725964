//! A branch name git accepts.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A valid git branch name, by the rules of `git check-ref-format --branch`, and at most 200 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

/// Why git would refuse a branch name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("git refuses this branch name: {reason}")]
pub struct BranchError {
    reason: &'static str,
}

impl BranchError {
    /// Completes "git refuses this branch name: …".
    pub const fn reason(&self) -> &'static str {
        self.reason
    }
}

impl BranchName {
    pub fn parse(text: &str) -> Result<Self, BranchError> {
        match fault(text) {
            Some(reason) => Err(BranchError { reason }),
            None => Ok(Self(text.to_owned())),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > 200 {
        return Some("it is longer than 200 bytes");
    }
    if text.starts_with('-') {
        return Some("it begins with `-`");
    }
    if text == "@" || text == "HEAD" || text.starts_with("refs/") {
        return Some("it is a name git keeps for itself");
    }
    if text.chars().any(|c| c.is_control() || " ~^:?*[\\".contains(c)) {
        return Some("it holds a space, a control character or one of ~ ^ : ? * [ \\");
    }
    if text.contains("..") || text.contains("@{") {
        return Some("it holds `..` or `@{`");
    }
    if text.ends_with('.')
        || text.split('/').any(|part| part.is_empty() || part.starts_with('.') || part.ends_with(".lock"))
    {
        return Some("a part of it is empty, begins with `.`, or ends with `.` or `.lock`");
    }
    None
}

impl TryFrom<String> for BranchName {
    type Error = BranchError;
    fn try_from(text: String) -> Result<Self, BranchError> {
        Self::parse(&text)
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> String {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_refuses_is_refused() {
        for good in ["main", "docs/retry-option", "a.b", "ünï", "feature/1.2.x", "@a"] {
            assert!(BranchName::parse(good).is_ok(), "{good}");
        }
        let long = "a".repeat(201);
        for bad in [
            "",
            "-x",
            "a b",
            "a..b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "@",
            "a@{b",
            "HEAD",
            "refs/heads/a",
            "a\nb",
            long.as_str(),
        ] {
            assert!(BranchName::parse(bad).is_err(), "{bad}");
        }
    }
}
