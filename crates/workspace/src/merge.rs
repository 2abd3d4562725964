//! Merges one branch into another without a work tree.

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::Kind;

use crate::conflict::{ConflictKind, FileConflict, merged_lines};
use crate::error::{GitError, MergeError};
use crate::id::CommitId;
use crate::mirror::{CommitMeta, Mirror};
use crate::odb::tree::{self, Difference, Leaf};
use crate::odb::{self, NewObject};
use crate::remote::Remote;

/// The result of a successful merge. The commit is the new tip of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merged {
    /// The target contained the source already.
    Nothing(CommitId),
    /// The target had no commits of its own: it moved to the source.
    FastForward(CommitId),
    /// A new commit: with both as its parents after a merge, with the target alone after squashing.
    Commit(CommitId),
}

/// How to merge two changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileMerge {
    /// No special format: merge its lines.
    ByLines,
    Merged(Vec<u8>),
    /// The two changes conflict.
    Conflict,
}

/// Merges files by their structure, given the path and the contents of base, target and source.
pub type MergeFile<'a> = dyn Fn(&str, [&[u8]; 3]) -> FileMerge + 'a;

/// A merge that was made in spite of conflicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The merge commit. No branch points at it.
    pub commit: CommitId,
    /// The files with conflicts, in order of their paths: they are as in the base branch.
    pub conflicts: Vec<String>,
}

/// A tree with the changes of both sides, the objects that are new in it, and the conflicts: their files are as on our side.
struct MergedTree {
    tree: ObjectId,
    new_objects: Vec<NewObject>,
    conflicts: Vec<FileConflict>,
}

impl MergedTree {
    fn without_conflict(self) -> Result<(ObjectId, Vec<NewObject>), MergeError> {
        if self.conflicts.is_empty() {
            return Ok((self.tree, self.new_objects));
        }
        Err(MergeError::Conflict { paths: self.conflicts.into_iter().map(|file| file.path).collect() })
    }
}

impl Merged {
    /// The new tip of the target.
    pub const fn commit(self) -> CommitId {
        match self {
            Self::Nothing(commit) | Self::FastForward(commit) | Self::Commit(commit) => commit,
        }
    }
}

impl Mirror {
    /// Merges `source` into the branch `target` of the remote, as of the last fetch, and pushes. `meta` is for the
    /// merge commit, if one is needed; its parents are set here.
    ///
    /// A file changed on one side only is taken from that side. A file changed on both sides is merged by `files`.
    ///
    /// # Errors
    /// [`MergeError::Conflict`] with the paths; [`MergeError::Push`] with
    /// [`PushError::Moved`](crate::PushError::Moved) when the target moved since the fetch: fetch and merge again.
    pub fn merge(
        &self,
        remote: &Remote,
        source: CommitId,
        target: &str,
        meta: &CommitMeta,
        files: &MergeFile<'_>,
    ) -> Result<Merged, MergeError> {
        let ours = self.branch(target)?;
        let base = self.merge_base(ours, source)?.ok_or(MergeError::Unrelated)?;
        if base == source {
            return Ok(Merged::Nothing(ours));
        }
        if base == ours {
            self.push(remote, target, source, Some(ours))?;
            return Ok(Merged::FastForward(source));
        }
        let commit = self.merge_commit([base, ours, source], meta, files)?;
        self.push(remote, target, commit, Some(ours))?;
        Ok(Merged::Commit(commit))
    }

    /// Applies the changes of `source` to the branch `target` of the remote as one commit on it, and pushes. Otherwise
    /// as [`merge`](Self::merge).
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn squash(
        &self,
        remote: &Remote,
        source: CommitId,
        target: &str,
        meta: &CommitMeta,
        files: &MergeFile<'_>,
    ) -> Result<Merged, MergeError> {
        let ours = self.branch(target)?;
        let base = self.merge_base(ours, source)?.ok_or(MergeError::Unrelated)?;
        let (tree, new_objects) = self.merged([base, ours, source], files)?.without_conflict()?;
        if tree == odb::commit_tree(&self.repo(), ours)? {
            return Ok(Merged::Nothing(ours));
        }
        let meta = CommitMeta { parents: vec![ours], ..meta.clone() };
        let commit = self.write_commit(tree, &meta, new_objects)?;
        self.push(remote, target, commit, Some(ours))?;
        Ok(Merged::Commit(commit))
    }

    /// The conflicts of a merge of `source` into `target`, file by file. Nothing is written.
    ///
    /// # Errors
    /// [`MergeError::Unrelated`], [`MergeError::Git`].
    pub fn conflicts(
        &self,
        target: CommitId,
        source: CommitId,
        files: &MergeFile<'_>,
    ) -> Result<Vec<FileConflict>, MergeError> {
        let base = self.merge_base(target, source)?.ok_or(MergeError::Unrelated)?;
        Ok(self.merged([base, target, source], files)?.conflicts)
    }

    /// Merges `base` into `branch`, whatever conflicts: a file with a conflict is taken from `base`. Nothing is pushed.
    /// `meta` is for the merge commit; its parents are set here. `None` when one of the two has all commits of the other.
    ///
    /// # Errors
    /// [`MergeError::Unrelated`], [`MergeError::Git`].
    pub fn update(
        &self,
        branch: CommitId,
        base: CommitId,
        meta: &CommitMeta,
        files: &MergeFile<'_>,
    ) -> Result<Option<Update>, MergeError> {
        let common = self.merge_base(branch, base)?.ok_or(MergeError::Unrelated)?;
        if common == base || common == branch {
            return Ok(None);
        }
        let MergedTree { tree, new_objects, conflicts } = self.merged([common, base, branch], files)?;
        let meta = CommitMeta { parents: vec![branch, base], ..meta.clone() };
        let commit = self.write_commit(tree, &meta, new_objects)?;
        Ok(Some(Update { commit, conflicts: conflicts.into_iter().map(|file| file.path).collect() }))
    }

