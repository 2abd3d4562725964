//! Finds the current paths of files that earlier commits had under other paths.

use std::collections::HashMap;

use gix::ObjectId;

use crate::base::Base;
use crate::diff::{self, PathChange};
use crate::error::GitError;
use crate::id::CommitId;
use crate::odb::{self, graph};

/// Maximum number of commits to go back.
const COMMITS_AT_MOST: usize = 2_000;

impl Base {
    /// Maps former paths to the path that the same file has at this commit, from the renames in the last 2,000 commits,
    /// each compared with its first parent. Deleted files are left out; for a path that two files had in succession,
    /// the later file counts.
    ///
    /// # Errors
    /// [`GitError::Corrupt`] when the mirror is damaged.
    pub fn moved(&self) -> Result<HashMap<String, String>, GitError> {
        self.shared.record_damage(moved(&self.shared.repo.local(), self.commit, self.tree))
    }
}

fn moved(
    repo: &gix::Repository,
    mut commit: CommitId,
    mut tree: ObjectId,
) -> Result<HashMap<String, String>, GitError> {
    // The current path of a file that had this path at the commit being visited.
    let mut fates: HashMap<String, Option<String>> = HashMap::new();
    let mut moved: HashMap<String, Option<String>> = HashMap::new();
    for _ in 0..COMMITS_AT_MOST {
        let Some(parent) = graph::first_parent(repo, commit)? else { break };
        let before = odb::commit_tree(repo, parent)?;
        for PathChange { old, new } in diff::path_changes(repo, before, tree)? {
            let fate = new.and_then(|new| fates.remove(&new).unwrap_or(Some(new)));
            if let Some(old) = old {
                moved.entry(old.clone()).or_insert_with(|| fate.clone());
                fates.insert(old, fate);
            }
        }
        (commit, tree) = (parent, before);
    }
    Ok(moved.into_iter().filter_map(|(old, now)| Some((old, now?))).collect())
}
