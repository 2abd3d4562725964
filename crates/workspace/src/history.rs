//! Finds what earlier commits say about the files of a commit: their former paths and contents.

use std::collections::HashMap;

use gix::ObjectId;

use crate::base::Base;
use crate::diff::{self, PathChange};
use crate::error::GitError;
use crate::id::{BlobId, CommitId};
use crate::odb::{self, graph};

/// Maximum number of commits to go back.
const COMMITS_AT_MOST: usize = 2_000;

/// What the last 2,000 commits before a commit, each compared with its first parent, say about its files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileHistory {
    /// Maps former paths to the path that the same file has now. Deleted files are left out; for a path that two files
    /// had in succession, the later file counts.
    pub moved: HashMap<String, String>,
    /// The former contents of each file, by its path now, the latest first.
    pub former: HashMap<String, Vec<BlobId>>,
}

impl Base {
    /// The history of the files at this commit.
    ///
    /// # Errors
    /// [`GitError::Corrupt`] when the mirror is damaged.
    pub fn history(&self) -> Result<FileHistory, GitError> {
        self.shared.record_damage(history(&self.shared.repo.local(), self.commit, self.tree))
    }
}

fn history(repo: &gix::Repository, mut commit: CommitId, mut tree: ObjectId) -> Result<FileHistory, GitError> {
    // The current path of a file that had this path at the commit being visited.
    let mut fates: HashMap<String, Option<String>> = HashMap::new();
    let mut moved: HashMap<String, Option<String>> = HashMap::new();
    let mut former: HashMap<String, Vec<BlobId>> = HashMap::new();
    for _ in 0..COMMITS_AT_MOST {
        let Some(parent) = graph::first_parent(repo, commit)? else { break };
        let before = odb::commit_tree(repo, parent)?;
        for PathChange { old, new } in diff::path_changes(repo, before, tree)? {
            let is_same_path = old.as_ref().map(|(path, _)| path) == new.as_ref();
            let fate = match &new {
                Some(new) if is_same_path => fates.get(new).cloned().unwrap_or_else(|| Some(new.clone())),
                Some(new) => fates.remove(new).unwrap_or_else(|| Some(new.clone())),
                None => None,
            };
            let Some((old, blob)) = old else { continue };
            if let Some(now) = &fate {
                former.entry(now.clone()).or_default().push(blob);
            }
            if !is_same_path {
                moved.entry(old.clone()).or_insert_with(|| fate.clone());
                fates.insert(old, fate);
            }
        }
        (commit, tree) = (parent, before);
    }
    Ok(FileHistory { moved: moved.into_iter().filter_map(|(old, now)| Some((old, now?))).collect(), former })
}
