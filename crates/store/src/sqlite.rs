//! The store: one writer, a few readers, one file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use docent_types::{BoxError, JobId, JobStatus, StoreError, WorkDurations};
use rusqlite::Connection;

use crate::change_tracker::ChangeTracker;
use crate::checkpoint::Checkpoints;
use crate::error::{Abort, OpenError};
use crate::process_lock::ProcessLock;
use crate::queue_state::QueueState;
use crate::readers::ReadPool;
use crate::schema::{make_folder, mark, open_for_checkpoints, open_for_reading, open_for_writing};
use crate::transaction::{Decides, Durability, Transactions};
use crate::use_lock::UseLock;
use crate::write_connection::{Job, WriteConnection};
use crate::writer::{WriteCounts, Writer};

/// Number of threads that read.
const READERS: usize = 4;

/// Docent's state in an SQLite database. Any number of processes may have the same one open.
///
/// Dropping the store completes queued commands, and blocks for as long as that takes.
#[derive(Debug)]
pub struct SqliteStore {
    // The readers close first, because the last connection to close removes the log and must be a writing one.
    readers: ReadPool,
    checkpoints: Checkpoints,
    writer: Writer,
    changes: Arc<ChangeTracker>,
    commits: Arc<WorkDurations>,
    path: PathBuf,
    _in_use: UseLock,
}

impl SqliteStore {
    /// Opens the database at `path`, creating it and its folder if needed. Blocks on disk I/O.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let not_made = |source| OpenError::Create { path: path.to_owned(), source };
        make_folder(path).map_err(not_made)?;
        let in_use = UseLock::shared(path).map_err(not_made)?;
        let in_use = in_use.ok_or_else(|| OpenError::Replaced { path: path.to_owned() })?;
        let connection = open_for_writing(path)?;
        let lock = ProcessLock::of(path).map_err(not_made)?;
        let readers = (0..READERS).map(|_| open_for_reading(path)).collect::<Result<_, _>>()?;
        let changes = Arc::new(ChangeTracker::new());
        let commits = Arc::new(WorkDurations::default());
        let transactions = Transactions::new(connection, lock, Arc::clone(&changes), Arc::clone(&commits))
            .map_err(|source| OpenError::Open { path: path.to_owned(), source })?;
        let writer = Writer::start(transactions, Arc::clone(&changes))?;
        let checkpoints = Checkpoints::start(open_for_checkpoints(path)?, path)?;
        let readers = ReadPool::start(readers)?;
        Ok(Self { readers, checkpoints, writer, changes, commits, path: path.to_owned(), _in_use: in_use })
    }

    /// Carries out what is queued, checkpoints the log and closes the database. Later calls fail.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.readers.close();
        self.checkpoints.close();
        self.writer.close().await
    }

    /// The time of each COMMIT.
    pub fn commit_times(&self) -> &WorkDurations {
        &self.commits
    }

    /// Whether the store can be written and read. Writes an unchanged page, and flushes it.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.write("write to the database", |connection| Ok::<_, Abort<StoreError>>(mark(connection)?)).await?;
        self.read("read the database", |connection| {
            Ok(connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?)
        })
        .await
    }

    /// The number of jobs by status, for each status that occurs.
    pub async fn jobs_by_status(&self) -> Result<Vec<(JobStatus, u64)>, StoreError> {
        self.read("count the jobs", |connection| {
            let mut statement = connection.prepare_cached("SELECT place, count(*) FROM jobs GROUP BY place")?;
            let mut rows = statement.query([])?;
            let mut counts: Vec<(JobStatus, u64)> = Vec::new();
            while let Some(row) = rows.next()? {
                let Some(status) = QueueState::status(row.get(0)?) else { continue };
                match counts.iter_mut().find(|(counted, _)| *counted == status) {
                    Some((_, count)) => *count += row.get::<_, u64>(1)?,
                    None => counts.push((status, row.get(1)?)),
                }
            }
            Ok(counts)
        })
        .await
    }

    /// Checks the whole file for damage. Slow on a large database.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.read("check the database", |connection| {
            let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if found == "ok" { Ok(()) } else { Err(found.into()) }
        })
        .await
    }

    /// How much was written since the store was opened.
    pub fn writes(&self) -> WriteCounts {
        self.writer.writes()
    }

    pub(crate) async fn write<T, E, F>(&self, doing: &'static str, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Abort<E>> + Send + 'static,
    {
        let mode = (Durability::Flushed, Decides::WhileWriting);
        self.write_then(doing, mode, move |connection| work(connection), |_| ()).await
    }

    /// Like [`write`](Self::write), for changes of keys or projects.
    pub(crate) async fn write_access<T, E, F>(&self, doing: &'static str, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<T, Abort<E>> + Send + 'static,
    {
        let changes = Arc::clone(&self.changes);
        let mode = (Durability::Flushed, Decides::WhileWriting);
        self.write_then(doing, mode, work, move |_| changes.count_access_write()).await
    }

    /// Like [`write`](Self::write), with the durability named; `on_committed` gets the result, in the order of
    /// the commits.
    pub(crate) fn write_then<T, E, F, D>(
        &self,
        doing: &'static str,
        mode: (Durability, Decides),
        work: F,
        on_committed: D,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F, D>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<T, Abort<E>> + Send + 'static,
        D: FnOnce(&T) + Send + 'static,
    {
        self.writer.write(doing, mode, work, on_committed)
    }

    /// Like [`write_then`](Self::write_then), [ordered](Durability::Ordered): durable with the next flushed commit.
    pub(crate) fn write_in_order<T, E, F>(
        &self,
        doing: &'static str,
        work: F,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<T, Abort<E>> + Send + 'static,
    {
        self.writer.write(doing, (Durability::Ordered, Decides::WhileWriting), work, |_| ())
    }

    /// Like [`write_then`](Self::write_then), for writes of jobs: the jobs that `work` returns beside its answer are
    /// cached from then on.
    pub(crate) fn write_jobs<T, E, F>(
        &self,
        doing: &'static str,
        mode: (Durability, Decides),
        work: F,
    ) -> impl Future<Output = Result<(T, Vec<Arc<Job>>), E>> + Send + use<T, E, F>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<(T, Vec<Arc<Job>>), Abort<E>> + Send + 'static,
    {
        let changes = Arc::clone(&self.changes);
        let cache_jobs = move |(_, jobs): &(T, Vec<Arc<Job>>)| changes.cache_jobs(jobs);
        self.writer.write(doing, mode, work, cache_jobs)
    }

    /// A job from the cache, if the cache is valid at the moment.
    pub(crate) fn cached(&self, id: JobId) -> Option<Arc<Job>> {
        self.external_writes().and_then(|_| self.changes.job(id))
    }

    /// How many times other processes were found to have written, if the last check is recent.
    pub(crate) fn external_writes(&self) -> Option<u64> {
        self.changes.external_writes(|| self.writer.check_other_processes())
    }

    /// A number that changes when keys or projects may have changed: by a write of this process to them, or by any
    /// write of another process. `None` if the last check of other processes is not recent.
    pub(crate) fn access_changes(&self) -> Option<u64> {
        // A write of our own is counted before its caller is answered, so it is read first.
        let own = self.changes.access_writes();
        Some(self.external_writes()? + own)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn changes(&self) -> &Arc<ChangeTracker> {
        &self.changes
    }

    pub(crate) async fn read<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, BoxError> + Send + 'static,
    {
        self.readers.read(doing, work).await
    }
}
