//! Rows of jobs: read, inserted and changed.
//!
//! The row in `jobs` has what is shown of a job, and what lasts. While a job is active or leased, a row in `queue` has
//! what changes with each step. Whoever writes a job holds the lock on its row in `jobs`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docent_jobs::search::prompt;
use docent_jobs::{Attempt, Change, EntryBody, Lease, OutboxEvent, Row};
use docent_types::{BoxError, JobId, JobStatus, Timestamp};
use futures::future::{join, try_join_all};
use futures::try_join;
use tokio_postgres::Row as Record;
use uuid::Uuid;

use crate::journal::{self, Batch};
use crate::outbox;
use crate::params::params;
use crate::transaction::{Transaction, hash};

const LOCK: &str = "SELECT 1 FROM jobs WHERE id = $1 FOR NO KEY UPDATE";
const LOCK_FREE: &str = "SELECT id FROM jobs WHERE id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED";
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
/// The parameters are arrays with a value for each job. For a single one that takes longer than values, so only what is
/// done for many uses them.
const UPDATE: &str = "
    UPDATE jobs
    SET project = next.project, status = next.status, job = next.job, last_token = next.last_token, failed = next.failed,
        not_before = next.not_before, last_seq = next.last_seq, last_instruction = next.last_instruction,
        pruned_to = next.pruned_to, ended_at = CASE WHEN next.status <> 0 THEN coalesce(jobs.ended_at, next.at) END,
        kept = next.kept
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         AS next (id, project, status, job, last_token, failed, not_before, last_seq, last_instruction, pruned_to, at, kept)
    WHERE jobs.id = next.id";
const ENQUEUE: &str = "
    INSERT INTO queue (job, project, key, is_active, is_leased, not_before, failed, last_token, last_seq,
                       last_instruction, lease_token, lease_holder, lease_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
/// With arrays, as above.
const REQUEUE: &str = "
    UPDATE queue
    SET project = next.project, key = next.key, is_active = next.is_active, is_leased = next.is_leased,
        not_before = next.not_before, failed = next.failed, last_token = next.last_token, last_seq = next.last_seq,
        last_instruction = next.last_instruction, lease_token = next.lease_token, lease_holder = next.lease_holder,
        lease_until = next.lease_until
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         AS next (job, project, key, is_active, is_leased, not_before, failed, last_token, last_seq, last_instruction,
                  lease_token, lease_holder, lease_until)
    WHERE queue.job = next.job";
const DEQUEUE: &str = "DELETE FROM queue WHERE job = ANY ($1)";
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

/// Those of the jobs that no other transaction has locked; they are locked now.
pub(crate) async fn lock_free(transaction: &Transaction, ids: Vec<Uuid>) -> Result<HashMap<Uuid, Row>, BoxError> {
    // In one round trip. The second statement begins, and looks, when the locks are held.
    let params = params![ids];
    let (locked, rows) = join(transaction.query(LOCK_FREE, params), read_all(transaction, ids.clone())).await;
    let locked: HashSet<Uuid> = locked?.iter().map(|record| record.get(0)).collect();
    let rows = rows?.into_iter().map(|row| (row.id().uuid(), row));
    Ok(rows.filter(|(id, _)| locked.contains(id)).collect())
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
    let batch: Vec<Batch> = Batch::of(row.id(), 0, now, &entries)?.into_iter().collect();
    let add_prompt = async {
        let Some(text) = prompt else { return Ok(0) };
        let (id, folded) = (row.id().uuid(), text.to_lowercase());
        transaction.execute(ADD_PROMPT, params![id, text.as_bytes(), folded.as_bytes()]).await
    };
    let insert = async {
        match add_lasting(transaction, &row, now).await? {
            0 => Err(BoxError::from("there is a job of this id already")),
            _ => Ok(()),
        }
    };
    let enqueue = async { if is_queued(&row) { enqueue(transaction, &row).await } else { Ok(0) } };
    try_join!(insert, enqueue, journal::append(transaction, &batch), add_prompt)?;
    transaction.touch_job(row.id());
    Ok(row)
}

/// What is to be written of a job, which is locked.
#[derive(Debug)]
pub(crate) struct RowWrite<'a> {
    pub(crate) row: &'a Row,
    pub(crate) change: Change,
    pub(crate) now: Timestamp,
}

/// Writes the next state of a job with its entries. The job is locked.
pub(crate) async fn apply(
    transaction: &Transaction,
    row: &Row,
    change: Change,
    now: Timestamp,
) -> Result<Row, BoxError> {
    let written = apply_all(transaction, vec![RowWrite { row, change, now }]).await?.pop();
    written.ok_or_else(|| "a job was not written".into())
}

