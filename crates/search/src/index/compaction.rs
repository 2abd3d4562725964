//! Compaction: merging many segments into few.
//!
//! Each update adds a segment, and the documents it replaces go on taking space in an old one. Every question searches
//! all segments, so segments of about the same size are merged, and a segment with many deleted documents is rewritten
//! without them. Small compactions run within an update, the rest on a background thread while updates and questions go
//! on.

use std::collections::HashSet;
use std::sync::Arc;

use tantivy::Searcher;

use crate::error::SearchError;
use crate::index::engine;
use crate::index::generations::{Generations, Segment};
use crate::index::manifest::Delta;
use crate::index::schema::Fields;
use crate::index::snapshot::Snapshot;

/// Limits of a compaction.
#[derive(Debug)]
pub(crate) struct CompactionLimits {
    /// Maximum number of live documents rewritten at a time.
    documents: u32,
    /// Maximum total size of the segments merged at a time, in bytes: merging happens in memory.
    bytes: u64,
    /// Maximum number of segments of about the same size.
    max_similar_segments: usize,
    /// Maximum share of deleted documents in a segment, in percent.
    max_deleted_percent: u32,
    /// Segments with fewer live documents than this are not rewritten because of deleted documents.
    min_live_documents: u32,
}

/// Compaction within an update: keeps a small index tidy, and keeps a large one from fragmenting where background
/// compaction never gets to run.
pub(crate) const INLINE: CompactionLimits = CompactionLimits {
    documents: 600,
    bytes: 4 << 20,
    max_similar_segments: 16,
    max_deleted_percent: 0,
    min_live_documents: 0,
};
/// Compaction in the background.
pub(crate) const BACKGROUND: CompactionLimits = CompactionLimits {
    documents: 2_000_000,
    bytes: 160 << 20,
    max_similar_segments: 5,
    max_deleted_percent: 10,
    min_live_documents: 1_000,
};

/// Ids of the segments to merge into one, in their order; `None` when nothing is due.
pub(crate) fn due(segments: &[Segment], limits: &CompactionLimits) -> Option<Vec<String>> {
    let sizes: Vec<Size> = segments.iter().map(Size::of).collect();
    due_of(&sizes, limits).map(|some| some.into_iter().map(|at| segments[at].id.clone()).collect())
}

/// Merges the segments with the ids `some` into one. Returns the remaining segments and the merged one.
pub(crate) fn merge(
    generations: &Generations,
    fields: &Fields,
    segments: &[Segment],
    some: &[String],
) -> Result<Vec<Segment>, SearchError> {
    let (old, mut kept): (Vec<Segment>, Vec<Segment>) =
        segments.iter().cloned().partition(|segment| some.contains(&segment.id));
    let made = engine::merged(fields, &old).map_err(|error| generations.engine("merge", error))?;
    kept.extend(made.map(|made| generations.write_segment(&made)).transpose()?);
    Ok(kept)
}

/// Runs one background compaction. Updates go on meanwhile: documents they delete from the old segments are deleted
/// from the merged one as well. `None` when another process is compacting, when nothing is due, or when some of the old
/// segments are no longer in the current state.
pub(crate) fn run(generations: &Generations, known: &Arc<Snapshot>) -> Result<Option<Arc<Snapshot>>, SearchError> {
    let Some(compaction_lock) = generations.try_lock_for_compaction()? else { return Ok(None) };
    let Some(state) = known.state() else { return Ok(None) };
    let fields = &known.fields;
    let Some(some) = due(&state.segments, &BACKGROUND) else { return Ok(None) };
    let old: Vec<Segment> = state.segments.iter().filter(|segment| some.contains(&segment.id)).cloned().collect();
    let made = engine::merged(fields, &old).map_err(|error| generations.engine("merge", error))?;
    let made = made
        .map(|made| generations.write_unpublished(&compaction_lock, &made).map(|unpublished| (unpublished, made)))
        .transpose()?;

    let lock = generations.lock_for_publishing()?;
    let Some(now) = generations.load(Some(state))? else { return Ok(None) };
    let current: Vec<&Segment> = now.segments.iter().filter(|segment| some.contains(&segment.id)).collect();
    if current.len() != old.len() {
        return Ok(None);
    }
    let base = Snapshot::next(generations, known, Arc::clone(&now))?;
    let mut segments: Vec<Segment> =
        now.segments.iter().filter(|segment| !some.contains(&segment.id)).cloned().collect();
    if let Some((unpublished, made)) = made {
        let segment = generations.adopt(&unpublished, &made)?;
        let gone = dropped_since(base.searcher(), &now.segments, &old, fields)
            .map_err(|error| generations.engine("read", error))?;
        let searcher = engine::searcher(fields, std::slice::from_ref(&segment));
        let documents = searcher.and_then(|searcher| engine::documents_of(&searcher, fields, &gone));
        let documents = documents.map_err(|error| generations.engine("read", error))?;
        segments.push(segment.without(documents.into_iter().flatten()));
    }
    let docs = Delta { commit: now.manifest.commit.clone(), next_file: now.manifest.next_file, ..Delta::default() };
    let next = generations.publish(&lock, Some(&now), docs, segments)?;
    Snapshot::next(generations, &base, next).map(Some)
}

