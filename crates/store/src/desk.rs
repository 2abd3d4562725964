//! Where the writer works: its connection, and what it knows of the database without reading.
//!
//! What the writer wrote or read a moment ago is still so while nobody else writes, and nobody does between the beginning of
//! a transaction and its end. So all that is known is forgotten when another process was found to have written, and when
//! anything that was written here is undone. Jobs that are committed are known to everybody in this process; those of the
//! transaction that is under way only here.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;

use docent_jobs::Row;
use docent_types::JobId;
use rusqlite::Connection;
use uuid::Uuid;

use crate::gate::{Bucket, Counted, Use};
use crate::journal::Journal;
use crate::rows::Fresh;
use crate::seen::Seen;

/// A row with more text than this is read each time.
const LARGEST: usize = 16 * 1024;
/// Buckets and projects that are known, each, at most.
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
struct Known {
    /// Jobs written in this transaction; `None` for one that was deleted or is to be read.
    jobs: HashMap<JobId, Option<Arc<Job>>>,
    /// Whether a part of this transaction was undone, so that only what was written after that is known.
    undone: bool,
    /// Quotas, by bucket.
    buckets: HashMap<String, Bucket>,
    /// Uses that were counted in this transaction and are not written down yet.
    uses: Vec<Counted>,
    /// Projects whose queue says that some job may be ready.
    waiting: HashSet<String>,
    /// Jobs that were made in this transaction and are not written down yet.
    new: Vec<Fresh>,
    /// The highest number of a row that a job has, or had since it was looked up.
    last_row: Option<i64>,
    /// The highest id of a job when this transaction began.
    last_id: Option<JobId>,
}

/// The writer's connection, and what it knows.
#[derive(Debug)]
pub(crate) struct Desk {
    connection: Connection,
    seen: Arc<Seen>,
    known: RefCell<Known>,
    /// Rows that were written for commands that were done before.
    late: Cell<u64>,
    /// Rows of jobs that were to be written, whether or not they are by now.
    added: Cell<u64>,
}

impl Desk {
    pub(crate) fn new(connection: Connection, seen: Arc<Seen>) -> Self {
        Self { connection, seen, known: RefCell::default(), late: Cell::new(0), added: Cell::new(0) }
    }

    /// A job, if it is known.
    pub(crate) fn job(&self, id: JobId) -> Option<Arc<Job>> {
        let known = self.known();
        match known.jobs.get(&id) {
            Some(written) => written.clone(),
            None if known.undone => None,
            None => self.seen.job(id),
        }
    }

    pub(crate) fn wrote(&self, job: &Arc<Job>) {
        self.known().jobs.insert(job.id(), job.is_small().then(|| Arc::clone(job)));
    }

    /// This job was changed or deleted in a way that is not worth to know.
    pub(crate) fn forget_job(&self, id: JobId) {
        self.known().jobs.insert(id, None);
    }

    pub(crate) fn bucket(&self, name: &str) -> Option<Bucket> {
        self.known().buckets.get(name).copied()
    }

    pub(crate) fn counted(&self, name: &str, bucket: Bucket) {
        let buckets = &mut self.known().buckets;
        match buckets.get_mut(name) {
            Some(known) => *known = bucket,
            None => {
                if buckets.len() >= MANY {
                    buckets.clear();
                }
                buckets.insert(name.to_owned(), bucket);
            }
        }
    }

    /// A use was counted. Many are counted in one moment where many callers are served at once.
    pub(crate) fn used(&self, bucket: &str, this: Use, forget_at: i64) {
        let uses = &mut self.known().uses;
        if !uses.last_mut().is_some_and(|last| last.goes_on(bucket, this, forget_at)) {
            uses.push(Counted::new(bucket, this, forget_at));
        }
    }

    /// The uses to be written down, a row each.
    pub(crate) fn take_uses(&self) -> Vec<Counted> {
        let uses = std::mem::take(&mut self.known().uses);
        self.late.set(self.late.get() + uses.len() as u64);
        uses
    }

    /// A job was made whose row is to be written down.
    pub(crate) fn added(&self, new: Fresh) {
        self.known().new.push(new);
        self.added.set(self.added.get() + 1);
    }

    /// The jobs whose rows are to be written down.
    pub(crate) fn take_new(&self) -> Vec<Fresh> {
        let new = std::mem::take(&mut self.known().new);
        self.late.set(self.late.get() + new.len() as u64);
        new
    }

    /// Whether there is a job of this id. Ids grow, so that mostly it takes no look.
    pub(crate) fn is_taken(&self, id: JobId) -> rusqlite::Result<bool> {
        let last = self.known().last_id;
        let last = match last {
            Some(last) => last,
            None => self.look_for_last_id()?,
        };
        let written = self.known().jobs.get(&id).map(Option::is_some);
        match written {
            Some(true) => Ok(true),
            None if id > last => Ok(false),
            _ => self.connection.prepare_cached("SELECT 1 FROM jobs WHERE id = ?1")?.exists([id.uuid().into_bytes()]),
        }
    }

    fn look_for_last_id(&self) -> rusqlite::Result<JobId> {
        let last: Option<[u8; 16]> = self.connection.query_row("SELECT max(id) FROM jobs", [], |row| row.get(0))?;
        let last = JobId::new(Uuid::from_bytes(last.unwrap_or_default()));
        self.known().last_id = Some(last);
        Ok(last)
    }

    /// The number of the row of the next job.
    pub(crate) fn next_row(&self) -> rusqlite::Result<i64> {
        let known = self.known().last_row;
        let last = match known {
            Some(last) => last,
            // None is waiting to be written down, or it would be known.
            None => self.connection.query_row("SELECT coalesce(max(n), 0) FROM jobs", [], |row| row.get(0))?,
        };
        self.known().last_row = Some(last + 1);
        Ok(last + 1)
    }

    /// A number that moves when a command writes a row while it is at work, or says that one is to be written.
    pub(crate) fn changes(&self) -> u64 {
        self.connection.total_changes().wrapping_sub(self.late.get()).wrapping_add(self.added.get())
    }

    pub(crate) fn forget_bucket(&self, name: &str) {
        self.known().buckets.remove(name);
    }

    pub(crate) fn forget_buckets(&self) {
        self.known().buckets.clear();
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
        if self.seen.look(&self.connection, version)? {
            *self.known() = Known::default();
        }
        Ok(())
    }

    /// The transaction is over, and whoever it was for is told.
    pub(crate) fn clean(&self) {
        let known = &mut *self.known();
        // What was deleted leaves the highest too high, which costs a look and nothing else.
        known.last_id = known.last_id.map(|last| known.jobs.keys().copied().fold(last, JobId::max));
        known.jobs.clear();
        known.undone = false;
    }

    /// Something of this transaction was undone. Uses that were counted before are written down by then, or undone too.
    pub(crate) fn undone(&self) {
        *self.known() = Known { undone: true, ..Known::default() };
    }

    fn known(&self) -> RefMut<'_, Known> {
        self.known.borrow_mut()
    }
}

impl Deref for Desk {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}
