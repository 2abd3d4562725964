//! How many replies run, and how they ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use docent_types::{Durations, ProjectUid};
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) running: Mutex<BTreeMap<ProjectUid, usize>>,
    pub(crate) finished: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) left: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) first_words: Durations,
}

/// The permit of a reply to run: one of a limited number for its project.
#[derive(Debug)]
pub(crate) struct Permit {
    counters: Arc<Counters>,
    project: ProjectUid,
    outcome: ReplyOutcome,
    /// When the question was admitted; `None` once there are words.
    wordless_since: Option<Instant>,
}

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyOutcome {
    NotBegun,
    Begun,
    Finished,
    Failed,
}

impl Permit {
    pub(crate) fn new(counters: Arc<Counters>, project: ProjectUid) -> Self {
        Self { counters, project, outcome: ReplyOutcome::NotBegun, wordless_since: Some(Instant::now()) }
    }

    pub(crate) const fn set_outcome(&mut self, outcome: ReplyOutcome) {
        self.outcome = outcome;
    }

    /// There are words. Only the first call counts.
    pub(crate) fn has_words(&mut self) {
        if let Some(since) = self.wordless_since.take() {
            self.counters.first_words.record(since.elapsed());
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let counters = &self.counters;
        let ended = match self.outcome {
            ReplyOutcome::NotBegun => None,
            ReplyOutcome::Begun => Some(&counters.left),
            ReplyOutcome::Finished => Some(&counters.finished),
            ReplyOutcome::Failed => Some(&counters.failed),
        };
        if let Some(counter) = ended {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let mut running = counters.running.lock();
        if let Some(of_project) = running.get_mut(&self.project) {
            *of_project = of_project.saturating_sub(1);
            if *of_project == 0 {
                running.remove(&self.project);
            }
        }
    }
}
