//! The writer's connection, and its cache of the database.
//!
//! What the writer wrote or read stays valid as long as no other process writes, and none can during a transaction. So
//! the cache is cleared when another process was found to have written, and when writes of this process are undone.
//! Committed jobs are visible to the whole process; jobs of the current transaction only here.

use std::cell::{RefCell, RefMut};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;

use docent_jobs::Row;
use docent_types::JobId;
use rusqlite::Connection;

use crate::change_tracker::ChangeTracker;
use crate::journal::Journal;

/// A row with more text than this, in bytes, is not cached.
const MAX_CACHED_JOB_BYTES: usize = 16 * 1024;
/// Maximum size of the set of waiting projects.
const MAX_WAITING_PROJECTS: usize = 4096;

/// A job as stored.
#[derive(Debug)]
pub(crate) struct Job {
    /// Its row number.
    pub(crate) n: i64,
    pub(crate) row: Row,
    /// Its journal, if it is cached.
    pub(crate) journal: Option<Journal>,
}

impl Job {
    pub(crate) fn id(&self) -> JobId {
        self.row.id()
    }

    /// Whether it is small enough to be cached.
    pub(crate) fn is_small(&self) -> bool {
        let job = &self.row.job;
        let todos = job.todos.iter().map(|todo| todo.content.len()).sum::<usize>();
        job.message.as_ref().map_or(0, String::len) + todos <= MAX_CACHED_JOB_BYTES
    }
}

/// What is cached beside the committed jobs.
#[derive(Debug, Default)]
struct Uncommitted {
    /// Jobs written in this transaction; `None` for one that was deleted or is to be read.
    jobs: HashMap<JobId, Option<Arc<Job>>>,
    /// Whether a part of this transaction was undone, so that only later writes are cached.
    undone: bool,
    /// Projects that are queued as possibly having a ready job.
    waiting: HashSet<String>,
}

/// The writer's connection, and its cache.
#[derive(Debug)]
pub(crate) struct WriteConnection {
    connection: Connection,
    changes: Arc<ChangeTracker>,
    uncommitted: RefCell<Uncommitted>,
}

impl WriteConnection {
    pub(crate) fn new(connection: Connection, changes: Arc<ChangeTracker>) -> Self {
        Self { connection, changes, uncommitted: RefCell::default() }
    }

    /// A job, if it is cached.
    pub(crate) fn job(&self, id: JobId) -> Option<Arc<Job>> {
        let uncommitted = self.uncommitted();
        match uncommitted.jobs.get(&id) {
            Some(written) => written.clone(),
            None if uncommitted.undone => None,
            None => self.changes.job(id),
        }
    }

    pub(crate) fn cache_job(&self, job: &Arc<Job>) {
        self.uncommitted().jobs.insert(job.id(), job.is_small().then(|| Arc::clone(job)));
    }

    /// Drops a job that was changed or deleted without its new state at hand.
    pub(crate) fn forget_job(&self, id: JobId) {
        self.uncommitted().jobs.insert(id, None);
    }

    /// Records that a project waits; returns whether that is new.
    pub(crate) fn set_waiting(&self, project: &str) -> bool {
        let waiting = &mut self.uncommitted().waiting;
        if waiting.contains(project) {
            return false;
        }
        if waiting.len() >= MAX_WAITING_PROJECTS {
            waiting.clear();
        }
        waiting.insert(project.to_owned())
    }

    /// Records that a project no longer waits.
    pub(crate) fn clear_waiting(&self, project: &str) {
        self.uncommitted().waiting.remove(project);
    }

    /// Checks whether other processes have written. None can during a transaction.
    pub(crate) fn check_other_processes(&self, version: &mut Option<i64>) -> rusqlite::Result<()> {
        if self.changes.check_other_processes(&self.connection, version)? {
            *self.uncommitted() = Uncommitted::default();
        }
        Ok(())
    }

    /// Ends the transaction; its commands have been answered.
    pub(crate) fn end_transaction(&self) {
        let uncommitted = &mut *self.uncommitted();
        uncommitted.jobs.clear();
        uncommitted.undone = false;
    }

    /// Records that writes of this transaction were undone.
    pub(crate) fn mark_undone(&self) {
        *self.uncommitted() = Uncommitted { undone: true, ..Uncommitted::default() };
    }

    fn uncommitted(&self) -> RefMut<'_, Uncommitted> {
        self.uncommitted.borrow_mut()
    }
}

impl Deref for WriteConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}
