//! The open index of one docs site.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::embedder::Embedder;
use crate::error::SearchError;
use crate::index::background::{self, NiceLevel};
use crate::index::compaction::{self, BACKGROUND};
use crate::index::generations::Generations;
use crate::index::safeguard::Safeguard;
use crate::index::schema::Fields;
use crate::index::snapshot::Snapshot;
use crate::index::update::Update;
use crate::index::update_plan::KnownLayout;
use crate::source::{Progress, Source, Summary};
use crate::vectors::embed::{self, EmbedSummary};
use crate::vectors::store::VectorStore;

/// Maximum time an update waits for running questions to release the previous snapshot. Hardly any question takes
/// longer.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// The index of one docs site, in its own folder. Any number of processes may have the same folder open; updates take
/// turns, and reading never waits.
#[derive(Debug)]
pub struct Index(Arc<Open>);

#[derive(Debug)]
struct Open {
    generations: Generations,
    current: ArcSwap<Snapshot>,
    /// Whether the state on the disk was looked at. An update that finds nothing to do needs no snapshot of it.
    is_opened: AtomicBool,
    /// Held while a newer state is opened, so that it is opened only once and never replaced by an older one.
    opening: Mutex<()>,
    layout: KnownLayout,
    safeguard: Safeguard,
    compacting: Mutex<Option<JoinHandle<()>>>,
}

impl Index {
    /// Opens the index in a folder, which is created if it does not exist. An unreadable index counts as empty: the
    /// next update rebuilds it.
    pub fn open(dir: &Path) -> Result<Self, SearchError> {
        Self::open_with(dir, None)
    }

    /// As `open`, with an embedder: [`Index::embed`] gives sections vectors, and [`Snapshot::find`] uses them.
    pub fn open_with(dir: &Path, embedder: Option<Arc<dyn Embedder>>) -> Result<Self, SearchError> {
        Self::open_safeguarded(dir, embedder, Safeguard::default())
    }

    /// As `open_with`; a file that ends the process while an update reads it is skipped by the next one.
    pub(crate) fn open_safeguarded(
        dir: &Path,
        embedder: Option<Arc<dyn Embedder>>,
        safeguard: Safeguard,
    ) -> Result<Self, SearchError> {
        let generations = Generations::open(dir, Fields::new().checksum())?;
        Ok(Self(Arc::new(Open {
            generations,
            is_opened: AtomicBool::new(false),
            current: ArcSwap::from_pointee(Snapshot::empty(Arc::new(VectorStore::open(dir, embedder)))),
            opening: Mutex::default(),
            layout: KnownLayout::default(),
            safeguard,
            compacting: Mutex::default(),
        })))
    }

    /// Brings the index up to date with `source`. A file is read again only when its blob id, an included file or the
    /// relevant site configuration changed. Blocks: waits for another update of the same folder, then reads and writes
    /// files. On an error the index stays unchanged. Snapshots taken from here on show the new state.
    ///
    /// Compaction that is still due runs afterwards, on its own thread.
    pub fn update(&self, source: &dyn Source, progress: &mut dyn FnMut(Progress)) -> Result<Summary, SearchError> {
        self.update_with(0, source, progress)
    }

