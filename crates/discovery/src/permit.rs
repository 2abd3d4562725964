//! How many replies run, and how they ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use docent_types::ProjectUid;
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) running: Mutex<BTreeMap<ProjectUid, usize>>,
    pub(crate) finished: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) left: AtomicU64,
    pub(crate) refused: AtomicU64,
}

/// The permit of a reply to run: one of a limited number for its project.
#[derive(Debug)]
pub(crate) struct Permit {
    counters: Arc<Counters>,
    project: ProjectUid,
    outcome: ReplyOutcome,
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
    pub(crate) const fn new(counters: Arc<Counters>, project: ProjectUid) -> Self {
        Self { counters, project, outcome: ReplyOutcome::NotBegun }
    }

    pub(crate) const fn set_outcome(&mut self, outcome: ReplyOutcome) {
        self.outcome = outcome;
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
