//! Commits, and what is done when one is in doubt.
//!
//! Each transaction inserts a mark of its own with its COMMIT. When the connection is lost before COMMIT was answered,
//! the mark is inserted once more, on another connection:
//!
//! - The database waits until the first transaction has ended, if it has not.
//! - The mark is there: the transaction took place. It is written again, so that this waits for the same standby as the
//!   transaction did, which may have been ended while it waited.
//! - It is not: the transaction did not take place, and never will, as a fence has its mark now. What is still on its way
//!   to the database would have to insert the same mark, and cannot any more.
//!
//! The mark and not the transaction's number, because after a failover the new server may give the same number again.

use std::time::Duration;

use docent_types::{BoxError, Clock};
use futures::future::join;
use tokio_postgres::error::{Severity, SqlState};
use uuid::Uuid;

use crate::error::{NotCommitted, explained};
use crate::marks;
use crate::params::params;
use crate::shared::Shared;
use crate::transaction::{MAX_ROUND_TRIP, Touched, Transaction};

/// How long an answer to COMMIT is waited for.
const MAX_COMMIT_TIME: Duration = Duration::from_secs(20);
/// How long the database is asked whether a commit took place.
const MAX_DOUBT: Duration = Duration::from_secs(30);
const DOUBT_PAUSE: Duration = Duration::from_millis(200);
/// The time of a statement is not limited here: while COMMIT waits for a standby, a limit would end the waiting and not
/// the transaction.
const COMMIT_FLUSHED: &str = "SELECT set_config('synchronous_commit', 'on', true)
                                  WHERE current_setting('synchronous_commit') = 'off';
                              SET LOCAL statement_timeout = 0; COMMIT";
const COMMIT_IN_ORDER: &str = "SET LOCAL synchronous_commit = off; SET LOCAL statement_timeout = 0; COMMIT";
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = '10s'";
const MARK: &str = "INSERT INTO commits (mark, node, jobs, access) VALUES ($1, $2, $3, $4)";
const FENCE: &str = "INSERT INTO commits (mark, node, jobs, access, is_fence) VALUES ($1, $2, '{}', false, true)
                     ON CONFLICT (mark) DO NOTHING";
const IS_FENCE: &str = "UPDATE commits SET is_fence = is_fence WHERE mark = $1 RETURNING is_fence";

/// Whether the server refused, and so did nothing. Errors of the connection and of a server that goes down do not say.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    let says_nothing = |code: &SqlState| ["08", "57", "58", "XX"].iter().any(|class| code.code().starts_with(class));
    let refusal = |error: &tokio_postgres::error::DbError| error.parsed_severity() == Some(Severity::Error);
    error.as_db_error().is_some_and(|error| refusal(error) && !says_nothing(error.code()))
}

impl Shared {
    /// Commits a transaction, and tells other nodes about it.
    pub(crate) async fn commit(&self, transaction: Transaction) -> Result<(), NotCommitted> {
        self.commits.measure(self.commit_surely(transaction)).await
    }

    async fn commit_surely(&self, transaction: Transaction) -> Result<(), NotCommitted> {
        let (mark, touched) = (marks::at(self.clock.now()), transaction.touched());
        let committed = self.try_commit(&transaction, mark, &touched).await;
        drop(transaction);
        match committed {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(NotCommitted::Lost(error)),
            None if self.resolve(mark).await? => {}
            None => return Err(NotCommitted::Lost("it was cut during the commit".into())),
        }
        if touched.access {
            self.feed.count_access_write();
        }
        if touched.access || !touched.jobs.is_empty() {
            self.feed.tell_others();
        }
        Ok(())
    }

    /// The result of a commit; `None` when it is in doubt.
    async fn try_commit(
        &self,
        transaction: &Transaction,
        mark: Uuid,
        touched: &Touched,
    ) -> Option<Result<(), BoxError>> {
        let connection = transaction.connection();
        let jobs: Vec<Uuid> = touched.jobs.iter().map(|id| id.uuid()).collect();
        let commit = if transaction.is_flushed() { COMMIT_FLUSHED } else { COMMIT_IN_ORDER };
        // Both in one round trip. If the mark is refused, COMMIT rolls back.
        let params = params![mark, self.node, jobs, touched.access];
        let both = join(connection.execute_typed(MARK, params), connection.batch_execute(commit));
        match tokio::time::timeout(MAX_COMMIT_TIME, both).await {
            Ok((Ok(_), Ok(()))) => {
                connection.release();
                Some(Ok(()))
            }
            Ok((Err(error), ended)) if is_refusal(&error) => {
                if ended.is_ok() {
                    connection.release();
                }
                Some(Err(explained(error)))
            }
            Ok((Ok(_), Err(error))) if is_refusal(&error) => Some(Err(explained(error))),
            Ok(_) | Err(_) => None,
        }
    }

    /// As [`took_place`](Self::took_place). If that cannot be said, this node is told of the transaction as of one of
    /// another node, now and when it is seen.
    async fn resolve(&self, mark: Uuid) -> Result<bool, NotCommitted> {
        let answer = self.took_place(mark).await;
        if answer.is_err() {
            self.feed.look_out_for(mark);
        }
        answer
    }

    /// Whether the transaction with this mark took place. If not, it never will.
    async fn took_place(&self, mark: Uuid) -> Result<bool, NotCommitted> {
        let begun = tokio::time::Instant::now();
        loop {
            let look = tokio::time::timeout(2 * MAX_ROUND_TRIP, self.look_for(mark)).await;
            match look.unwrap_or_else(|_| Err(NotCommitted::TooLong(2 * MAX_ROUND_TRIP).into())) {
                Ok(is_there) => return Ok(is_there),
                Err(error) if begun.elapsed() > MAX_DOUBT => return Err(NotCommitted::Unknown(error)),
                Err(_) => tokio::time::sleep(DOUBT_PAUSE).await,
            }
        }
    }

    async fn look_for(&self, mark: Uuid) -> Result<bool, BoxError> {
        let connection = self.connections.get().await?;
        connection.batch_execute(BEGIN).await.map_err(explained)?;
        connection.execute_typed(FENCE, params![mark, self.node]).await.map_err(explained)?;
        let found = connection.query_typed_one(IS_FENCE, params![mark]).await.map_err(explained)?;
        connection.batch_execute(COMMIT_FLUSHED).await.map_err(explained)?;
        connection.release();
        Ok(!found.get::<_, bool>(0))
    }
}
