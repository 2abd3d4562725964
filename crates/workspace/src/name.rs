//! Checks names that come from outside: branch names by git's rules, and paths, which must not leave the tree.

use docent_types::{BranchError, BranchName};
use gix::validate::path::component;

use crate::error::{GitError, PathRefused};

pub(crate) fn check_branch(name: &str) -> Result<(), GitError> {
    let refused =
        |error: BranchError| GitError::BranchName { name: name.chars().take(200).collect(), reason: error.reason() };
    BranchName::parse(name).map(drop).map_err(refused)
}

/// Checks that `path` names something inside the tree: relative, normalized, and not reserved by git.
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
    // NTFS also treats a backslash as a separator.
    path.split(['/', '\\']).find_map(|part| match gix::validate::path::component(part.into(), None, options) {
        Ok(_) => None,
        Err(component::Error::Empty | component::Error::Relative) => Some(PathRefused::Relative),
        Err(component::Error::DotGitDir) => Some(PathRefused::DotGit),
        Err(_) => Some(PathRefused::Character),
    })
}

/// Normalizes a folder given by a caller: `""` is the whole tree, and slashes at either end are ignored.
pub(crate) fn folder(root: &str) -> Result<&str, GitError> {
    let root = root.trim_matches('/');
    if root.is_empty() || root == "." { Ok("") } else { check_path(root).map(|()| root) }
}

#[cfg(test)]
mod tests {
    use gix::bstr::ByteSlice;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn accepted_branch_names_are_valid_for_git(name in "[a-c@{}~^:?*\\[\\\\/.\\- ü\u{7f}]{0,8}(\\.lock)?") {
            if check_branch(&name).is_ok() {
                let full = format!("refs/heads/{name}");
                prop_assert!(gix::validate::reference::name(full.as_bytes().as_bstr()).is_ok(), "{name:?}");
            }
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
