//! Names that come from outside: branch names as git judges them, and paths that cannot leave the tree.

use gix::bstr::ByteSlice;
use gix::validate::path::component;

use crate::error::{GitError, PathRefused};

/// Whether git would accept `name` for a branch. The reason completes the sentence "`name` is not a branch name: …".
///
/// # Errors
/// The reason, in words for the one who chose the name.
fn valid_branch_name(name: &str) -> Result<(), &'static str> {
    const SIGNS: &[char] = &['~', '^', ':', '?', '*', '[', '\\'];
    if name.is_empty() {
        return Err("it is empty");
    }
    if name.len() > 200 {
        return Err("it is longer than 200 bytes");
    }
    if name == "HEAD" || name.starts_with("refs/") {
        return Err("give the short name of a branch, such as `docs/fix-links`");
    }
    if name.starts_with('-') {
        return Err("it begins with a dash");
    }
    if name.contains(|c: char| c.is_control() || c == ' ') {
        return Err("it holds a space or a control character");
    }
    if name.contains(SIGNS) {
        return Err("it holds one of ~ ^ : ? * [ \\");
    }
    if name.contains("..") || name.contains("@{") || name == "@" {
        return Err("it holds `..` or `@{`, or is `@`");
    }
    if name.starts_with('/') || name.ends_with('/') || name.contains("//") {
        return Err("it begins or ends with a slash, or holds two in a row");
    }
    if name.ends_with('.') || name.split('/').any(|part| part.starts_with('.') || part.ends_with(".lock")) {
        return Err("a part of it begins with a dot, or ends with `.lock` or a dot");
    }
    // What the sentences above leave out is judged by the rules themselves.
    let full = format!("refs/heads/{name}");
    gix::validate::reference::name(full.as_bytes().as_bstr()).map(|_| ()).map_err(|_| "git does not allow it")
}

pub(crate) fn check_branch(name: &str) -> Result<(), GitError> {
    valid_branch_name(name).map_err(|reason| GitError::BranchName { name: name.chars().take(200).collect(), reason })
}

/// Checks that `path` names something inside the tree: relative, clean, and nothing of git's own.
///
/// # Errors
/// [`GitError::Path`] with the reason.
pub fn check_path(path: &str) -> Result<(), GitError> {
    refuse(path).map_or(Ok(()), |reason| Err(GitError::path(path, reason)))
}

fn refuse(path: &str) -> Option<PathRefused> {
    if path.is_empty() {
        return Some(PathRefused::Empty);
    }
    if path.len() > 4096 {
        return Some(PathRefused::TooLong);
    }
    if path.starts_with('/') {
        return Some(PathRefused::Absolute);
    }
    if path.contains(char::is_control) {
        return Some(PathRefused::Character);
    }
    // The same rules on every system: a name that is harmless here may be `.git` on the machine that checks it out.
    let options = component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    // NTFS also takes a backslash for a separator.
    path.split(['/', '\\']).find_map(|part| match gix::validate::path::component(part.into(), None, options) {
        Ok(_) => None,
        Err(component::Error::Empty | component::Error::Relative) => Some(PathRefused::Relative),
        Err(component::Error::DotGitDir) => Some(PathRefused::DotGit),
        Err(_) => Some(PathRefused::Character),
    })
}

/// A folder as callers name it: `""` is the whole tree, and slashes at either end do not count.
pub(crate) fn folder(root: &str) -> Result<&str, GitError> {
    let root = root.trim_matches('/');
    if root.is_empty() || root == "." { Ok("") } else { check_path(root).map(|()| root) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_are_judged_as_git_does() {
        for good in ["main", "docent/job-1", "a", "feature/ä", "v1.2", "a-b", "a@b", "x{y}"] {
            assert_eq!(valid_branch_name(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "HEAD",
            "@",
            "-a",
            "a b",
            "a..b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[b",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "a@{b",
            "a\u{7f}",
            "a\nb",
            "refs/heads/a",
        ] {
            assert!(valid_branch_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn paths_stay_inside_the_tree() {
        for good in ["a", "docs/a.md", ".gitignore", ".github/x.yml", "a b/ü.md", "a..b", "...", "git"] {
            assert!(check_path(good).is_ok(), "{good}");
        }
        for (bad, reason) in [
            ("", PathRefused::Empty),
            ("/etc/passwd", PathRefused::Absolute),
            ("..", PathRefused::Relative),
            ("a/../b", PathRefused::Relative),
            ("./a", PathRefused::Relative),
            ("a//b", PathRefused::Relative),
            ("a/", PathRefused::Relative),
            ("a\\..\\b", PathRefused::Relative),
            (".git", PathRefused::DotGit),
            (".GIT/config", PathRefused::DotGit),
            ("a/.git/hooks/x", PathRefused::DotGit),
            ("git~1/config", PathRefused::DotGit),
            (".g\u{200c}it/config", PathRefused::DotGit),
            ("a\0b", PathRefused::Character),
            ("a\nb", PathRefused::Character),
        ] {
            assert!(matches!(check_path(bad), Err(GitError::Path { reason: r, .. }) if r == reason), "{bad:?}");
        }
    }

    #[test]
    fn a_folder_may_be_written_with_slashes() {
        assert_eq!(folder("").unwrap(), "");
        assert_eq!(folder("/").unwrap(), "");
        assert_eq!(folder(".").unwrap(), "");
        assert_eq!(folder("docs/").unwrap(), "docs");
        assert!(folder("docs/../..").is_err());
    }
}
