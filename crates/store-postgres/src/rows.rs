//! Rows of jobs: read, inserted and changed.
//!
//! The row in `jobs` has what is shown of a job, and what lasts. While a job is active or leased, a row in `queue` has
//! what changes with each step. Whoever writes a job holds the lock on its row in `jobs`.

use std::sync::Arc;

use docent_jobs::search::prompt;
use docent_jobs::{Attempt, Change, EntryBody, Lease, Row};
use docent_types::{BoxError, JobId, JobStatus, Timestamp};
use futures::{future::join, try_join};
use tokio_postgres::Row as Record;
use uuid::Uuid;

use crate::journal::Batch;
use crate::outbox;
use crate::params::params;
use crate::transaction::{Transaction, hash};

const LOCK: &str = "SELECT 1 FROM jobs WHERE id = $1 FOR NO KEY UPDATE";
const READ: &str = "
    SELECT jobs.job, coalesce(queue.last_token, jobs.last_token), coalesce(queue.failed, jobs.failed),
           coalesce(queue.not_before, jobs.not_before), coalesce(queue.last_seq, jobs.last_seq),
           coalesce(queue.last_instruction, jobs.last_instruction), jobs.pruned_to,
           queue.lease_token, queue.lease_holder, queue.lease_until
    FROM jobs LEFT JOIN queue ON queue.job = jobs.id WHERE jobs.id = ANY ($1)";
const INSERT: &str = "
    INSERT INTO jobs (id, project, status, job, last_token, failed, not_before, last_seq, last_instruction, pruned_to,
                      ended_at, kept)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $3 <> 0 THEN $11 END, $12) ON CONFLICT (id) DO NOTHING";
const UPDATE: &str = "
    UPDATE jobs SET project = $2, status = $3, job = $4, last_token = $5, failed = $6, not_before = $7, last_seq = $8,
                    last_instruction = $9, pruned_to = $10,
                    ended_at = CASE WHEN $3 <> 0 THEN coalesce(ended_at, $11) END, kept = $12
    WHERE id = $1";
