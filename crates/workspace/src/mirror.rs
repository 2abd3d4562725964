//! One repository's bare mirror: everything a job needs to read, commit and push.
//!
//! Every call here blocks on disk or network; asynchronous callers run it on a blocking thread.

use std::sync::Arc;

use docent_types::Signature;
use gix::objs::Kind;

use crate::base::Base;
use crate::diff::{self, Diff, DiffView};
use crate::error::{GitError, PushError};
use crate::id::CommitId;
use crate::lock;
use crate::maintenance;
use crate::mirror_state::MirrorState;
use crate::name;
use crate::odb::graph::{self, CommitSummary};
use crate::odb::pack::{self, Durability};
use crate::odb::tree::{self, Leaf};
use crate::odb::{self, NewObject, local_error, refs, upload_pack};
use crate::origin::Origin;
use crate::overlay::{Overlay, PathEdit};
use crate::push::{Push, PushOutcome};
use crate::remote::{Location, Remote};

/// Who made a commit, when, and what for. Author and committer are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMeta {
    pub name: String,
    pub email: String,
    /// Seconds since the Unix epoch; written as UTC.
    pub seconds: i64,
    pub message: String,
    /// Usually the one commit the overlay is based on.
    pub parents: Vec<CommitId>,
}

/// A handle on the mirror of one repository. Cheap to clone, shared by threads and by any number of jobs.
#[derive(Debug, Clone)]
pub struct Mirror {
    shared: Arc<MirrorState>,
    repository: String,
}

impl Mirror {
    pub(crate) fn new(shared: Arc<MirrorState>, remote: &Remote) -> Self {
        Self { shared, repository: remote.redacted() }
    }

    pub(crate) fn repo(&self) -> gix::Repository {
        self.shared.repo.local()
    }

    pub(crate) fn record_damage<T>(&self, result: Result<T, GitError>) -> Result<T, GitError> {
        self.shared.record_damage(result)
    }

    /// The commit of a branch as of the last fetch or push.
    ///
    /// # Errors
    /// [`GitError::Empty`] and [`GitError::NoSuchBranch`] when there is no such branch, [`GitError::BranchName`].
    pub fn branch(&self, name: &str) -> Result<CommitId, GitError> {
        if let Some(commit) = self.find_branch(name)? {
            return Ok(commit);
        }
        let (repository, branch) = (self.repository.clone(), name.to_owned());
        let mut known: Vec<String> = self.branches()?.into_iter().map(|(name, _)| name).collect();
        if known.is_empty() {
            return Err(GitError::Empty { repository, branch });
        }
        let default = self.default_branch();
        known.sort_by_key(|name| Some(name) != default.as_ref());
        Err(GitError::NoSuchBranch { repository, branch, known })
    }

    /// Fails when a commit has no folder `path` (`""` is always there).
    ///
    /// # Errors
    /// [`GitError::NoSuchFolder`] with its sibling folders; [`GitError::NoSuchCommit`], [`GitError::Corrupt`].
    pub fn check_folder(&self, commit: CommitId, path: &str) -> Result<(), GitError> {
        let repo = self.repo();
        let root = odb::commit_tree(&repo, commit)?;
        let folder = |path: &str| Ok(tree::at(&repo, root, path)?.filter(|leaf| leaf.mode.is_tree()));
        if self.record_damage(folder(path))?.is_some() {
            return Ok(());
        }
        let parents = path.match_indices('/').rev().map(|(end, _)| &path[..end]).chain([""]);
        for parent in parents {
            if let Some(found) = self.record_damage(folder(parent))? {
                let known = self.record_damage(tree::folders(&repo, found.id))?;
                let below = |name: String| if parent.is_empty() { name } else { format!("{parent}/{name}") };
                let known = known.into_iter().map(below).collect();
                return Err(GitError::NoSuchFolder {
                    repository: self.repository.clone(),
                    folder: path.to_owned(),
                    known,
                });
            }
        }
        Ok(())
    }

