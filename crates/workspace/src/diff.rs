//! What changed between two trees, file by file, as people read it.

use std::collections::HashMap;
use std::sync::Arc;

use gix::bstr::ByteSlice;
use similar::{ChangeTag, TextDiff};

use crate::base::FileMode;
use crate::error::GitError;
use crate::id::BlobId;
use crate::odb::{self, tree};
use crate::overlay::{Change, Overlay};

/// Files larger than this are described, not compared line by line.
const COMPARED_AT_MOST: usize = 1 << 20;
/// Above this many additions or deletions, renames with edits are not looked for.
const RENAMES_AT_MOST: usize = 200;
/// How much of the larger file must be common for a rename with edits.
const RENAME_SIMILARITY: f64 = 0.5;

/// What happened to a file.
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
    /// Lines added; 0 for what is not text.
    pub additions: usize,
    /// Lines deleted; 0 for what is not text.
    pub deletions: usize,
    /// Not text, or too large to compare: `unified` says so in place of lines.
    pub is_binary: bool,
    /// The change as `git diff` shows it, headers included.
    pub unified: String,
}

/// One side of a change.
#[derive(Clone)]
struct Side {
    blob: BlobId,
    mode: FileMode,
    /// The content, when it is not in the mirror.
    bytes: Option<Arc<[u8]>>,
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
) -> Result<Vec<FileDiff>, GitError> {
    let side = |leaf: tree::Leaf| Side { blob: leaf.id.into(), mode: FileMode::from_entry(leaf.mode), bytes: None };
    let pairs = tree::differences(repo, Some(old), Some(new))?
        .into_iter()
        .map(|one| Pair {
            path: one.path.to_str_lossy().into_owned(),
            old_path: None,
            old: one.old.map(side),
            new: one.new.map(side),
        })
        .collect();
    described(repo, pairs)
}

/// The changes an overlay makes to its base.
pub(crate) fn of_overlay(repo: &gix::Repository, overlay: &Overlay) -> Result<Vec<FileDiff>, GitError> {
    let mut pairs = Vec::new();
    for (path, change) in overlay.changed() {
        let old = tree::at(repo, overlay.base().tree(), path)?.filter(|leaf| !leaf.mode.is_tree());
        let old = old.map(|leaf| Side { blob: leaf.id.into(), mode: FileMode::from_entry(leaf.mode), bytes: None });
        let new = match change {
            Change::Replaced { bytes, blob, mode } => {
                Some(Side { blob: *blob, mode: *mode, bytes: Some(bytes.clone()) })
            }
            Change::Deleted => None,
        };
        pairs.push(Pair { path: path.to_owned(), old_path: None, old, new });
    }
    described(repo, pairs)
}

fn described(repo: &gix::Repository, pairs: Vec<Pair>) -> Result<Vec<FileDiff>, GitError> {
    let mut diffs = Vec::new();
    for pair in with_renames(repo, pairs)? {
        diffs.push(describe(repo, &pair)?);
    }
    Ok(diffs)
}

fn content(repo: &gix::Repository, side: &Side) -> Result<Arc<[u8]>, GitError> {
    match (&side.bytes, side.mode) {
        (Some(bytes), _) => Ok(bytes.clone()),
        (None, FileMode::Submodule) => Ok(Arc::from(format!("Subproject commit {}\n", side.blob).into_bytes())),
        (None, _) => Ok(odb::blob(repo, side.blob.object())?.into()),
    }
}

/// Joins a deletion and an addition of the same, or much the same, content into one rename.
fn with_renames(repo: &gix::Repository, pairs: Vec<Pair>) -> Result<Vec<Pair>, GitError> {
    let is_file = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.mode.is_file());
    let gone: Vec<usize> = (0..pairs.len()).filter(|&i| pairs[i].new.is_none() && is_file(&pairs[i].old)).collect();
    let come: Vec<usize> = (0..pairs.len()).filter(|&i| pairs[i].old.is_none() && is_file(&pairs[i].new)).collect();
    if gone.is_empty() || come.is_empty() {
        return Ok(pairs);
    }
    let mut found: HashMap<usize, usize> = HashMap::new(); // where it is now → where it was
    let mut left = gone;
    let blob = |side: &Option<Side>| side.as_ref().map(|side| side.blob);
    for &now in &come {
        if let Some(place) = left.iter().position(|&was| blob(&pairs[was].old) == blob(&pairs[now].new)) {
            found.insert(now, left.remove(place));
        }
    }
    if left.len() <= RENAMES_AT_MOST && come.len() <= RENAMES_AT_MOST {
        let mut lines = HashMap::new();
        for &index in left.iter().chain(come.iter().filter(|now| !found.contains_key(*now))) {
            let side = pairs[index].old.as_ref().or(pairs[index].new.as_ref());
            if let Some(side) = side {
                lines.insert(index, Lines::of(&content(repo, side)?));
            }
        }
        let mut scored = Vec::new();
        for &now in come.iter().filter(|now| !found.contains_key(*now)) {
            for &was in &left {
                let score = lines[&was].similarity(&lines[&now]);
                if score >= RENAME_SIMILARITY {
                    scored.push((score, was, now));
                }
            }
        }
        // The most alike first; between equals, the order of the paths decides.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (_, was, now) in scored {
            if !found.contains_key(&now) && !found.values().any(|&taken| taken == was) {
                found.insert(now, was);
            }
        }
    }
    let mut pairs: Vec<Option<Pair>> = pairs.into_iter().map(Some).collect();
    let mut froms: HashMap<usize, Pair> = HashMap::new();
    for (&now, &was) in &found {
        if let Some(pair) = pairs[was].take() {
            froms.insert(now, pair);
        }
    }
    let joined = pairs.into_iter().enumerate().filter_map(|(index, pair)| {
        let mut pair = pair?;
        if let Some(from) = froms.remove(&index) {
            pair.old_path = Some(from.path);
            pair.old = from.old;
        }
        Some(pair)
    });
    Ok(joined.collect())
}

