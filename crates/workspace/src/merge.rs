//! Bringing one branch into another without a work tree.

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::Kind;
use similar::TextMerge;

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
    /// A commit with two parents joins both.
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

/// Merges files whose structure matters, by path and content: base, target and source.
pub type MergeFile<'a> = dyn Fn(&str, [&[u8]; 3]) -> FileMerge + 'a;

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
    /// Files changed on one side are taken from there. A text changed on both sides is merged as `files` says.
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

    fn merge_commit(
        &self,
        commits: [CommitId; 3],
        meta: &CommitMeta,
        files: &MergeFile<'_>,
    ) -> Result<CommitId, MergeError> {
        let mut made = Vec::new();
        let tree = self
            .noted(merged_tree(&self.repo(), commits, files, &mut made))?
            .map_err(|paths| MergeError::Conflict { paths })?;
        let meta = CommitMeta { parents: commits[1..].to_vec(), ..meta.clone() };
        Ok(self.write_commit(tree, &meta, made)?)
    }
}

/// The tree with the changes of both sides, or the conflicting paths.
fn merged_tree(
    repo: &gix::Repository,
    [base, ours, theirs]: [CommitId; 3],
    files: &MergeFile<'_>,
    made: &mut Vec<NewObject>,
) -> Result<Result<ObjectId, Vec<String>>, GitError> {
    let tree_of = |commit| odb::commit_tree(repo, commit);
    let (base, ours, theirs) = (tree_of(base)?, tree_of(ours)?, tree_of(theirs)?);
    let our_changes = tree::differences(repo, Some(base), Some(ours))?;
    let their_changes = tree::differences(repo, Some(base), Some(theirs))?;
    let mut conflicts = Vec::new();
    let mut take: Vec<(BString, Option<Leaf>)> = Vec::new();
    for their in their_changes {
        let our = our_changes.binary_search_by(|one| one.path.cmp(&their.path)).ok().map(|place| &our_changes[place]);
        match our {
            None if is_file_folder_conflict(&our_changes, &their) => conflicts.push(their.path),
            None => take.push((their.path, their.new)),
            Some(our) if our.new == their.new => {}
            Some(our) => match merged_file(repo, our, &their, files, made)? {
                Some(leaf) => take.push((their.path, Some(leaf))),
                None => conflicts.push(their.path),
            },
        }
    }
    if !conflicts.is_empty() {
        return Ok(Err(conflicts.iter().map(|path| path.to_str_lossy().into_owned()).collect()));
    }
    let changes = take.iter().map(|(path, leaf)| (path.as_slice(), *leaf));
    tree::apply(repo, ours, changes, made).map(Ok)
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

/// Files larger than this are not merged.
const MERGED_AT_MOST: usize = 4 << 20;

/// One text changed on both sides, merged. `None` on a conflict.
fn merged_file(
    repo: &gix::Repository,
    our: &Difference,
    their: &Difference,
    files: &MergeFile<'_>,
    made: &mut Vec<NewObject>,
) -> Result<Option<Leaf>, GitError> {
    let (Some(base), Some(ours), Some(theirs)) = (our.old, our.new, their.new) else { return Ok(None) };
    if ![base, ours, theirs].iter().all(|leaf| leaf.mode.is_blob()) {
        return Ok(None);
    }
    let mode = match (ours.mode == base.mode, theirs.mode == base.mode) {
        (true, _) => theirs.mode,
        (_, true) => ours.mode,
        _ if ours.mode == theirs.mode => ours.mode,
        _ => return Ok(None),
    };
    // Only the mode changed on one side.
    if ours.id == theirs.id || theirs.id == base.id {
        return Ok(Some(Leaf { mode, id: ours.id }));
    }
    if ours.id == base.id {
        return Ok(Some(Leaf { mode, id: theirs.id }));
    }
    for leaf in [base, ours, theirs] {
        if odb::blob_size(repo, leaf.id)? > MERGED_AT_MOST {
            return Ok(None);
        }
    }
    let read = |leaf: Leaf| odb::blob(repo, leaf.id);
    let (base, ours, theirs) = (read(base)?, read(ours)?, read(theirs)?);
    let merged = match files(&their.path.to_str_lossy(), [&base, &ours, &theirs]) {
        FileMerge::Merged(bytes) => Some(bytes),
        FileMerge::Conflict => None,
        FileMerge::ByLines => merged_lines([&base, &ours, &theirs]),
    };
    let Some(merged) = merged else { return Ok(None) };
    let object = NewObject::new(Kind::Blob, merged);
    let id = object.id;
    made.push(object);
    Ok(Some(Leaf { mode, id }))
}

fn merged_lines(sides: [&[u8]; 3]) -> Option<Vec<u8>> {
    let [Ok(base), Ok(ours), Ok(theirs)] = sides.map(str::from_utf8) else { return None };
    if [base, ours, theirs].iter().any(|text| text.contains('\0')) {
        return None;
    }
    let merge = TextMerge::from_lines(base, ours, theirs);
    (!merge.is_conflicted()).then(|| merge.to_string().into_bytes())
}
