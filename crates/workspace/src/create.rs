//! Creates a repository with a first commit, for samples and trials.

use std::collections::BTreeMap;
use std::path::Path;

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;
use gix::refs::transaction::PreviousValue;

use crate::error::GitError;
use crate::id::CommitId;
use crate::mirror::{CommitMeta, commit_data};
use crate::name;
use crate::odb::pack::{self, Durability};
use crate::odb::tree::{self, Leaf};
use crate::odb::{NewObject, Repo, local_error};

const DOING: &str = "create the repository";

/// Creates a bare repository at `path`, with `files` in one commit on `branch`, its default branch.
///
/// # Errors
/// [`GitError::Path`] and [`GitError::BranchName`] for names git refuses, [`GitError::Io`] when the repository cannot
/// be written.
pub fn create_repository(
    path: &Path,
    branch: &str,
    files: &BTreeMap<String, Vec<u8>>,
    meta: &CommitMeta,
) -> Result<CommitId, GitError> {
    name::check_branch(branch)?;
    std::fs::create_dir_all(path).map_err(GitError::io(DOING))?;
    let created = Repo::create(path).map_err(|error| local_error(DOING, &error))?;
    let repo = created.local();
    let mut new_objects = Vec::new();
    let mut leaves = Vec::new();
    for (name, bytes) in files {
        name::check_path(name)?;
        let blob = NewObject::new(Kind::Blob, bytes.clone());
        leaves.push((name.as_bytes(), Some(Leaf { mode: EntryKind::Blob.into(), id: blob.id })));
        new_objects.push(blob);
    }
    let tree = tree::apply(&repo, ObjectId::empty_tree(gix::hash::Kind::Sha1), leaves.into_iter(), &mut new_objects)?;
    let commit = NewObject::new(Kind::Commit, commit_data(tree, meta));
    let id = commit.id;
    new_objects.push(commit);
    pack::store(&created.objects_dir(), &new_objects, Durability::Flushed).map_err(GitError::io(DOING))?;
    let reference = format!("refs/heads/{branch}");
    repo.reference(reference.as_str(), id, PreviousValue::MustNotExist, "first commit")
        .map_err(|error| local_error(DOING, &error))?;
    std::fs::write(path.join("HEAD"), format!("ref: {reference}\n")).map_err(GitError::io(DOING))?;
    Ok(id.into())
}