    /// As [`branch`](Self::branch), with `None` for a missing branch.
    ///
    /// # Errors
    /// [`GitError::BranchName`], [`GitError::Corrupt`].
    pub fn find_branch(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        name::check_branch(name)?;
        let found =
            refs::branch(&self.repo(), name).map_err(|error| local_error("read a branch of the mirror", &error));
        Ok(self.record_damage(found)?.map(CommitId::from))
    }

    /// All branches by name, as of the last fetch.
    ///
    /// # Errors
    /// [`GitError::Corrupt`].
    pub fn branches(&self) -> Result<Vec<(String, CommitId)>, GitError> {
        let state = refs::state(&self.repo()).map_err(|error| local_error("read the branches of the mirror", &error));
        Ok(self.record_damage(state)?.branches.into_iter().map(|(name, id)| (name, id.into())).collect())
    }

    /// The branch the remote calls its default, which need not exist in an empty repository.
    pub fn default_branch(&self) -> Option<String> {
        refs::head(&self.repo())
    }

    /// The files at a commit.
    ///
    /// # Errors
    /// [`GitError::NoSuchCommit`], [`GitError::Corrupt`].
    pub fn base(&self, commit: CommitId) -> Result<Base, GitError> {
        Base::new(self.shared.clone(), commit)
    }

    /// An overlay with no edits on a commit.
    ///
    /// # Errors
    /// As [`base`](Self::base).
    pub fn overlay(&self, commit: CommitId) -> Result<Overlay, GitError> {
        self.base(commit).map(Overlay::new)
    }

    /// Writes the overlay as a commit. The same overlay and `meta` always give the same id. The cost depends on the
    /// edits alone: only folders on the way to an edit are read and written.
    ///
    /// No branch of the mirror points at the commit: if it is not pushed, it is garbage-collected some weeks later.
    ///
    /// # Errors
    /// [`GitError::Corrupt`], [`GitError::Io`].
    pub fn commit(&self, overlay: &Overlay, meta: &CommitMeta) -> Result<CommitId, GitError> {
        let repo = self.repo();
        let mut new_objects = Vec::new();
        let mut changes = Vec::new();
        for (path, change) in overlay.changed() {
            let leaf = match change {
                PathEdit::Deleted => None,
                PathEdit::Replaced { bytes, blob, mode } => {
                    new_objects.push(NewObject { id: blob.object(), kind: Kind::Blob, data: bytes.to_vec() });
                    Some(Leaf { mode: mode.kind().into(), id: blob.object() })
                }
            };
            changes.push((path.as_bytes(), leaf));
        }
        let tree =
            self.record_damage(tree::apply(&repo, overlay.base().tree(), changes.into_iter(), &mut new_objects))?;
        self.write_commit(tree, meta, new_objects)
    }

    pub(crate) fn write_commit(
        &self,
        tree: gix::ObjectId,
        meta: &CommitMeta,
        mut new_objects: Vec<NewObject>,
    ) -> Result<CommitId, GitError> {
        let commit = NewObject::new(Kind::Commit, commit_data(tree, meta));
        let id = commit.id;
        new_objects.push(commit);
        pack::store(&self.shared.repo.objects_dir(), &new_objects, Durability::Cached)
            .map_err(GitError::io("write a commit into the mirror"))?;
        Ok(id.into())
    }

    /// The changes from one commit to another, file by file, within the limits of `view`.
    ///
    /// # Errors
    /// [`GitError::NoSuchCommit`], [`GitError::Corrupt`].
    pub fn diff(&self, from: CommitId, to: CommitId, view: &DiffView) -> Result<Diff, GitError> {
        let repo = self.repo();
        let (old, new) = (odb::commit_tree(&repo, from)?, odb::commit_tree(&repo, to)?);
        self.record_damage(diff::between(&repo, old, new, view))
    }

