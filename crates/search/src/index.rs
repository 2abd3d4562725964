//! One docs site's index, open.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::error::SearchError;
use crate::generations::Generations;
use crate::snapshot::Snapshot;
use crate::source::{Progress, Source, Summary};
use crate::update;

/// The index of one docs site, in a folder of its own. Any number of processes may have the same folder open; updates
/// take turns, and reading never waits.
#[derive(Debug)]
pub struct Index {
    generations: Generations,
    current: ArcSwap<Snapshot>,
    /// Held while a newer generation is opened, so that it is opened once.
    opening: Mutex<()>,
}

impl Index {
    /// Opens the index in a folder, which is made when it is not there. An index that cannot be read counts as empty:
    /// the next update builds it anew.
    pub fn open(dir: &Path) -> Result<Self, SearchError> {
        let generations = Generations::open(dir)?;
        let index = Self { generations, current: ArcSwap::from_pointee(Snapshot::empty()), opening: Mutex::new(()) };
        if let Err(error) = index.refresh() {
            tracing::warn!(error = &error as &dyn std::error::Error, dir = %dir.display(), "search index unreadable");
        }
        Ok(index)
    }

    /// Brings the index to what `source` holds. Files whose blob id is known are not read again. Blocks: waits for
    /// another update of the same folder, then reads and writes files. On an error the index is as it was.
    pub fn update(&self, source: &dyn Source, progress: &mut dyn FnMut(Progress)) -> Result<Summary, SearchError> {
        let summary = update::update(&self.generations, source, progress)?;
        self.refresh()?;
        Ok(summary)
    }

    /// The state to read from: cheap, never blocks, and never changes once taken.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Takes up a newer state that another process, or another handle, has published. Says whether there was one.
    /// Costs one small read when there is none.
    pub fn refresh(&self) -> Result<bool, SearchError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // The writer keeps the generation before the current one, so a name just read is there, unless two updates
        // came in between: then the next name is tried.
        let mut attempts = 3;
        loop {
            let Some(generation) = self.generations.current()? else { return Ok(false) };
            if self.current.load().generation() == Some(generation.number) {
                return Ok(false);
            }
            attempts -= 1;
            match Snapshot::open(&self.generations, &generation) {
                Ok(snapshot) => {
                    self.current.store(Arc::new(snapshot));
                    return Ok(true);
                }
                Err(_) if attempts > 0 && self.generations.current()?.is_some_and(|now| now != generation) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
