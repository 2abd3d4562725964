//! Transactions: each runs to its end in a task of its own.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use docent_types::{BoxError, JobId, StoreError};
use futures::FutureExt;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::Row as Record;

use crate::connections::Connection;
use crate::error::{Abort, Closed, NotCommitted, Panicked, explained};
use crate::params::{Param, params};
use crate::postgres::PostgresStore;
use crate::shared::Shared;

/// One statement may take this long, waiting for locks included; the database then cancels it. A node that stops in the
/// middle of a transaction (a frozen process, a cut network) holds its locks no longer than the second limit.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = '10s'; \
                           SET LOCAL idle_in_transaction_session_timeout = '5s'";
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '30s'; \
                          SET LOCAL idle_in_transaction_session_timeout = '30s'";
/// The longest transaction, without its commit.
const MAX_TIME: Duration = Duration::from_secs(40);
/// How long a server may take to begin or undo a transaction. One that hangs takes connections and answers nothing.
pub(crate) const MAX_ROUND_TRIP: Duration = Duration::from_secs(5);
/// The longest statement that reads alone.
const MAX_ASK: Duration = Duration::from_secs(10);
/// Attempts to begin a transaction, and the pause after the first; it doubles.
const BEGIN_ATTEMPTS: u32 = 5;
const BEGIN_PAUSE: Duration = Duration::from_millis(50);
/// What fails later than this is not repeated.
const LAST_REPETITION: Duration = Duration::from_millis(500);

/// What other nodes are told of a transaction.
#[derive(Debug, Default, Clone)]
pub(crate) struct Touched {
    pub(crate) jobs: Vec<JobId>,
    /// Whether keys, projects or operators may have changed.
    pub(crate) access: bool,
}

/// An open transaction. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Transaction(Arc<Open>);

#[derive(Debug)]
struct Open {
    connection: Connection,
    touched: Mutex<Touched>,
    is_flushed: AtomicBool,
    has_written: AtomicBool,
}

/// How a transaction ends that was not committed.
#[derive(Debug)]
enum End<T, E> {
    Kept(T),
    Undone(Abort<E>),
}

impl Transaction {
    fn new(connection: Connection, is_flushed: bool) -> Self {
        let (touched, is_flushed) = (Mutex::default(), AtomicBool::new(is_flushed));
        Self(Arc::new(Open { connection, touched, is_flushed, has_written: AtomicBool::new(false) }))
    }

