//! Changes of jobs that wait to be committed together.
//!
//! While one group is carried out the next one gathers, so groups grow with the load.

use std::fmt;

use docent_jobs::{Decision, WriteError, WriteGuards, WriteOutcome};
use docent_types::JobId;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::error::Abort;

/// Most changes of one group.
const MAX_CHANGES: usize = 64;
/// Groups that are carried out at the same time, each on a connection.
const MAX_GROUPS: usize = 2;

/// A change of a job.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) id: JobId,
    pub(crate) guards: WriteGuards,
    pub(crate) decide: Decision,
}

/// The changes that wait for a group.
#[derive(Debug, Default)]
pub(crate) struct Groups(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// The number of tasks that carry out groups.
    tasks: usize,
}

/// A change, and who is told what became of it.
pub(crate) struct Waiting {
    pub(crate) asked: Asked,
    pub(crate) answer: oneshot::Sender<Result<WriteOutcome, Abort<WriteError>>>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("id", &self.asked.id).finish_non_exhaustive()
    }
}

impl Groups {
    /// Adds a change. `true`: the caller must spawn a task that carries out groups.
    pub(crate) fn add(&self, change: Waiting) -> bool {
        let mut queue = self.0.lock();
        queue.waiting.push(change);
        let is_free = queue.tasks < MAX_GROUPS;
        queue.tasks += usize::from(is_free);
        is_free
    }

    /// The next changes, in their order; of each job one. If there are none, the task that asks counts as ended.
    pub(crate) fn take(&self) -> Vec<Waiting> {
        let mut queue = self.0.lock();
        let (mut group, mut later) = (Vec::<Waiting>::new(), Vec::new());
        for change in queue.waiting.drain(..) {
            let is_next = group.len() < MAX_CHANGES && group.iter().all(|other| other.asked.id != change.asked.id);
            let list = if is_next { &mut group } else { &mut later };
            list.push(change);
        }
        queue.waiting = later;
        queue.tasks -= usize::from(group.is_empty());
        group
    }
}
