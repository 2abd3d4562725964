//! A branch name git accepts.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Maximum length in bytes.
const MAX_BYTES: usize = 200;

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

    /// The name with each run of characters that git refuses replaced by one `-`; a name git accepts is unchanged.
    /// `None` when nothing is left of it.
    pub fn sanitized(text: &str) -> Option<Self> {
        let mut name = text.strip_prefix("refs/heads/").unwrap_or(text).to_owned();
        // Each round yields a shorter or a valid name: cutting and replacing may reveal another fault.
        while fault(&name).is_some() {
            let replaced = without_refused(&name);
            let trimmed = replaced.trim_start_matches(['-', '/']).trim_end_matches(['-', '/']);
            let cut = &trimmed[..trimmed.floor_char_boundary(MAX_BYTES)];
            if cut == name || cut.is_empty() {
                return None;
            }
            name = cut.to_owned();
        }
        Some(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Replaces each run of forbidden characters by one `-`.
fn without_refused(name: &str) -> String {
    let mut sanitized = String::with_capacity(name.len());
    let mut in_run = false;
    for (at, c) in name.char_indices() {
        let (before, after) = (name[..at].chars().next_back(), &name[at + c.len_utf8()..]);
        let is_refused = match c {
            '.' => {
                let ends_part = after.is_empty() || after == "lock" || after.starts_with("lock/");
                ends_part || after.starts_with('.') || matches!(before, None | Some('.' | '/'))
            }
            '/' => before == Some('/') || after.starts_with('/'),
            '@' => after.starts_with('{'),
            '{' => before == Some('@'),
            c => is_refused_anywhere(c),
        };
        if !is_refused {
            sanitized.push(c);
        } else if !in_run {
            sanitized.push('-');
        }
        in_run = is_refused;
    }
    sanitized
}

fn is_refused_anywhere(c: char) -> bool {
    c.is_control() || " ~^:?*[\\".contains(c)
}

fn fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > MAX_BYTES {
        return Some("it is longer than 200 bytes");
    }
    if text.starts_with('-') {
        return Some("it begins with `-`");
    }
    if text == "@" || text == "HEAD" || text.starts_with("refs/") {
        return Some("it is a name git keeps for itself");
    }
    if text.chars().any(is_refused_anywhere) {
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_branch_names_are_refused() {
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

    #[test]
    fn invalid_branch_names_are_mended() {
        for (given, mended) in [
            ("docs/terms", Some("docs/terms")),
            ("docs-2026-11-24T10:12:21.471Z", Some("docs-2026-11-24T10-12-21.471Z")),
            ("update docs: part 2", Some("update-docs-part-2")),
            ("a ~^:b", Some("a-b")),
            ("a..b@{c", Some("a-b-c")),
            ("a//b", Some("a-b")),
            ("a/.b/c.lock", Some("a/-b/c-lock")),
            ("/a/", Some("a")),
            ("--x.", Some("x")),
            ("refs/heads/docs", Some("docs")),
            (" ", None),
            ("", None),
            ("::?", None),
            ("HEAD", None),
            ("@", None),
        ] {
            assert_eq!(BranchName::sanitized(given).as_ref().map(BranchName::as_str), mended, "{given}");
        }
        let long = BranchName::sanitized(&"ü".repeat(150)).expect("its beginning");
        assert_eq!(long.as_str().len(), MAX_BYTES);
    }

    proptest! {
        #[test]
        fn a_mended_name_is_one_git_accepts(text in "[a.@{}/ :~A-Z\\-\u{1}éklco]{0,30}|refs/.{0,10}|\\PC{0,300}") {
            let mended = BranchName::sanitized(&text);
            if let Some(name) = &mended {
                prop_assert_eq!(BranchName::parse(name.as_str()), Ok(name.clone()));
            }
            if let Ok(name) = BranchName::parse(&text) {
                prop_assert_eq!(mended, Some(name));
            }
        }
    }
}
