//! Rows of jobs: read, inserted and changed, each with its effect on the queue.

use std::sync::Arc;

use docent_jobs::search::prompt;
use docent_jobs::{Change, EntryBody, Row};
use docent_types::{BoxError, JobId, JobStatus, Timestamp};
use rusqlite::{Connection, params};

use crate::error::Abort;
use crate::journal::{Journal, PreparedEntries};
use crate::queue_state::QueueState;
use crate::write_connection::{Job, WriteConnection};
use crate::{concurrency_key, outbox, queue};

/// A job in the state of the current transaction.
pub(crate) fn find(connection: &WriteConnection, id: JobId) -> Result<Option<Arc<Job>>, BoxError> {
    if let Some(job) = connection.job(id) {
        return Ok(Some(job));
    }
    Ok(read(connection, id)?.map(|(n, row)| Arc::new(Job { n, row, journal: None })))
}

/// A row, and its row number.
pub(crate) fn read(connection: &Connection, id: JobId) -> Result<Option<(i64, Row)>, BoxError> {
    let mut select = connection.prepare_cached("SELECT n, body FROM jobs WHERE id = ?1")?;
    let mut rows = select.query([id.uuid().into_bytes()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some((row.get(0)?, serde_json::from_str(row.get_ref(1)?.as_str()?)?)))
}

/// A new job with its first entries, ready to be written. Made by the caller, to keep work off the writer thread.
#[derive(Debug)]
pub(crate) struct PreparedJob {
    row: Row,
    body: String,
    prepared: Option<PreparedEntries>,
    prompt: Option<String>,
    now: Timestamp,
}

impl PreparedJob {
    pub(crate) fn of(mut row: Row, entries: Vec<EntryBody>, now: Timestamp) -> Result<Self, BoxError> {
        row.last_seq = entries.len() as u64;
        let prompt = prompt(&entries);
        let prepared = PreparedEntries::of(0, now, entries)?;
        Ok(Self { body: serde_json::to_string(&row)?, prepared, prompt, row, now })
    }
}

/// Writes a new job with its first entries.
pub(crate) fn insert<E>(connection: &WriteConnection, new: PreparedJob) -> Result<Arc<Job>, Abort<E>> {
    let PreparedJob { row, body, mut prepared, prompt, now } = new;
    let id = row.id().uuid().into_bytes();
    if connection.prepare_cached("SELECT 1 FROM jobs WHERE id = ?1")?.exists([id])? {
        return Err(Abort::Failed("there is a job of this id already".into()));
    }
    let state = queue::initial_state(connection, &row, now)?;
    let beginning = prepared.as_ref().filter(|prepared| prepared.fits_in_row()).map(PreparedEntries::columns);
    connection.prepare_cached(
        "INSERT INTO jobs (id, project, place, lane, not_before, lease_until, ended_at, kept, body, began, began_at, beginning)
         VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
    )?
    .execute(params![
        id,
        row.job.project.as_str(),
        state,
        concurrency_key::stored(&row),
        row.attempt.not_before.millis(),
        row.lease.as_ref().map(|lease| lease.until.millis()),
        (row.job.status != JobStatus::Active).then(|| now.millis()),
        body,
        beginning.map(|(count, _, _)| count),
        beginning.map(|(_, at, _)| at),
        beginning.map(|(_, _, text)| text),
    ])?;
    let n = connection.last_insert_rowid();
    if beginning.is_none() {
        prepared = prepared.map(|prepared| prepared.append(connection, n)).transpose()?;
    }
    if let Some(prompt) = prompt {
        connection.prepare_cached("INSERT INTO prompts (n, text) VALUES (?1, ?2)")?.execute((n, prompt))?;
    }
    if state == QueueState::Ready {
        queue::mark_waiting(connection, row.job.project.as_str())?;
    }
    let job = Arc::new(Job { n, row, journal: Journal::default().extended(prepared) });
    connection.cache_job(&job);
    Ok(job)
}

/// Writes the next state of a job with its entries.
pub(crate) fn apply<E>(
    connection: &WriteConnection,
    job: &Job,
    change: Change,
    now: Timestamp,
) -> Result<Arc<Job>, Abort<E>> {
    let (row, Change { mut next, entries }) = (&job.row, change);
    next.last_seq = row.last_seq + entries.len() as u64;
    let prepared = PreparedEntries::of(row.last_seq, now, entries)?;
    let written = prepared.map(|prepared| prepared.append(connection, job.n)).transpose()?;
    let journal = job.journal.clone().and_then(|journal| journal.extended(written));
    let (n, body) = (job.n, serde_json::to_string(&next)?);
    if keeps_state(row, &next) {
        // No index covers the difference.
        connection.prepare_cached("UPDATE jobs SET body = ?2 WHERE n = ?1")?.execute((n, body))?;
    } else {
        let state = QueueState::of(&next, now);
        put(connection, n, &next, state, now, &body)?;
        queue::update(connection, &next, state)?;
        outbox::add(connection, row, &next, now)?;
    }
    let job = Arc::new(Job { n, row: next, journal });
    connection.cache_job(&job);
    Ok(job)
}

/// Writes a row that moves to another queue state. A blocked job does not become ready by itself.
fn put(
    connection: &WriteConnection,
    n: i64,
    next: &Row,
    state: QueueState,
    now: Timestamp,
    body: &str,
) -> rusqlite::Result<()> {
    let lease_until = next.lease.as_ref().map(|lease| lease.until.millis());
    if state == QueueState::Leased {
        // Its concurrency key and due time are unchanged, or in no index that it is in.
        return connection
            .prepare_cached("UPDATE jobs SET place = ?2, lease_until = ?3, body = ?4 WHERE n = ?1")?
            .execute((n, state, lease_until, body))
            .map(drop);
    }
    connection
        .prepare_cached(
            "UPDATE jobs
         SET place = CASE WHEN place = 1 AND ?2 = 0 THEN 1 ELSE ?2 END, not_before = ?3, lease_until = ?4,
             ended_at = CASE WHEN ?2 >= 4 THEN coalesce(ended_at, ?5) END, kept = ?6, body = ?7
         WHERE n = ?1",
        )?
        .execute(params![
            n,
            state,
            next.attempt.not_before.millis(),
            lease_until,
            now.millis(),
            next.pruned_to + 1 < next.last_seq,
            body,
        ])
        .map(drop)
}

/// Whether an active job remains waiting, or remains leased.
fn keeps_state(row: &Row, next: &Row) -> bool {
    row.job.status == JobStatus::Active
        && next.job.status == JobStatus::Active
        && row.lease == next.lease
        && row.attempt.not_before == next.attempt.not_before
}
