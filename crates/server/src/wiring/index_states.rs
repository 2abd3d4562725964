//! The state of each project's index as updated by this process, and requests to update it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_search::{Progress, Summary};
use docent_types::{ProjectUid, Timestamp};
use parking_lot::{Mutex, MutexGuard};

/// Questions do not repeat an update that failed less than this long ago.
const PAUSE: Duration = Duration::from_secs(5);

/// The states by project. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexStates(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    states: HashMap<ProjectUid, IndexState>,
    wanted: HashSet<ProjectUid>,
}

/// The state of one index.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexState {
    /// The time of the last successful update.
    pub(crate) at: Option<Timestamp>,
    /// The result of that update.
    pub(crate) summary: Option<Summary>,
    /// The reason why the last attempt failed.
    pub(crate) failure: Option<String>,
    /// When that was.
    failed_at: Option<Instant>,
    /// The number of files done and of all files, during an update.
    pub(crate) running: Option<(usize, usize)>,
}

impl IndexStates {
    pub(crate) fn of(&self, project: ProjectUid) -> IndexState {
        self.inner().states.get(&project).cloned().unwrap_or_default()
    }

    /// [`IndexState::at`] alone.
    pub(crate) fn updated(&self, project: ProjectUid) -> Option<Timestamp> {
        self.inner().states.get(&project)?.at
    }

    /// [`IndexState::running`] alone.
    pub(crate) fn progress(&self, project: ProjectUid) -> Option<(usize, usize)> {
        self.inner().states.get(&project)?.running
    }

    pub(crate) fn begun(&self, project: ProjectUid) {
        self.inner().states.entry(project).or_default().running = Some((0, 0));
    }

    pub(crate) fn went_on(&self, project: ProjectUid, progress: &Progress) {
        self.inner().states.entry(project).or_default().running = Some((progress.done, progress.total));
    }

    /// Records the end of an update. An update that changed nothing keeps the summary of the previous one.
    pub(crate) fn ended(&self, project: ProjectUid, now: Timestamp, ended: Result<Summary, String>) {
        let mut inner = self.inner();
        let state = inner.states.entry(project).or_default();
        state.running = None;
        match ended {
            Ok(summary) => {
                state.at = Some(now);
                state.failure = None;
                if summary.published || state.summary.is_none() {
                    state.summary = Some(summary);
                }
            }
            Err(why) => (state.failure, state.failed_at) = (Some(why), Some(Instant::now())),
        }
    }

    /// Requests that a project's repository is fetched and indexed at the next check.
    pub(crate) fn want(&self, project: ProjectUid) {
        self.inner().wanted.insert(project);
    }

    /// As [`want`](Self::want), unless an update runs, or has failed just now.
    pub(crate) fn want_made(&self, project: ProjectUid) {
        let state = self.of(project);
        if state.running.is_none() && state.failed_at.is_none_or(|at| at.elapsed() > PAUSE) {
            self.want(project);
        }
    }

    /// Whether an update of the project was requested; clears the request.
    pub(crate) fn take(&self, project: ProjectUid) -> bool {
        self.inner().wanted.remove(&project)
    }

    /// Removes all projects except these.
    pub(crate) fn keep(&self, known: &HashSet<ProjectUid>) {
        let mut inner = self.inner();
        inner.states.retain(|project, _| known.contains(project));
        inner.wanted.retain(|project| known.contains(project));
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock()
    }
}