    /// Like `update`, on this number of threads; 0 for one per core.
    pub(crate) fn update_with(
        &self,
        threads: usize,
        source: &dyn Source,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Summary, SearchError> {
        let open = &*self.0;
        let update = Update {
            generations: &open.generations,
            layout: &open.layout,
            safeguard: &open.safeguard,
            threads,
            is_opened: open.is_opened.load(Ordering::Acquire),
        };
        let run = |progress: &mut dyn FnMut(Progress)| {
            let (summary, next) = update.run(&open.current.load_full(), source, progress)?;
            if let Some(next) = next {
                open.make_current(next)?;
            }
            self.compact_later();
            Ok(summary)
        };
        background::run_at_low_priority("search-update", run, progress)
    }

    /// Embeds the sections that have no vector. Blocks, for minutes when there are many; updates and questions go on
    /// meanwhile. Does nothing without an embedder. Ends early once `wanted` returns false, which is checked every few
    /// hundred sections; vectors made until then are kept.
    ///
    /// # Errors
    /// [`SearchError::Embedder`] when sections could not be embedded; vectors made until then are kept.
    pub fn embed(
        &self,
        wanted: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<EmbedSummary, SearchError> {
        let snapshot = self.snapshot();
        embed::embed(&snapshot.vectors, &snapshot, wanted, progress)
    }

    /// The current state, to read from, which never changes once taken. The first call opens it; others are cheap and never block.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let open = &*self.0;
        if !open.is_opened.load(Ordering::Acquire)
            && let Err(error) = self.refresh()
        {
            let (error, dir) = (&error as &dyn std::error::Error, open.generations.dir.display());
            tracing::warn!(error, %dir, "search index unreadable");
        }
        open.current.load_full()
    }

    #[cfg(test)]
    pub(crate) fn is_opened(&self) -> bool {
        self.0.is_opened.load(Ordering::Relaxed)
    }

    /// Loads new vectors, and a newer state that another process or another handle has published. Returns whether there
    /// was a newer state. Without one it costs a small read and, with an embedder, a folder listing.
    pub fn refresh(&self) -> Result<bool, SearchError> {
        let vectors = self.0.current.load().vectors.refresh();
        let newer = vectors.and_then(|_| self.0.refresh());
        self.0.is_opened.store(true, Ordering::Release);
        newer
    }

    /// Runs the compaction that updates have left over, and waits for it. It affects only how long questions take.
    pub fn compact_now(&self) {
        self.wait();
        self.0.compact();
    }

    /// Waits for the running background compaction, if any.
    pub(crate) fn wait(&self) {
        let running = self.0.compacting.lock().take();
        if let Some(running) = running {
            // A panic of that thread was reported when it happened.
            let _ = running.join();
        }
    }

    fn compact_later(&self) {
        let mut compacting = self.0.compacting.lock();
        let running = compacting.as_ref().is_some_and(|running| !running.is_finished());
        if running || !self.0.is_compaction_due() {
            return;
        }
        let open = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("search-compaction".to_owned());
        let work = move || {
            background::lower_priority(NiceLevel::Idle);
            open.compact();
        };
        match thread.spawn(work) {
            Ok(running) => *compacting = Some(running),
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "no thread to tidy up an index on"),
        }
    }
}

impl Open {
    fn refresh(&self) -> Result<bool, SearchError> {
        let opening = self.opening.lock();
        let known = self.current.load_full();
        // Publishing a newer state removes the files of the older one, perhaps while it is opened here: then the newer
        // state is tried.
        let mut attempts = 5;
        let next = loop {
            attempts -= 1;
            let loaded = self.generations.load(known.state()).and_then(|state| match state {
                Some(state) => Snapshot::next(&self.generations, &known, state),
                None => Ok(Arc::clone(&known)),
            });
            match loaded {
                Err(_) if attempts > 0 => {}
                loaded => break loaded?,
            }
        };
        let newer = !Arc::ptr_eq(&known, &next);
        if newer {
            self.current.store(next);
        }
        drop(opening);
        Ok(newer)
    }

    /// Makes a state that was just published the current one of this handle, unless a newer one has been published
    /// since.
    fn make_current(&self, next: Arc<Snapshot>) -> Result<(), SearchError> {
        let opening = self.opening.lock();
        let now = self.generations.load(next.state()).ok().flatten();
        if now.map(|now| now.at) == next.state().map(|next| next.at) {
            let before = self.current.swap(next);
            drop(opening);
            background::drop_last(before, LONGEST_WAIT);
            return Ok(());
        }
        drop(opening);
        self.refresh().map(drop)
    }

    fn is_compaction_due(&self) -> bool {
        let current = self.current.load();
        current.state().is_some_and(|state| compaction::due(&state.segments, &BACKGROUND).is_some())
    }

    fn compact(&self) {
        while self.is_compaction_due() {
            let known = self.current.load_full();
            let compacted = compaction::run(&self.generations, &known);
            // `make_current` waits until the snapshot it replaces is released, by this thread too.
            drop(known);
            match compacted.and_then(|next| next.map(|next| self.make_current(next)).transpose()) {
                Ok(Some(())) => {}
                // Another process is compacting, or published first.
                Ok(None) => return,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, dir = %self.generations.dir.display(), "an index could not be tidied up");
                    return;
                }
            }
        }
    }
}