/// Ids of the pages whose documents are live in `old` but deleted in the same segments now.
fn dropped_since(
    searcher: Option<&Searcher>,
    now: &[Segment],
    old: &[Segment],
    fields: &Fields,
) -> tantivy::Result<Vec<u64>> {
    let mut pages = HashSet::new();
    for (reader, segment) in searcher.into_iter().flat_map(Searcher::segment_readers).zip(now) {
        let Some(before) = old.iter().find(|before| before.id == segment.id) else { continue };
        let numbers = reader.fast_fields().u64(fields.schema.get_field_name(fields.page))?;
        pages.extend(segment.deleted_since(before).filter_map(|document| numbers.first(document)));
    }
    Ok(pages.into_iter().collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    alive: u32,
    deleted: u32,
    bytes: u64,
}

impl Size {
    fn of(segment: &Segment) -> Self {
        let alive = segment.alive();
        Self { alive, deleted: segment.documents - alive, bytes: segment.written.bytes }
    }

    fn is_wasteful(&self, percent: u32) -> bool {
        u64::from(self.deleted) * 100 > u64::from(percent) * u64::from(self.alive + self.deleted)
    }
}

fn due_of(segments: &[Size], limits: &CompactionLimits) -> Option<Vec<usize>> {
    let fits = |size: &Size| size.alive <= limits.documents && size.bytes <= limits.bytes;
    let mut by_size: Vec<usize> = (0..segments.len()).filter(|at| fits(&segments[*at])).collect();
    by_size.sort_by_key(|at| (segments[*at].alive, *at));
    let mut run = of_like_size(segments, &by_size, limits);
    if run.len() > limits.max_similar_segments {
        // Older segments first.
        run.sort_unstable();
        return Some(run);
    }
    // Next to segments that are too large to be rewritten inline, a few deleted documents make no difference.
    let looked_at: u32 = by_size.iter().map(|at| segments[*at].alive).sum();
    let all: u32 = segments.iter().map(|size| size.alive).sum();
    let wasteful = |at: &usize| {
        segments[*at].alive >= limits.min_live_documents && segments[*at].is_wasteful(limits.max_deleted_percent)
    };
    if looked_at < all && limits.min_live_documents == 0 {
        return None;
    }
    by_size.into_iter().find(wasteful).map(|at| vec![at])
}

/// The longest run of segments, from the smallest on, whose last segment has at most twice as many live documents (plus
/// 100) as all before it together.
fn of_like_size(segments: &[Size], by_size: &[usize], limits: &CompactionLimits) -> Vec<usize> {
    let (mut documents, mut bytes, mut run, mut longest) = (0, 0, Vec::new(), 0);
    for at in by_size {
        let size = segments[*at];
        if documents + size.alive > limits.documents || bytes + size.bytes > limits.bytes {
            break;
        }
        if u64::from(size.alive) <= 2 * u64::from(documents) + 100 {
            longest = run.len() + 1;
        }
        documents += size.alive;
        bytes += size.bytes;
        run.push(*at);
    }
    run.truncate(longest);
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(alive: u32, deleted: u32) -> Size {
        Size { alive, deleted, bytes: u64::from(alive) * 1000 }
    }

    fn sizes(of: &[(u32, u32)]) -> Vec<Size> {
        of.iter().map(|(alive, deleted)| size(*alive, *deleted)).collect()
    }

    #[test]
    fn segments_of_like_size_are_made_one_and_a_large_one_is_left() {
        for (segments, later) in [
            (vec![(70_000, 0), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0)], None),
            (vec![(70_000, 0), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0), (10, 0)], Some(vec![1, 2, 3, 4, 5, 6])),
            (
                vec![(9_000, 0), (9_000, 0), (9_000, 0), (9_000, 0), (9_000, 0), (8_000, 0)],
                Some(vec![0, 1, 2, 3, 4, 5]),
            ),
            (vec![(60, 0), (10, 0), (70_000, 0), (10, 0), (200, 0), (10, 0), (10, 0)], Some(vec![0, 1, 3, 4, 5, 6])),
            (vec![], None),
        ] {
            assert_eq!(due_of(&sizes(&segments), &BACKGROUND), later, "{segments:?}");
        }
    }

    #[test]
    fn deleted_documents_are_compacted_above_a_share() {
        assert_eq!(due_of(&sizes(&[(70_000, 5_000), (10, 0)]), &BACKGROUND), None);
        assert_eq!(due_of(&sizes(&[(70_000, 9_000), (10, 0)]), &BACKGROUND), Some(vec![0]));
        assert_eq!(due_of(&sizes(&[(10, 9)]), &BACKGROUND), None);
        assert_eq!(due_of(&sizes(&[(10, 0), (100, 1)]), &INLINE), Some(vec![1]), "a small index is always tidy");
        assert_eq!(due_of(&sizes(&[(70_000, 1), (100, 1)]), &INLINE), None);
    }

    #[test]
    fn merging_ends() {
        // Every step leaves fewer segments or fewer deleted documents.
        let mut segments = sizes(&[(5, 1); 40]);
        segments.extend(sizes(&[(3_000, 900), (70_000, 30_000)]));
        for limits in [&INLINE, &BACKGROUND] {
            let mut steps = 0;
            while let Some(some) = due_of(&segments, limits) {
                let alive = some.iter().map(|at| segments[*at].alive).sum();
                segments = (0..segments.len()).filter(|at| !some.contains(at)).map(|at| segments[at]).collect();
                segments.push(size(alive, 0));
                steps += 1;
                assert!(steps < 100);
            }
        }
        assert!(segments.len() < 10, "{segments:?}");
    }
}