const ENQUEUE: &str = "
    INSERT INTO queue (job, project, key, is_active, is_leased, not_before, failed, last_token, last_seq,
                       last_instruction, lease_token, lease_holder, lease_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
const REQUEUE: &str = "
    UPDATE queue SET project = $2, key = $3, is_active = $4, is_leased = $5, not_before = $6, failed = $7,
                     last_token = $8, last_seq = $9, last_instruction = $10, lease_token = $11, lease_holder = $12,
                     lease_until = $13
    WHERE job = $1";
const DEQUEUE: &str = "DELETE FROM queue WHERE job = $1";
const ADD_PROMPT: &str = "INSERT INTO prompts (job, text, folded) VALUES ($1, $2, $3)";

/// The number of a status in the table.
pub(crate) fn number_of(status: JobStatus) -> i16 {
    match status {
        JobStatus::Active => 0,
        JobStatus::Completed => 1,
        JobStatus::Failed => 2,
        JobStatus::Archived => 3,
    }
}

/// The status with this number, if there is one.
pub(crate) fn status_of(number: i16) -> Option<JobStatus> {
    JobStatus::ALL.into_iter().find(|status| number_of(*status) == number)
}

/// A job as it is; another transaction may change it at any time.
pub(crate) async fn read(transaction: &Transaction, id: JobId) -> Result<Option<Row>, BoxError> {
    Ok(read_all(transaction, vec![id.uuid()]).await?.into_iter().next())
}

/// The jobs of these ids, in any order.
pub(crate) async fn read_all(transaction: &Transaction, ids: Vec<Uuid>) -> Result<Vec<Row>, BoxError> {
    transaction.query(READ, params![ids]).await?.iter().map(row_of).collect()
}

/// A job, which no other transaction changes before this one ends.
pub(crate) async fn lock(transaction: &Transaction, id: JobId) -> Result<Option<Row>, BoxError> {
    let uuid = id.uuid();
    // In one round trip. The second statement begins, and looks, when the lock is held.
    let params = params![uuid];
    let (locked, row) = join(transaction.query(LOCK, params), read(transaction, id)).await;
    locked?;
    row
}

fn row_of(record: &Record) -> Result<Row, BoxError> {
    let number = |index| record.get::<_, i64>(index).unsigned_abs();
    let lease = match (record.get::<_, Option<i64>>(7), record.get(8), record.get::<_, Option<i64>>(9)) {
        (Some(token), Some(holder), Some(until)) => {
            Some(Lease { token: token.unsigned_abs(), holder, until: Timestamp::from_millis(until) })
        }
        _ => None,
    };
    Ok(Row {
        job: Arc::new(serde_json::from_str(record.get(0))?),
        lease,
        last_token: number(1),
        attempt: Attempt {
            failed: record.get::<_, i32>(2).unsigned_abs(),
            not_before: Timestamp::from_millis(record.get(3)),
        },
        last_seq: number(4),
        last_instruction: number(5),
        pruned_to: number(6),
    })
}

/// Writes a new job with its first entries.
pub(crate) async fn insert(
    transaction: &Transaction,
    mut row: Row,
    entries: Vec<EntryBody>,
    now: Timestamp,
) -> Result<Row, BoxError> {
    row.last_seq = entries.len() as u64;
    let prompt = prompt(&entries);
    let batch = Batch::of(0, now, &entries)?;
    let add_prompt = async {
        let Some(text) = prompt else { return Ok(0) };
        let (id, folded) = (row.id().uuid(), text.to_lowercase());
        transaction.execute(ADD_PROMPT, params![id, text.as_bytes(), folded.as_bytes()]).await
    };
    let insert = async {
        match write_lasting(transaction, INSERT, &row, now).await? {
            0 => Err(BoxError::from("there is a job of this id already")),
            _ => Ok(()),
        }
    };
    let enqueue = async { if is_queued(&row) { write_moving(transaction, ENQUEUE, &row).await } else { Ok(0) } };
    try_join!(insert, enqueue, Batch::append(batch, transaction, row.id()), add_prompt)?;
    transaction.touch_job(row.id());
    Ok(row)
}

/// Writes the next state of a job with its entries. The job is locked.
pub(crate) async fn apply(
    transaction: &Transaction,
    row: &Row,
    change: Change,
    now: Timestamp,
) -> Result<Row, BoxError> {
    let Change { mut next, entries } = change;
    next.last_seq = row.last_seq + entries.len() as u64;
    let batch = Batch::of(row.last_seq, now, &entries)?;
    let lasting = async {
        // While a job is queued, what changes with each step is in its row there alone.
        let is_unchanged = is_queued(&next) && next.job == row.job && next.pruned_to == row.pruned_to;
        if is_unchanged { Ok(0) } else { write_lasting(transaction, UPDATE, &next, now).await }
    };
    let moving = async {
        match (is_queued(row), is_queued(&next)) {
            (true, true) => write_moving(transaction, REQUEUE, &next).await,
            (false, true) => write_moving(transaction, ENQUEUE, &next).await,
            (true, false) => transaction.execute(DEQUEUE, params![next.id().uuid()]).await,
            (false, false) => Ok(0),
        }
    };
    let tell = outbox::add(transaction, row, &next, now);
    try_join!(lasting, moving, Batch::append(batch, transaction, next.id()), tell)?;
    if is_worth_telling(row, &next) {
        transaction.touch_job(next.id());
    }
    Ok(next)
}

/// Whether a job has a row in the table `queue`.
fn is_queued(row: &Row) -> bool {
    row.job.status == JobStatus::Active || row.lease.is_some()
}

/// Whether other nodes should look at a job: a renewed lease concerns nobody.
fn is_worth_telling(row: &Row, next: &Row) -> bool {
    let renewed = Row { lease: row.lease.clone(), ..next.clone() };
    renewed != *row || row.lease.is_some() != next.lease.is_some()
}

async fn write_lasting(transaction: &Transaction, sql: &str, row: &Row, now: Timestamp) -> Result<u64, BoxError> {
    let (job, status) = (serde_json::to_string(&*row.job)?, number_of(row.job.status));
    let is_kept = row.pruned_to + 1 < row.last_seq;
    transaction
        .execute(
            sql,
            params![
                row.id().uuid(),
                row.job.project.as_str(),
                status,
                job,
                number(row.last_token)?,
                i32::try_from(row.attempt.failed)?,
                row.attempt.not_before.millis(),
                number(row.last_seq)?,
                number(row.last_instruction)?,
                number(row.pruned_to)?,
                now.millis(),
                is_kept,
            ],
        )
        .await
}

async fn write_moving(transaction: &Transaction, sql: &str, row: &Row) -> Result<u64, BoxError> {
    let lease = row.lease.as_ref();
    transaction
        .execute(
            sql,
            params![
                row.id().uuid(),
                row.job.project.as_str(),
                key_of(row),
                row.job.status == JobStatus::Active,
                lease.is_some(),
                row.attempt.not_before.millis(),
                i32::try_from(row.attempt.failed)?,
                number(row.last_token)?,
                number(row.last_seq)?,
                number(row.last_instruction)?,
                lease.map(|lease| number(lease.token)).transpose()?,
                lease.map(|lease| lease.holder.as_str()),
                lease.map(|lease| lease.until.millis()),
            ],
        )
        .await
}

fn number(number: u64) -> Result<i64, BoxError> {
    Ok(i64::try_from(number)?)
}

/// A digest of the concurrency key of a job. Two keys of one digest are taken for one: their jobs wait for each other.
fn key_of(row: &Row) -> i64 {
    let (repository, branch) = row.concurrency_key();
    hash(&[repository, branch])
}