/// Writes the next states of jobs, each once, with their entries. In one round trip.
pub(crate) async fn apply_all(transaction: &Transaction, writes: Vec<RowWrite<'_>>) -> Result<Vec<Row>, BoxError> {
    let (mut written, mut batches, mut events) = (Vec::with_capacity(writes.len()), Vec::new(), Vec::new());
    for RowWrite { row, change: Change { mut next, entries }, now } in writes {
        next.last_seq = row.last_seq + entries.len() as u64;
        batches.extend(Batch::of(row.id(), row.last_seq, now, &entries)?);
        events.extend(OutboxEvent::of(row, &next, now));
        if is_worth_telling(row, &next) {
            transaction.touch_job(next.id());
        }
        written.push((row, next, now));
    }
    let lasting: Vec<(&Row, Timestamp)> =
        written.iter().filter(|(row, next, _)| is_lasting(row, next)).map(|(_, next, now)| (next, *now)).collect();
    let queued = |before, after| -> Vec<&Row> {
        let is_so = |row: &Row, next: &Row| (is_queued(row), is_queued(next)) == (before, after);
        written.iter().filter(|(row, next, _)| is_so(row, next)).map(|(_, next, _)| next).collect()
    };
    let (enqueued, requeued, dequeued) = (queued(false, true), queued(true, true), queued(true, false));
    try_join!(
        write_lasting(transaction, &lasting),
        try_join_all(enqueued.into_iter().map(|row| enqueue(transaction, row))),
        write_moving(transaction, &requeued),
        dequeue(transaction, &dequeued),
        journal::append(transaction, &batches),
        outbox::add(transaction, &events)
    )?;
    Ok(written.into_iter().map(|(_, next, _)| next).collect())
}

/// Whether the row in `jobs` must be written. While a job is queued, what changes with each step is in its row there alone.
fn is_lasting(row: &Row, next: &Row) -> bool {
    !is_queued(next) || next.job != row.job || next.pruned_to != row.pruned_to
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

async fn add_lasting(transaction: &Transaction, row: &Row, now: Timestamp) -> Result<u64, BoxError> {
    transaction
        .execute(
            INSERT,
            params![
                row.id().uuid(),
                row.job.project.as_str(),
                number_of(row.job.status),
                serde_json::to_string(&*row.job)?,
                number(row.last_token),
                failed(row),
                row.attempt.not_before.millis(),
                number(row.last_seq),
                number(row.last_instruction),
                number(row.pruned_to),
                now.millis(),
                row.pruned_to + 1 < row.last_seq,
            ],
        )
        .await
}

async fn write_lasting(transaction: &Transaction, rows: &[(&Row, Timestamp)]) -> Result<u64, BoxError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let jobs = rows.iter().map(|(row, _)| serde_json::to_string(&*row.job)).collect::<Result<Vec<_>, _>>()?;
    let moments: Vec<i64> = rows.iter().map(|(_, now)| now.millis()).collect();
    let rows: Vec<&Row> = rows.iter().map(|(row, _)| *row).collect();
    transaction
        .execute(
            UPDATE,
            params![
                column(&rows, |row| row.id().uuid()),
                column(&rows, |row| row.job.project.as_str()),
                column(&rows, |row| number_of(row.job.status)),
                jobs,
                column(&rows, |row| number(row.last_token)),
                column(&rows, failed),
                column(&rows, |row| row.attempt.not_before.millis()),
                column(&rows, |row| number(row.last_seq)),
                column(&rows, |row| number(row.last_instruction)),
                column(&rows, |row| number(row.pruned_to)),
                moments,
                column(&rows, |row| row.pruned_to + 1 < row.last_seq),
            ],
        )
        .await
}

async fn enqueue(transaction: &Transaction, row: &Row) -> Result<u64, BoxError> {
    let lease = row.lease.as_ref();
    transaction
        .execute(
            ENQUEUE,
            params![
                row.id().uuid(),
                row.job.project.as_str(),
                key_of(row),
                row.job.status == JobStatus::Active,
                lease.is_some(),
                row.attempt.not_before.millis(),
                failed(row),
                number(row.last_token),
                number(row.last_seq),
                number(row.last_instruction),
                lease.map(|lease| number(lease.token)),
                lease.map(|lease| lease.holder.as_str()),
                lease.map(|lease| lease.until.millis()),
            ],
        )
        .await
}

async fn write_moving(transaction: &Transaction, rows: &[&Row]) -> Result<u64, BoxError> {
    if rows.is_empty() {
        return Ok(0);
    }
    transaction
        .execute(
            REQUEUE,
            params![
                column(rows, |row| row.id().uuid()),
                column(rows, |row| row.job.project.as_str()),
                column(rows, key_of),
                column(rows, |row| row.job.status == JobStatus::Active),
                column(rows, |row| row.lease.is_some()),
                column(rows, |row| row.attempt.not_before.millis()),
                column(rows, failed),
                column(rows, |row| number(row.last_token)),
                column(rows, |row| number(row.last_seq)),
                column(rows, |row| number(row.last_instruction)),
                column(rows, |row| row.lease.as_ref().map(|lease| number(lease.token))),
                column(rows, |row| row.lease.as_ref().map(|lease| lease.holder.as_str())),
                column(rows, |row| row.lease.as_ref().map(|lease| lease.until.millis())),
            ],
        )
        .await
}

async fn dequeue(transaction: &Transaction, rows: &[&Row]) -> Result<u64, BoxError> {
    if rows.is_empty() {
        return Ok(0);
    }
    transaction.execute(DEQUEUE, params![column(rows, |row| row.id().uuid())]).await
}

/// A value of each row.
fn column<'a, T>(rows: &[&'a Row], value: impl Fn(&'a Row) -> T) -> Vec<T> {
    rows.iter().map(|row| value(row)).collect()
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn failed(row: &Row) -> i32 {
    i32::try_from(row.attempt.failed).unwrap_or(i32::MAX)
}

/// A digest of the concurrency key of a job. Two keys of one digest are taken for one: their jobs wait for each other.
fn key_of(row: &Row) -> i64 {
    let (repository, branch) = row.concurrency_key();
    hash(&[repository, branch])
}
