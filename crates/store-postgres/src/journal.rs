//! Journals: the entries of one write are stored as one row, a batch.

use docent_jobs::{Entry, EntryBody};
use docent_types::{BoxError, JobId, Timestamp};
use tokio_postgres::Row as Record;
use uuid::Uuid;

use crate::params::params;
use crate::transaction::Transaction;

const APPEND: &str = "INSERT INTO entries (job, last, count, at, bodies) VALUES ($1, $2, $3, $4, $5)";
const APPEND_ALL: &str = "INSERT INTO entries (job, last, count, at, bodies) SELECT * FROM unnest($1, $2, $3, $4, $5)";
const READ: &str = "SELECT last, at, bodies FROM entries WHERE job = $1 AND last > $2 ORDER BY last LIMIT $3";
const CUT: &str = "DELETE FROM entries WHERE job = $1 AND last <= $2";
const FIRST: &str = "SELECT last, at, bodies FROM entries WHERE job = $1 ORDER BY last LIMIT 1";
const SHORTEN: &str = "UPDATE entries SET count = $3, bodies = $4 WHERE job = $1 AND last = $2";

/// Entries of a job that are written together.
#[derive(Debug)]
pub(crate) struct Batch {
    job: Uuid,
    last: i64,
    count: i32,
    at: i64,
    bodies: String,
}

impl Batch {
    /// The entries that follow number `after`; `None` when there are none.
    pub(crate) fn of(job: JobId, after: u64, at: Timestamp, bodies: &[EntryBody]) -> Result<Option<Self>, BoxError> {
        if bodies.is_empty() {
            return Ok(None);
        }
        let last = i64::try_from(after + bodies.len() as u64)?;
        let (count, bodies) = (i32::try_from(bodies.len())?, serde_json::to_string(bodies)?);
        Ok(Some(Self { job: job.uuid(), last, count, at: at.millis(), bodies }))
    }
}

/// Writes batches, if there are any.
pub(crate) async fn append(transaction: &Transaction, batches: &[Batch]) -> Result<(), BoxError> {
    match batches {
        [] => return Ok(()),
        [Batch { job, last, count, at, bodies }] => {
            return transaction.execute(APPEND, params![*job, *last, *count, *at, bodies.as_str()]).await.map(drop);
        }
        _ => {}
    }
    let (mut jobs, mut lasts, mut counts, mut moments, mut bodies) = (vec![], vec![], vec![], vec![], vec![]);
    for batch in batches {
        jobs.push(batch.job);
        lasts.push(batch.last);
        counts.push(batch.count);
        moments.push(batch.at);
        bodies.push(&*batch.bodies);
    }
    transaction.execute(APPEND_ALL, params![jobs, lasts, counts, moments, bodies]).await.map(drop)
}

/// At most `limit` entries after `after`.
pub(crate) async fn read(
    transaction: &Transaction,
    job: JobId,
    after: u64,
    limit: u32,
) -> Result<Vec<Entry>, BoxError> {
    let last = i64::try_from(after).unwrap_or(i64::MAX);
    let mut entries = Vec::new();
    for record in transaction.query(READ, params![job.uuid(), last, i64::from(limit)]).await? {
        entries.extend(entries_of(&record)?.into_iter().filter(|entry| entry.seq > after));
        if entries.len() >= limit as usize {
            break;
        }
    }
    entries.truncate(limit as usize);
    Ok(entries)
}

fn entries_of(record: &Record) -> Result<Vec<Entry>, BoxError> {
    let (last, at) = (record.get::<_, i64>(0).unsigned_abs(), Timestamp::from_millis(record.get(1)));
    let bodies: Vec<EntryBody> = serde_json::from_str(record.get(2))?;
    let first = last + 1 - bodies.len() as u64;
    Ok((first..).zip(bodies).map(|(seq, body)| Entry { seq, at, body }).collect())
}

/// Deletes the entries up to number `upto`.
pub(crate) async fn cut(transaction: &Transaction, job: Uuid, upto: u64) -> Result<(), BoxError> {
    transaction.execute(CUT, params![job, i64::try_from(upto)?]).await?;
    let Some(first) = transaction.query_opt(FIRST, params![job]).await? else { return Ok(()) };
    let mut entries = entries_of(&first)?;
    let count = entries.len();
    entries.retain(|entry| entry.seq > upto);
    if entries.len() < count {
        let (last, left) = (first.get::<_, i64>(0), i32::try_from(entries.len())?);
        let bodies: Vec<EntryBody> = entries.into_iter().map(|entry| entry.body).collect();
        transaction.execute(SHORTEN, params![job, last, left, serde_json::to_string(&bodies)?]).await?;
    }
    Ok(())
}
