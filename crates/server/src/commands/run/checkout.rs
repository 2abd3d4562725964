//! Finds a local repository, and which of its branches are checked out.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The repository that contains a folder, found in the way of git.
pub(super) fn repository(given: &Path) -> Result<PathBuf, Failure> {
    let path = fs::canonicalize(given)
        .map_err(|error| Failure::new(format!("--repo: cannot open {}", given.display()), error))?;
    let found = path.ancestors().find(|folder| folder.join(".git").exists() || is_git_dir(folder));
    let found = found.map(Path::to_owned);
    found.ok_or_else(|| Failure::plain(format!("--repo: there is no git repository at {}", path.display())))
}

/// Whether a branch is checked out, here or in a linked working tree of the repository. Moving such a branch would make
/// that working tree outdated; git refuses to, unless it updates the working tree as well.
pub(super) fn is_checked_out(repository: &Path, branch: &str) -> bool {
    let common = common_dir(repository);
    let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().map(|entry| entry.path());
    let own = is_work_tree(repository, &common).then(|| common.clone());
    linked.chain(own).any(|folder| {
        let head = fs::read_to_string(folder.join("HEAD")).unwrap_or_default();
        head.trim_end().strip_prefix("ref: refs/heads/") == Some(branch)
    })
}

fn is_git_dir(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

/// Whether the repository has a working tree; a bare one has a `HEAD` too, but none.
fn is_work_tree(repository: &Path, common: &Path) -> bool {
    repository.join(".git").exists() || common.file_name().is_some_and(|name| name == ".git")
}

/// The git directory that all working trees of a repository share.
fn common_dir(repository: &Path) -> PathBuf {
    let dot_git = repository.join(".git");
    let git_dir = match fs::read_to_string(&dot_git) {
        // A linked working tree, or a submodule.
        Ok(text) => repository.join(text.trim_end().strip_prefix("gitdir: ").unwrap_or_default()),
        Err(_) if dot_git.is_dir() => dot_git,
        Err(_) => repository.to_owned(),
    };
    match fs::read_to_string(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(text.trim_end()),
        Err(_) => git_dir,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates git's file layout of a repository with the branch `main` checked out and the branch `side` in a linked
    /// working tree.
    fn layout(root: &Path) {
        let git = root.join("docs/.git");
        for folder in [git.join("objects"), git.join("worktrees/side"), root.join("docs/guides"), root.join("side")] {
            fs::create_dir_all(folder).expect("a folder");
        }
        for (file, text) in [
            (git.join("HEAD"), "ref: refs/heads/main\n".to_owned()),
            (git.join("worktrees/side/HEAD"), "ref: refs/heads/docs/side\n".to_owned()),
            (git.join("worktrees/side/commondir"), "../..\n".to_owned()),
            (root.join("side/.git"), format!("gitdir: {}\n", git.join("worktrees/side").display())),
        ] {
            fs::write(file, text).expect("written");
        }
    }

    #[test]
    fn branches_checked_out_in_any_worktree_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("a path");
        layout(&root);
        assert_eq!(repository(&root.join("docs/guides")).ok(), Some(root.join("docs")));
        assert_eq!(repository(&root.join("side")).ok(), Some(root.join("side")));
        assert!(repository(&root).is_err() && repository(&root.join("nowhere")).is_err());
        for from in ["docs", "side", "docs/.git"] {
            for (branch, expected) in [("main", true), ("docs/side", true), ("side", false), ("other", false)] {
                assert_eq!(is_checked_out(&root.join(from), branch), expected, "{branch} from {from}");
            }
        }
    }

    #[test]
    fn the_head_of_a_bare_repository_is_not_checked_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let bare = fs::canonicalize(folder.path()).expect("a path");
        fs::create_dir(bare.join("objects")).expect("a folder");
        fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").expect("written");
        assert_eq!(repository(&bare).ok(), Some(bare.clone()));
        assert!(!is_checked_out(&bare, "main"));
    }
}