/// How often each line occurs, weighed by its length.
struct Lines {
    bytes: usize,
    counts: HashMap<Vec<u8>, usize>,
}

impl Lines {
    fn of(content: &[u8]) -> Self {
        let mut counts = HashMap::new();
        if content.len() <= COMPARED_AT_MOST {
            for line in content.split_inclusive(|byte| *byte == b'\n') {
                *counts.entry(line.to_vec()).or_insert(0) += 1;
            }
        }
        Self { bytes: content.len(), counts }
    }

    fn similarity(&self, other: &Self) -> f64 {
        let larger = self.bytes.max(other.bytes);
        if larger == 0 {
            return 0.0;
        }
        let common: usize = self
            .counts
            .iter()
            .map(|(line, count)| line.len() * (*count).min(other.counts.get(line).copied().unwrap_or(0)))
            .sum();
        common as f64 / larger as f64
    }
}

fn describe(repo: &gix::Repository, pair: &Pair) -> Result<FileDiff, GitError> {
    let status = match (&pair.old, &pair.new) {
        (None, _) => FileStatus::Added,
        (_, None) => FileStatus::Deleted,
        _ if pair.old_path.is_some() => FileStatus::Renamed,
        _ => FileStatus::Modified,
    };
    let before = pair.old.as_ref().map(|side| content(repo, side)).transpose()?;
    let after = pair.new.as_ref().map(|side| content(repo, side)).transpose()?;
    let mut diff = FileDiff {
        path: pair.path.clone(),
        old_path: pair.old_path.clone(),
        status,
        additions: 0,
        deletions: 0,
        is_binary: [&before, &after].into_iter().flatten().any(|bytes| !is_text(bytes)),
        unified: header(pair, status),
    };
    let old_name = pair
        .old
        .as_ref()
        .map_or("/dev/null".to_owned(), |_| format!("a/{}", pair.old_path.as_ref().unwrap_or(&pair.path)));
    let new_name = pair.new.as_ref().map_or("/dev/null".to_owned(), |_| format!("b/{}", pair.path));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if diff.is_binary {
        if before != after {
            diff.unified.push_str(&format!("Binary files {old_name} and {new_name} differ\n"));
        }
        return Ok(diff);
    }
    let (before, after) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
    let lines = TextDiff::from_lines(before.as_ref(), after.as_ref());
    for change in lines.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => diff.additions += 1,
            ChangeTag::Delete => diff.deletions += 1,
            ChangeTag::Equal => {}
        }
    }
    let hunks = lines.unified_diff().context_radius(3).header(&old_name, &new_name).to_string();
    diff.unified.push_str(&hunks);
    Ok(diff)
}

/// As git decides it: a NUL among the first bytes makes a file binary.
fn is_text(bytes: &[u8]) -> bool {
    bytes.len() <= COMPARED_AT_MOST && !bytes.iter().take(8000).any(|byte| *byte == 0)
}

fn header(pair: &Pair, status: FileStatus) -> String {
    let old_path = pair.old_path.as_ref().unwrap_or(&pair.path);
    let mut text = format!("diff --git a/{old_path} b/{}\n", pair.path);
    let octal = |side: &Option<Side>| side.as_ref().map_or("", |side| side.mode.octal());
    let (before, after) = (octal(&pair.old), octal(&pair.new));
    match status {
        FileStatus::Added => text.push_str(&format!("new file mode {after}\n")),
        FileStatus::Deleted => text.push_str(&format!("deleted file mode {before}\n")),
        FileStatus::Modified | FileStatus::Renamed if before != after => {
            text.push_str(&format!("old mode {before}\nnew mode {after}\n"));
        }
        FileStatus::Modified | FileStatus::Renamed => {}
    }
    if status == FileStatus::Renamed {
        text.push_str(&format!("rename from {old_path}\nrename to {}\n", pair.path));
    }
    text
}
