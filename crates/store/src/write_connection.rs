//! Where the writer works: its connection, and what it knows of the database without reading.
//!
//! What the writer wrote or read a moment ago is still so while nobody else writes, and nobody does between the beginning of
//! a transaction and its end. So all that is known is forgotten when another process was found to have written, and when
//! anything that was written here is undone. Jobs that are committed are known to everybody in this process; those of the
//! transaction that is under way only here.

use std::cell::{RefCell, RefMut};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;

use docent_jobs::Row;
use docent_types::JobId;
use rusqlite::Connection;

use crate::change_tracker::ChangeTracker;
use crate::journal::Journal;

/// A row with more text than this is read each time.
const LARGEST: usize = 16 * 1024;
/// Projects that are known to wait, at most.
const MANY: usize = 4096;

/// A job as it is in the database.
#[derive(Debug)]
pub(crate) struct Job {
    /// The number of its row.
    pub(crate) n: i64,
    pub(crate) row: Row,
    /// Its journal, if that is known.
    pub(crate) journal: Option<Journal>,
}

impl Job {
    pub(crate) fn id(&self) -> JobId {
        self.row.id()
    }

    /// Whether it is worth to be kept in memory.
    pub(crate) fn is_small(&self) -> bool {
        let job = &self.row.job;
        let todos = job.todos.iter().map(|todo| todo.content.len()).sum::<usize>();
        job.message.as_ref().map_or(0, String::len) + todos <= LARGEST
    }
}

/// What is known without reading, beside the jobs that are committed.
#[derive(Debug, Default)]
struct Uncommitted {
    /// Jobs written in this transaction; `None` for one that was deleted or is to be read.
    jobs: HashMap<JobId, Option<Arc<Job>>>,
    /// Whether a part of this transaction was undone, so that only what was written after that is known.
    undone: bool,
    /// Projects whose queue says that some job may be ready.
    waiting: HashSet<String>,
}

/// The writer's connection, and what it knows.
#[derive(Debug)]
pub(crate) struct WriteConnection {
    connection: Connection,
    changes: Arc<ChangeTracker>,
    known: RefCell<Uncommitted>,
}

impl WriteConnection {
    pub(crate) fn new(connection: Connection, changes: Arc<ChangeTracker>) -> Self {
        Self { connection, changes, known: RefCell::default() }
    }

    /// A job, if it is known.
    pub(crate) fn job(&self, id: JobId) -> Option<Arc<Job>> {
        let known = self.known();
        match known.jobs.get(&id) {
            Some(written) => written.clone(),
            None if known.undone => None,
            None => self.changes.job(id),
        }
    }

    pub(crate) fn wrote(&self, job: &Arc<Job>) {
        self.known().jobs.insert(job.id(), job.is_small().then(|| Arc::clone(job)));
    }

    /// This job was changed or deleted in a way that is not worth to know.
    pub(crate) fn forget_job(&self, id: JobId) {
        self.known().jobs.insert(id, None);
    }

    /// Says that a project waits; whether that is news.
    pub(crate) fn waits(&self, project: &str) -> bool {
        let waiting = &mut self.known().waiting;
        if waiting.contains(project) {
            return false;
        }
        if waiting.len() >= MANY {
            waiting.clear();
        }
        waiting.insert(project.to_owned())
    }

    /// Says that a project does not wait any more.
    pub(crate) fn rests(&self, project: &str) {
        self.known().waiting.remove(project);
    }

    /// Looks whether others have written, which they do not between the beginning of a transaction and its end.
    pub(crate) fn look(&self, version: &mut Option<i64>) -> rusqlite::Result<()> {
        if self.changes.look(&self.connection, version)? {
            *self.known() = Uncommitted::default();
        }
        Ok(())
    }

    /// The transaction is over, and whoever it was for is told.
    pub(crate) fn clean(&self) {
        let known = &mut *self.known();
        known.jobs.clear();
        known.undone = false;
    }

    /// Something of this transaction was undone.
    pub(crate) fn undone(&self) {
        *self.known() = Uncommitted { undone: true, ..Uncommitted::default() };
    }

    fn known(&self) -> RefMut<'_, Uncommitted> {
        self.known.borrow_mut()
    }
}

impl Deref for WriteConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}
