//! Pairs deleted and added files as renames.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Pair, Side, content, size};
use crate::error::GitError;
use crate::id::BlobId;

/// Above this many additions or deletions, edited files are not matched as renames.
const RENAMES_AT_MOST: usize = 100;
/// Maximum total size in bytes of these files; above it, edited files are not matched either.
const BYTES_AT_MOST: usize = 4 << 20;
/// Fraction of the larger file that both must share to count as a rename with edits.
const SIMILARITY: f64 = 0.5;

/// Joins a deletion and an addition of equal or similar content into one rename.
pub(super) fn joined(repo: &gix::Repository, pairs: Vec<Pair>) -> Result<Vec<Pair>, GitError> {
    let is_file = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.mode.is_file());
    let mut deleted: Vec<usize> =
        (0..pairs.len()).filter(|&i| pairs[i].new.is_none() && is_file(&pairs[i].old)).collect();
    let mut added: Vec<usize> =
        (0..pairs.len()).filter(|&i| pairs[i].old.is_none() && is_file(&pairs[i].new)).collect();
    if deleted.is_empty() || added.is_empty() {
        return Ok(pairs);
    }
    // Current path → previous path.
    let mut found = same_content(&pairs, &deleted, &added);
    let taken: HashSet<usize> = found.values().copied().collect();
    deleted.retain(|was| !taken.contains(was));
    added.retain(|now| !found.contains_key(now));
    found.extend(similar_content(repo, &pairs, &deleted, &added)?);

    let mut pairs: Vec<Option<Pair>> = pairs.into_iter().map(Some).collect();
    let mut old_pairs: HashMap<usize, Pair> = HashMap::new();
    for (&now, &was) in &found {
        if let Some(pair) = pairs[was].take() {
            old_pairs.insert(now, pair);
        }
    }
    let joined = pairs.into_iter().enumerate().filter_map(|(index, pair)| {
        let mut pair = pair?;
        if let Some(from) = old_pairs.remove(&index) {
            pair.old_path = Some(from.path);
            pair.old = from.old;
        }
        Some(pair)
    });
    Ok(joined.collect())
}

/// Files with the same content.
fn same_content(pairs: &[Pair], deleted: &[usize], added: &[usize]) -> HashMap<usize, usize> {
    let mut by_blob: HashMap<BlobId, VecDeque<usize>> = HashMap::new();
    for &was in deleted {
        if let Some(side) = &pairs[was].old {
            by_blob.entry(side.blob).or_default().push_back(was);
        }
    }
    let found = |now: &usize| {
        let blob = pairs[*now].new.as_ref()?.blob;
        Some((*now, by_blob.get_mut(&blob)?.pop_front()?))
    };
    added.iter().filter_map(found).collect()
}

/// Files with similar content, the most similar first; ties are broken by the order of the paths.
fn similar_content(
    repo: &gix::Repository,
    pairs: &[Pair],
    deleted: &[usize],
    added: &[usize],
) -> Result<HashMap<usize, usize>, GitError> {
    let mut found = HashMap::new();
    if deleted.len().max(added.len()) > RENAMES_AT_MOST {
        return Ok(found);
    }
    let sides = |indices: &[usize]| -> Vec<(usize, Side)> {
        let side = |index: usize| pairs[index].old.or(pairs[index].new);
        indices.iter().filter_map(|&index| Some((index, side(index)?))).collect()
    };
    let (deleted, added) = (sides(deleted), sides(added));
    let mut bytes = 0;
    for (_, side) in deleted.iter().chain(&added) {
        bytes += size(repo, side)?;
        if bytes > BYTES_AT_MOST {
            return Ok(found);
        }
    }
    let lines = |sides: &[(usize, Side)]| -> Result<Vec<(usize, LineHashes)>, GitError> {
        sides.iter().map(|(index, side)| Ok((*index, LineHashes::of(&content(repo, side)?)))).collect()
    };
    let (deleted, added) = (lines(&deleted)?, lines(&added)?);
    let mut scored = Vec::new();
    for (now, after) in &added {
        for (was, before) in &deleted {
            let score = before.similarity(after);
            if score >= SIMILARITY {
                scored.push((score, *was, *now));
            }
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut taken = HashSet::new();
    for (_, was, now) in scored {
        if !found.contains_key(&now) && taken.insert(was) {
            found.insert(now, was);
        }
    }
    Ok(found)
}

/// The hashes of a file's lines, sorted, each with the bytes of its lines.
struct LineHashes {
    bytes: usize,
    weights: Vec<(u64, usize)>,
}

impl LineHashes {
    fn of(content: &[u8]) -> Self {
        let hash = |line: &[u8]| {
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            hasher.finish()
        };
        let mut lines: Vec<(u64, usize)> =
            content.split_inclusive(|byte| *byte == b'\n').map(|line| (hash(line), line.len())).collect();
        lines.sort_unstable();
        lines.dedup_by(|line, kept| {
            let is_same = line.0 == kept.0;
            kept.1 += if is_same { line.1 } else { 0 };
            is_same
        });
        Self { bytes: content.len(), weights: lines }
    }

    fn similarity(&self, other: &Self) -> f64 {
        let (smaller, larger) = (self.bytes.min(other.bytes), self.bytes.max(other.bytes));
        if larger == 0 || (smaller as f64) < larger as f64 * SIMILARITY {
            return 0.0;
        }
        let mut common = 0;
        let mut others = other.weights.iter().peekable();
        for (hash, weight) in &self.weights {
            while others.next_if(|(other, _)| other < hash).is_some() {}
            if let Some((_, other)) = others.next_if(|(other, _)| other == hash) {
                common += weight.min(other);
            }
        }
        common as f64 / larger as f64
    }
}