    /// The best common ancestor of two commits, `None` when they share no history.
    ///
    /// # Errors
    /// [`GitError::NoSuchCommit`], [`GitError::Corrupt`].
    pub fn merge_base(&self, a: CommitId, b: CommitId) -> Result<Option<CommitId>, GitError> {
        self.record_damage(graph::merge_base(&self.repo(), a, b))
    }

    /// Whether `ancestor` is `commit` itself or one of its ancestors.
    ///
    /// # Errors
    /// As [`merge_base`](Self::merge_base).
    pub fn is_ancestor(&self, ancestor: CommitId, commit: CommitId) -> Result<bool, GitError> {
        Ok(self.merge_base(ancestor, commit)? == Some(ancestor))
    }

    /// The commits that `tip` has and `without` lacks, newest first, at most `limit`.
    ///
    /// # Errors
    /// As [`merge_base`](Self::merge_base).
    pub fn commits(
        &self,
        tip: CommitId,
        without: Option<CommitId>,
        limit: usize,
    ) -> Result<Vec<CommitSummary>, GitError> {
        self.record_damage(graph::commits(&self.repo(), tip, without, limit))
    }

    /// The tip of a branch on the remote, queried from the remote itself without fetching.
    ///
    /// # Errors
    /// [`GitError::Unreachable`], [`GitError::Auth`], [`GitError::NotFound`] and similar.
    pub fn remote_branch(&self, remote: &Remote, name: &str) -> Result<Option<CommitId>, GitError> {
        name::check_branch(name)?;
        if let Location::Local(path) = remote.location()?
            && let Some(origin) = Origin::open(&path, &remote.redacted())?
        {
            let found =
                refs::branch(&origin.repo(), name).map_err(|error| refs::unreadable(&self.repository, &error))?;
            return Ok(found.map(CommitId::from));
        }
        let found = upload_pack::branch(&self.repo(), remote, name, self.shared.limits.fetch)?;
        Ok(found.map(CommitId::from))
    }

    /// Moves `branch` of the remote from `expected` (`None`: it must not exist) to `commit`. On return the branch has
    /// moved; on a remote on this machine, the change is flushed to disk. A branch that is at `commit` already is no
    /// error.
    ///
    /// # Errors
    /// [`PushError::Moved`] when the branch is at another commit; nothing was changed then.
    pub fn push(
        &self,
        remote: &Remote,
        branch: &str,
        commit: CommitId,
        expected: Option<CommitId>,
    ) -> Result<PushOutcome, PushError> {
        name::check_branch(branch)?;
        // git would blame the remote for a commit that the mirror lacks.
        odb::commit_tree(&self.repo(), commit)?;
        let pushed = Push { mirror: self, shared: &self.shared, remote, branch, commit, expected }.run()?;
        self.record(branch, commit);
        maintenance::mirror_when_due(&self.shared);
        Ok(pushed)
    }
}

impl Mirror {
    /// Records the pushed branch in the mirror. If that fails, a running fetch or the next one records it.
    fn record(&self, branch: &str, commit: CommitId) {
        let Some(_lock) = lock::at_once(&self.shared.dir) else { return };
        if let Err(error) = refs::record(&self.repo(), branch, commit.object()) {
            tracing::debug!(branch, %error, "left to the next fetch");
        }
    }
}

pub(crate) fn commit_data(tree: gix::ObjectId, meta: &CommitMeta) -> Vec<u8> {
    let Signature { name, email } = Signature::sanitized(&meta.name, &meta.email);
    let name = if name.is_empty() { "unknown" } else { &name };
    let who = format!("{name} <{email}> {} +0000", meta.seconds);
    let mut text = format!("tree {tree}\n");
    for parent in &meta.parents {
        text.push_str(&format!("parent {parent}\n"));
    }
    let message = meta.message.replace('\0', "").replace("\r\n", "\n");
    text.push_str(&format!("author {who}\ncommitter {who}\n\n{}\n", message.trim()));
    text.into_bytes()
}
