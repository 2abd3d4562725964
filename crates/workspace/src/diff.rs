//! The changes between two trees, file by file, as unified diffs.
//!
//! A repository may contain anything, so a [`DiffView`] limits everything here: files that are compared, bytes that are
//! read for it, time, and the size of the result.

mod compare;
mod renames;

use std::time::{Duration, Instant};

use gix::bstr::ByteSlice;

use crate::error::GitError;
use crate::id::BlobId;
use crate::odb::{self, tree};
use crate::tree_file::FileMode;

use self::compare::Budget;

/// The part of a diff to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffView {
    /// Only the file of this path.
    pub only: Option<String>,
    /// Files before this one, counted from 0 in order of their paths, are left out.
    pub first_file: usize,
    /// The most files in the result.
    pub files: usize,
    /// Bytes of content that are read to compare files. A file that would exceed the limit is listed but not compared.
    pub compared_bytes: usize,
    /// The first line of each file's `unified`, counted from 0.
    pub first_line: usize,
    /// The most lines of a file's `unified`.
    pub lines: usize,
    /// The most bytes of a file's `unified`.
    pub file_bytes: usize,
    /// The most bytes of all `unified` together.
    pub bytes: usize,
    /// Time limit. After it, the remaining files are compared coarsely: all of the old lines against all of the new.
    pub time: Duration,
}

impl Default for DiffView {
    fn default() -> Self {
        Self {
            only: None,
            first_file: 0,
            files: 3_000,
            compared_bytes: 64 << 20,
            first_line: 0,
            lines: 2_000,
            file_bytes: 256 << 10,
            bytes: 8 << 20,
            time: Duration::from_secs(5),
        }
    }
}

/// What changed between two trees, within the limits of a [`DiffView`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// In order of their paths.
    pub files: Vec<FileDiff>,
    /// How many files changed in all.
    pub files_in_all: usize,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileStatus {
    Added,
    Modified,
    Deleted,
    /// Moved, with or without edits.
    Renamed,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// The path now; for a deleted file, the path it had.
    pub path: String,
    /// The path before, of a renamed file.
    pub old_path: Option<String>,
    pub status: FileStatus,
    /// Lines added; 0 for what was not compared.
    pub additions: usize,
    /// Lines deleted; 0 for what was not compared.
    pub deletions: usize,
    /// Not text, or too large to compare: `unified` says so instead of showing lines.
    pub is_binary: bool,
    /// The change as `git diff` shows it, headers included, or the part of it that was asked for.
    pub unified: String,
    /// Number of lines of the whole change as `git diff` shows it.
    pub lines: usize,
}

/// One side of a change.
#[derive(Clone, Copy)]
struct Side {
    blob: BlobId,
    mode: FileMode,
}

struct Pair {
    path: String,
    old_path: Option<String>,
    old: Option<Side>,
    new: Option<Side>,
}

/// The changes from one tree to another.
pub(crate) fn between(
    repo: &gix::Repository,
    old: gix::ObjectId,
    new: gix::ObjectId,
    view: &DiffView,
) -> Result<Diff, GitError> {
    described(repo, pairs_between(repo, old, new)?, view)
}

/// A file that differs between two trees: its path and content in the old one, and its path in the new one.
pub(crate) struct PathChange {
    pub(crate) old: Option<(String, BlobId)>,
    pub(crate) new: Option<String>,
}

/// The files that differ between two trees, without links and submodules.
pub(crate) fn path_changes(
    repo: &gix::Repository,
    old: gix::ObjectId,
    new: gix::ObjectId,
) -> Result<Vec<PathChange>, GitError> {
    let mut pairs = pairs_between(repo, old, new)?;
    pairs.retain(|pair| pair.old.iter().chain(&pair.new).all(|side| side.mode.is_file()));
    let pairs = renames::joined(repo, pairs)?.into_iter();
    Ok(pairs
        .map(|Pair { path, old_path, old, new }| PathChange {
            old: old.map(|side| (old_path.unwrap_or_else(|| path.clone()), side.blob)),
            new: new.map(|_| path),
        })
        .collect())
}

fn pairs_between(repo: &gix::Repository, old: gix::ObjectId, new: gix::ObjectId) -> Result<Vec<Pair>, GitError> {
    let side = |leaf: tree::Leaf| Side { blob: leaf.id.into(), mode: FileMode::from_entry(leaf.mode) };
    let differences = tree::differences(repo, Some(old), Some(new))?.into_iter();
    let pairs = differences.map(|one| Pair {
        path: one.path.to_str_lossy().into_owned(),
        old_path: None,
        old: one.old.map(side),
        new: one.new.map(side),
    });
    Ok(pairs.collect())
}

fn described(repo: &gix::Repository, pairs: Vec<Pair>, view: &DiffView) -> Result<Diff, GitError> {
    let pairs = renames::joined(repo, pairs)?;
    let mut diff = Diff { files: Vec::new(), files_in_all: pairs.len() };
    let mut budget = Budget::new(view, Instant::now());
    let wanted = pairs.iter().filter(|pair| view.only.as_ref().is_none_or(|only| *only == pair.path));
    for pair in wanted.skip(view.first_file).take(view.files) {
        diff.files.push(compare::file(repo, pair, view, &mut budget)?);
    }
    Ok(diff)
}

/// The size of one side in bytes, without reading its content.
fn size(repo: &gix::Repository, side: &Side) -> Result<usize, GitError> {
    match side.mode {
        FileMode::Submodule => Ok(0),
        _ => odb::blob_size(repo, side.blob.object()),
    }
}

fn content(repo: &gix::Repository, side: &Side) -> Result<Vec<u8>, GitError> {
    match side.mode {
        FileMode::Submodule => Ok(format!("Subproject commit {}\n", side.blob).into_bytes()),
        _ => odb::blob(repo, side.blob.object()),
    }
}
