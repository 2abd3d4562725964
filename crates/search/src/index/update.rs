//! Bringing an index up to date.
//!
//! Changed files are read and become segments next to the existing ones; the old documents of those files are marked as
//! deleted; then the new state is published. A small change rewrites nothing large: that is left to
//! [`crate::index::compaction`], most of it later and on its own thread.

use std::sync::Arc;
use std::time::Instant;

use crate::error::SearchError;
use crate::index::compaction::{INLINE, due, merge};
use crate::index::engine;
use crate::index::generations::{Generations, PublishLock, Segment, State};
use crate::index::manifest::{Delta, Manifest, ManifestFile};
use crate::index::safeguard::Safeguard;
use crate::index::skips::Skips;
use crate::index::snapshot::Snapshot;
use crate::index::update_plan::{KnownLayout, Listing, Plan};
use crate::index::update_read::{Indexed, Reading};
use crate::source::{Oddity, Progress, Source, Stage, Summary};

/// Maximum number of problems listed in a summary.
const MOST_ODDITIES: usize = 100;

/// One update of an index.
pub(crate) struct Update<'u> {
    pub(crate) generations: &'u Generations,
    pub(crate) layout: &'u KnownLayout,
    pub(crate) safeguard: &'u Safeguard,
    /// Number of threads; 0 for one per core.
    pub(crate) threads: usize,
    /// Whether the state on the disk was looked at before. If not, the snapshot loaded last says nothing of it.
    pub(crate) is_opened: bool,
}

impl Update<'_> {
    /// Brings the index up to date with `source`. `known` is the snapshot loaded last. Returns the current snapshot, unless that is
    /// the one, or nothing changed and nobody has searched yet.
    pub(crate) fn run(
        &self,
        known: &Arc<Snapshot>,
        source: &dyn Source,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Summary, Option<Arc<Snapshot>>), SearchError> {
        let started = Instant::now();
        let lock = self.generations.lock_for_publishing()?;
        let state = self.generations.load(known.state()).unwrap_or_else(|error| self.is_built_anew(&error));
        self.generations.tidy(&lock, state.as_ref())?;
        let listing = Listing::of(source, self.safeguard.set_aside())?;
        let plan_on = |manifest: &Manifest| Plan::make(&listing, self.layout, manifest, self.safeguard);
        let mut published = false;
        let mut plan = plan_on(state.as_ref().map_or(&Manifest::default(), |state| &state.manifest))?;
        let is_unchanged = |state: &State, plan: &Plan| plan.is_empty() && state.manifest.commit == source.commit();
        let shown = state.as_ref().filter(|state| is_unchanged(state, &plan) && self.is_shown(known, state));
        let (mut summary, next) = match shown {
            Some(state) => (summary(&state.manifest), None),
            None => {
                let opened = state.map(|state| Snapshot::next(self.generations, known, state)).transpose();
                let base = match opened.unwrap_or_else(|error| self.is_built_anew(&error)) {
                    Some(base) => base,
                    // The update builds on nothing when the state is missing or unreadable.
                    None => {
                        plan = plan_on(&Manifest::default())?;
                        Arc::new(Snapshot::empty(Arc::clone(&known.vectors)))
                    }
                };
                let next = match base.state().is_some_and(|state| is_unchanged(state, &plan)) {
                    true => base,
                    false => {
                        published = true;
                        self.publish(&lock, &base, source, &listing, &plan, progress)?
                    }
                };
                (summary(next.manifest()), Some(next))
            }
        };
        summary.generator = plan.layout.generator().name();
        summary.folders = plan.layout.folders().map(str::to_owned).collect();
        summary.added = plan.added;
        summary.changed = plan.read.len() - plan.added;
        summary.removed = plan.removed.len();
        summary.published = published;
        summary.took = started.elapsed();
        Ok((summary, next))
    }

    /// Whether a state needs not be opened: its snapshot is the one that was loaded last, or nobody has searched yet and it can be
    /// opened.
    fn is_shown(&self, known: &Snapshot, state: &State) -> bool {
        match known.state() {
            Some(known) => known.at == state.at,
            None => !self.is_opened && engine::searcher(&known.fields, &state.segments).is_ok(),
        }
    }

    fn is_built_anew<T>(&self, error: &SearchError) -> Option<T> {
        let error = error as &dyn std::error::Error;
        tracing::warn!(error, dir = %self.generations.dir.display(), "search index is built anew");
        None
    }

    fn publish(
        &self,
        lock: &PublishLock,
        base: &Arc<Snapshot>,
        source: &dyn Source,
        listing: &Listing<'_>,
        plan: &Plan,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Arc<Snapshot>, SearchError> {
        let total = plan.read.len();
        let first = base.manifest().next_file;
        let (generations, threads, safeguard) = (self.generations, self.threads, self.safeguard);
        let reading = Reading { generations, safeguard, fields: &base.fields, listing, plan, first, threads };
        let Indexed { files, segments: new } =
            reading.run(&mut |done| progress(Progress { stage: Stage::Reading, done, total }))?;
        progress(Progress { stage: Stage::Writing, done: total, total });
        let mut segments = self.without(base, &plan.dropped)?;
        segments.extend(new);
        while let Some(some) = due(&segments, &INLINE) {
            segments = merge(generations, &base.fields, &segments, &some)?;
        }
        let docs = Delta {
            commit: source.commit().to_owned(),
            next_file: first + total as u64,
            site: plan.site.clone(),
            removed: plan.removed.clone(),
            files: files.into_iter().map(Arc::new).collect(),
        };
        let state = generations.publish(lock, base.state(), docs, segments)?;
        Snapshot::next(generations, base, state)
    }

    /// The segments of a state with the documents of these pages marked as deleted. Segments without live documents are
    /// left out.
    fn without(&self, base: &Snapshot, pages: &[u64]) -> Result<Vec<Segment>, SearchError> {
        let Some((state, searcher)) = base.state().zip(base.searcher()) else { return Ok(Vec::new()) };
        if pages.is_empty() {
            return Ok(state.segments.clone());
        }
        let found = engine::documents_of(searcher, &base.fields, pages)
            .map_err(|error| self.generations.engine("read", error))?;
        let segments = state.segments.iter().zip(found).map(|(segment, documents)| match documents.is_empty() {
            true => segment.clone(),
            false => segment.without(documents),
        });
        Ok(segments.filter(|segment| segment.alive() > 0).collect())
    }
}

/// Summarizes the docs of a manifest; what the update did is not filled in.
fn summary(manifest: &Manifest) -> Summary {
    let of_file = |file: &Arc<ManifestFile>| {
        let path = file.path.clone();
        file.oddities.iter().map(move |odd| Oddity { file: path.clone(), ..odd.clone() }).collect::<Vec<_>>()
    };
    let odd = manifest.site.oddities.iter().cloned().chain(manifest.files.iter().flat_map(of_file));
    Summary {
        commit: manifest.commit.clone(),
        pages: manifest.listed().count(),
        sections: manifest.listed().map(|page| page.sections).sum(),
        odd: odd.take(MOST_ODDITIES).collect(),
        odd_in_all: manifest.site.oddities.len() + manifest.files.iter().map(|file| file.odd).sum::<usize>(),
        skipped: Skips::of(manifest).into_skipped(),
        ..Summary::default()
    }
}
