//! The store: one writer, a few readers, one file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use docent_types::{BoxError, JobId, JobStatus, StoreError};
use rusqlite::Connection;

use crate::change_tracker::ChangeTracker;
use crate::checkpoint::Checkpoints;
use crate::error::{Abort, OpenError};
use crate::process_lock::ProcessLock;
use crate::queue_state::QueueState;
use crate::readers::Readers;
use crate::schema::{mark, open_for_checkpoints, open_for_reading, open_for_writing};
use crate::transaction::{Decides, Durability, Transactions};
use crate::write_connection::{Job, WriteConnection};
use crate::writer::{WriteCounts, Writer};

/// Reads at the same time, at most.
const READERS: usize = 4;

/// Docent's state in an SQLite database. Any number of processes may have the same one open.
///
/// Dropping it finishes what is waiting, and blocks for as long as that takes.
#[derive(Debug)]
pub struct SqliteStore {
    // The readers go first, so that the last connection to close is one that may tidy up the log.
    readers: Readers,
    checkpoints: Checkpoints,
    writer: Writer,
    changes: Arc<ChangeTracker>,
    path: PathBuf,
}

impl SqliteStore {
    /// Opens the database at `path`, making it and its folder when there is none. Blocks for as long as the disk takes.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let connection = open_for_writing(path)?;
        let lock = ProcessLock::of(path).map_err(|source| OpenError::Create { path: path.to_owned(), source })?;
        let readers = (0..READERS).map(|_| open_for_reading(path)).collect::<Result<_, _>>()?;
        let changes = Arc::new(ChangeTracker::new());
        let transactions = Transactions::new(connection, lock, Arc::clone(&changes))
            .map_err(|source| OpenError::Open { path: path.to_owned(), source })?;
        let writer = Writer::start(transactions, Arc::clone(&changes))?;
        let checkpoints = Checkpoints::start(open_for_checkpoints(path)?, path)?;
        Ok(Self { readers: Readers::start(readers)?, checkpoints, writer, changes, path: path.to_owned() })
    }

    /// Carries out what is waiting, moves the log into the database and closes it. Whatever is asked of the store
    /// later fails.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.readers.close();
        self.checkpoints.close();
        self.writer.close().await
    }

    /// Whether the store can be written to and read. Writes a page that stays as it was, and flushes it.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.write("write to the database", |connection| Ok::<_, Abort<StoreError>>(mark(connection)?)).await?;
        self.read("read the database", |connection| {
            Ok(connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?)
        })
        .await
    }

    /// How many jobs there are of each status that any has.
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

    /// Looks the whole file over for damage. Slow on a large database.
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
        let how = (Durability::Flushed, Decides::WhileWriting);
        self.write_then(doing, how, move |connection| work(connection), |_| ()).await
    }

    /// Like [`write`](Self::write), for what changes keys or projects.
    pub(crate) async fn write_access<T, E, F>(&self, doing: &'static str, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<T, Abort<E>> + Send + 'static,
    {
        let changes = Arc::clone(&self.changes);
        let how = (Durability::Flushed, Decides::WhileWriting);
        self.write_then(doing, how, work, move |_| changes.changed_access()).await
    }

    /// Like [`write`](Self::write), saying how it is done; `done` hears what it came to, in the order of the commits.
    pub(crate) fn write_then<T, E, F, D>(
        &self,
        doing: &'static str,
        how: (Durability, Decides),
        work: F,
        done: D,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F, D>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<T, Abort<E>> + Send + 'static,
        D: FnOnce(&T) + Send + 'static,
    {
        self.writer.write(doing, how, work, done)
    }

    /// Like [`write_then`](Self::write_then), in order alone: it lasts with the next commit that is flushed.
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

    /// For what writes jobs: those that `work` gives beside its answer are known from then on.
    pub(crate) fn write_jobs<T, E, F>(
        &self,
        doing: &'static str,
        how: (Durability, Decides),
        work: F,
    ) -> impl Future<Output = Result<(T, Vec<Arc<Job>>), E>> + Send + use<T, E, F>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<(T, Vec<Arc<Job>>), Abort<E>> + Send + 'static,
    {
        let changes = Arc::clone(&self.changes);
        let know = move |(_, jobs): &(T, Vec<Arc<Job>>)| changes.wrote(jobs);
        self.writer.write(doing, how, work, know)
    }

    /// A job that is known without reading, if that is to be relied on at the moment.
    pub(crate) fn known(&self, id: JobId) -> Option<Arc<Job>> {
        self.others().and_then(|_| self.changes.job(id))
    }

    /// How often others were found to have written, when that is known at the moment.
    pub(crate) fn others(&self) -> Option<u64> {
        self.changes.others(|| self.writer.look())
    }

    /// How often keys and projects may have changed.
    pub(crate) fn access_changes(&self) -> Option<u64> {
        // A change of our own is counted before its caller hears of it, so it is read first.
        let own = self.changes.access();
        Some(self.others()? + own)
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