    /// Runs a statement that writes; returns the number of rows that it wrote.
    pub(crate) async fn execute(&self, sql: &str, params: &[Param<'_>]) -> Result<u64, BoxError> {
        self.0.has_written.store(true, Ordering::Relaxed);
        self.0.connection.execute_typed(sql, params).await.map_err(explained)
    }

    /// Runs a statement that writes, and returns its answer.
    pub(crate) async fn execute_rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Record>, BoxError> {
        self.0.has_written.store(true, Ordering::Relaxed);
        self.0.connection.query_typed(sql, params).await.map_err(explained)
    }

    /// The first row of the answer of a statement that writes.
    pub(crate) async fn execute_opt(&self, sql: &str, params: &[Param<'_>]) -> Result<Option<Record>, BoxError> {
        Ok(self.execute_rows(sql, params).await?.into_iter().next())
    }

    /// Runs a statement that only reads: a transaction without any other is rolled back.
    pub(crate) async fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Record>, BoxError> {
        debug_assert!(!sql.contains("RETURNING"), "it writes: {sql}");
        self.0.connection.query_typed(sql, params).await.map_err(explained)
    }

    /// The first row, or `None`.
    pub(crate) async fn query_opt(&self, sql: &str, params: &[Param<'_>]) -> Result<Option<Record>, BoxError> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// The first row of an answer that has one.
    pub(crate) async fn query_one(&self, sql: &str, params: &[Param<'_>]) -> Result<Record, BoxError> {
        self.query_opt(sql, params).await?.ok_or_else(|| "the database answered without a row".into())
    }

    /// Waits for the lock of this name, and holds it until the transaction ends. `kind` says what it is about.
    pub(crate) async fn lock(&self, kind: &str, name: &str) -> Result<(), BoxError> {
        self.query("SELECT pg_advisory_xact_lock($1)", params![hash(&[kind, name])]).await.map(drop)
    }

    /// Says that a job was written.
    pub(crate) fn touch_job(&self, id: JobId) {
        self.0.touched.lock().jobs.push(id);
    }

    /// Says that keys, projects or operators were written.
    pub(crate) fn touch_access(&self) {
        self.0.touched.lock().access = true;
    }

    /// Says that the commit need not wait for the disk.
    pub(crate) fn leave_unflushed(&self) {
        self.0.is_flushed.store(false, Ordering::Relaxed);
    }

    /// Commits the transaction even if it only reads: what it has read is then as safe as the commit.
    pub(crate) fn commit_what_is_read(&self) {
        self.0.has_written.store(true, Ordering::Relaxed);
    }

    pub(crate) fn touched(&self) -> Touched {
        self.0.touched.lock().clone()
    }

    pub(crate) fn is_flushed(&self) -> bool {
        self.0.is_flushed.load(Ordering::Relaxed)
    }

    fn has_written(&self) -> bool {
        self.0.has_written.load(Ordering::Relaxed)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.0.connection
    }

    /// Undoes the transaction. If that fails, the connection is closed, which undoes it too.
    async fn roll_back(&self) {
        let undone = tokio::time::timeout(MAX_ROUND_TRIP, self.0.connection.batch_execute("ROLLBACK")).await;
        if matches!(undone, Ok(Ok(()))) {
            self.0.connection.release();
        }
    }
}

/// Eight bytes of a digest of the parts.
pub(crate) fn hash(parts: &[&str]) -> i64 {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    let bytes: [u8; 32] = digest.finalize().into();
    i64::from_le_bytes(*bytes.first_chunk().expect("a digest is longer"))
}

impl PostgresStore {
    /// Runs `work` in a transaction; returns when it is committed and on the disk. `doing` completes "could not …".
    ///
    /// The transaction is carried out even if the future is dropped.
    pub(crate) async fn write<T, E, F, Work>(&self, doing: &'static str, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(Transaction) -> Work + Send + 'static,
        Work: Future<Output = Result<T, Abort<E>>> + Send + 'static,
    {
        self.write_as(doing, true, work).await
    }

    /// Like [`write`](Self::write), but the commit does not wait for the disk: it survives with the next one that does.
    pub(crate) async fn write_in_order<T, E, F, Work>(&self, doing: &'static str, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(Transaction) -> Work + Send + 'static,
        Work: Future<Output = Result<T, Abort<E>>> + Send + 'static,
    {
        self.write_as(doing, false, work).await
    }

    async fn write_as<T, E, F, Work>(&self, doing: &'static str, is_flushed: bool, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(Transaction) -> Work + Send + 'static,
        Work: Future<Output = Result<T, Abort<E>>> + Send + 'static,
    {
        let shared = Arc::clone(self.shared());
        let writing = self.own(async move { shared.write(is_flushed, work).await });
        let answer = match writing {
            Some(writing) => writing.await.unwrap_or_else(|_| Err(Abort::Failed(Panicked.into()))),
            None => Err(Abort::Failed(Closed.into())),
        };
        answer.map_err(|abort| abort.explain(doing))
    }

    /// Runs `work` on one snapshot of the database.
    pub(crate) async fn read<T, F, Work>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Transaction) -> Work + Send + 'static,
        Work: Future<Output = Result<T, BoxError>> + Send + 'static,
    {
        let shared = Arc::clone(self.shared());
        let (reply, answer) = oneshot::channel();
        self.own(async move {
            let transaction = match shared.begin(BEGIN_READ).await {
                Ok(connection) => Transaction::new(connection, false),
                Err(error) => return drop(reply.send(Err(Abort::Failed(error)))),
            };
            let work = |transaction| async move { work(transaction).await.map_err(Abort::<StoreError>::Failed) };
            // The answer does not wait for the end of the transaction.
            let _ = reply.send(match carry_out(MAX_TIME, &transaction, work).await {
                End::Kept(value) => Ok(value),
                End::Undone(abort) => Err(abort),
            });
            transaction.roll_back().await;
        });
        let answer = answer.await.unwrap_or_else(|_| Err(Abort::Failed(Closed.into())));
        answer.map_err(|abort| abort.explain(doing))
    }

    /// Runs `work`, which runs one statement that reads. That needs no transaction, and may be repeated: on another
    /// connection, if its own turns out to be dead.
    pub(crate) async fn ask<T, F, Work>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Fn(Transaction) -> Work + Send + Sync + 'static,
        Work: Future<Output = Result<T, BoxError>> + Send + 'static,
    {
        let shared = Arc::clone(self.shared());
        let asking = self.own(async move {
            let (begun, mut pause) = (Instant::now(), BEGIN_PAUSE);
            loop {
                match shared.try_ask(&work).await {
                    Err(_) if begun.elapsed() < LAST_REPETITION => {}
                    answer => return answer,
                }
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
        });
        let answer = match asking {
            Some(asking) => asking.await.unwrap_or_else(|_| Err(Abort::Failed(Panicked.into()))),
            None => Err(Abort::Failed(Closed.into())),
        };
        answer.map_err(|abort| abort.explain(doing))
    }

    /// Runs a future to its end, whoever waits; `None` if the store is closed.
    fn own<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<JoinHandle<T>> {
        let tasks = &self.shared().tasks;
        (!tasks.is_closed()).then(|| tasks.spawn(work))
    }
}

/// Runs the work of a transaction, for this long at most.
async fn carry_out<T, E, Work>(
    limit: Duration,
    transaction: &Transaction,
    work: impl FnOnce(Transaction) -> Work,
) -> End<T, E>
where
    Work: Future<Output = Result<T, Abort<E>>>,
{
    let work = AssertUnwindSafe(work(transaction.clone())).catch_unwind();
    match tokio::time::timeout(limit, work).await {
        Ok(Ok(Ok(value))) => End::Kept(value),
        Ok(Ok(Err(abort))) => End::Undone(abort),
        Ok(Err(_)) => End::Undone(Abort::Failed(Panicked.into())),
        Err(_) => End::Undone(Abort::Failed(NotCommitted::TooLong(limit).into())),
    }
}

impl Shared {
    /// Runs `work` in a transaction, in the task of the caller.
    pub(crate) async fn write<T, E, F, Work>(&self, is_flushed: bool, work: F) -> Result<T, Abort<E>>
    where
        F: FnOnce(Transaction) -> Work,
        Work: Future<Output = Result<T, Abort<E>>>,
    {
        let transaction = Transaction::new(self.begin(BEGIN_WRITE).await?, is_flushed);
        match carry_out(MAX_TIME, &transaction, work).await {
            // A claim that found nothing is nothing to flush.
            End::Kept(value) if !transaction.has_written() => {
                transaction.roll_back().await;
                Ok(value)
            }
            End::Kept(value) => self.commit(transaction).await.map(|()| value).map_err(|e| Abort::Failed(e.into())),
            End::Undone(abort) => {
                transaction.roll_back().await;
                Err(abort)
            }
        }
    }

    /// Begins a transaction. Nothing was done yet, so a connection that turns out to be dead is replaced.
    pub(crate) async fn begin(&self, how: &str) -> Result<Connection, BoxError> {
        let (begun, mut pause) = (Instant::now(), BEGIN_PAUSE);
        for _ in 1..BEGIN_ATTEMPTS {
            match self.try_begin(how).await {
                Err(_) if begun.elapsed() < LAST_REPETITION => {}
                answer => return answer,
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        self.try_begin(how).await
    }

    async fn try_ask<T, F, Work>(&self, work: &F) -> Result<T, Abort<StoreError>>
    where
        F: Fn(Transaction) -> Work,
        Work: Future<Output = Result<T, BoxError>>,
    {
        let transaction = Transaction::new(self.connections.get().await.map_err(Abort::Failed)?, false);
        let work = |transaction| async { work(transaction).await.map_err(Abort::Failed) };
        match carry_out(MAX_ASK, &transaction, work).await {
            End::Kept(value) => {
                transaction.connection().release();
                Ok(value)
            }
            End::Undone(abort) => Err(abort),
        }
    }

    async fn try_begin(&self, how: &str) -> Result<Connection, BoxError> {
        let connection = self.connections.get().await?;
        let begun = tokio::time::timeout(MAX_ROUND_TRIP, connection.batch_execute(how)).await;
        begun.map_err(|_| NotCommitted::TooLong(MAX_ROUND_TRIP))?.map_err(explained)?;
        Ok(connection)
    }
}