    fn merge_commit(
        &self,
        commits: [CommitId; 3],
        meta: &CommitMeta,
        files: &MergeFile<'_>,
    ) -> Result<CommitId, MergeError> {
        let (tree, new_objects) = self.merged(commits, files)?.without_conflict()?;
        let meta = CommitMeta { parents: commits[1..].to_vec(), ..meta.clone() };
        Ok(self.write_commit(tree, &meta, new_objects)?)
    }

    fn merged(&self, commits: [CommitId; 3], files: &MergeFile<'_>) -> Result<MergedTree, GitError> {
        self.record_damage(merged_tree(&self.repo(), commits, files))
    }
}

fn merged_tree(
    repo: &gix::Repository,
    [base, ours, theirs]: [CommitId; 3],
    files: &MergeFile<'_>,
) -> Result<MergedTree, GitError> {
    let mut new_objects = Vec::new();
    let tree_of = |commit| odb::commit_tree(repo, commit);
    let (base, ours, theirs) = (tree_of(base)?, tree_of(ours)?, tree_of(theirs)?);
    let our_changes = tree::differences(repo, Some(base), Some(ours))?;
    let their_changes = tree::differences(repo, Some(base), Some(theirs))?;
    let mut conflicts = Vec::new();
    let mut taken: Vec<(BString, Option<Leaf>)> = Vec::new();
    for their in their_changes {
        let our = our_changes.binary_search_by(|one| one.path.cmp(&their.path)).ok().map(|place| &our_changes[place]);
        let leaf = match our {
            None if is_file_folder_conflict(&our_changes, &their) => Err(ConflictKind::FileAndFolder),
            None => Ok(their.new),
            Some(our) if our.new == their.new => continue,
            Some(our) => merged_file(repo, our, &their, files, &mut new_objects)?.map(Some),
        };
        match leaf {
            Ok(leaf) => taken.push((their.path, leaf)),
            Err(kind) => conflicts.push(FileConflict { path: their.path.to_str_lossy().into_owned(), kind }),
        }
    }
    let changes = taken.iter().map(|(path, leaf)| (path.as_slice(), *leaf));
    let tree = tree::apply(repo, ours, changes, &mut new_objects)?;
    Ok(MergedTree { tree, new_objects, conflicts })
}

/// Whether one side made a file where the other made a folder.
fn is_file_folder_conflict(ours: &[Difference], their: &Difference) -> bool {
    let below = |inner: &BString, outer: &BString| {
        inner.strip_prefix(outer.as_slice()).is_some_and(|rest| rest.starts_with(b"/"))
    };
    their.new.is_some()
        && ours
            .iter()
            .filter(|our| our.new.is_some())
            .any(|our| below(&our.path, &their.path) || below(&their.path, &our.path))
}

/// Largest file that is merged, in bytes.
const MAX_MERGED_BYTES: usize = 4 << 20;

/// Merges one file changed on both sides, or returns the kind of conflict.
fn merged_file(
    repo: &gix::Repository,
    our: &Difference,
    their: &Difference,
    files: &MergeFile<'_>,
    new_objects: &mut Vec<NewObject>,
) -> Result<Result<Leaf, ConflictKind>, GitError> {
    let (base, ours, theirs) = match (our.old, our.new, their.new) {
        (Some(base), Some(ours), Some(theirs)) => (base, ours, theirs),
        (None, ..) => return Ok(Err(ConflictKind::AddedInBoth)),
        (_, None, _) => return Ok(Err(ConflictKind::DeletedInTarget)),
        (_, _, None) => return Ok(Err(ConflictKind::DeletedInSource)),
    };
    if ![base, ours, theirs].iter().all(|leaf| leaf.mode.is_blob()) {
        return Ok(Err(ConflictKind::NoText));
    }
    let mode = match (ours.mode == base.mode, theirs.mode == base.mode) {
        (true, _) => theirs.mode,
        (_, true) => ours.mode,
        _ if ours.mode == theirs.mode => ours.mode,
        _ => return Ok(Err(ConflictKind::NoText)),
    };
    // Only one side changed the content, or both made the same change.
    if ours.id == theirs.id || theirs.id == base.id {
        return Ok(Ok(Leaf { mode, id: ours.id }));
    }
    if ours.id == base.id {
        return Ok(Ok(Leaf { mode, id: theirs.id }));
    }
    for leaf in [base, ours, theirs] {
        if odb::blob_size(repo, leaf.id)? > MAX_MERGED_BYTES {
            return Ok(Err(ConflictKind::NoText));
        }
    }
    let read = |leaf: Leaf| odb::blob(repo, leaf.id);
    let (base, ours, theirs) = (read(base)?, read(ours)?, read(theirs)?);
    let merged = match files(&their.path.to_str_lossy(), [&base, &ours, &theirs]) {
        FileMerge::Merged(bytes) => Ok(bytes),
        FileMerge::Conflict => Err(ConflictKind::Structure),
        FileMerge::ByLines => merged_lines([&base, &ours, &theirs]),
    };
    Ok(merged.map(|merged| {
        let object = NewObject::new(Kind::Blob, merged);
        let id = object.id;
        new_objects.push(object);
        Leaf { mode, id }
    }))
}
