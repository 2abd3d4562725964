//! Journals: the entries of one write are stored as one row, a batch. A short first batch is stored in the row of the
//! job.

use std::sync::Arc;

use docent_jobs::{Entry, EntryBody};
use docent_types::{BoxError, JobId, Timestamp};
use rusqlite::{Connection, OptionalExtension};

/// A journal with more text than this, in bytes, is not cached.
const MAX_CACHED_BYTES: usize = 4096;
/// Largest first batch, in bytes, that is stored in the job's row. The limit is low because every change of a job
/// rewrites its whole row.
const MAX_IN_ROW_BYTES: usize = 1024;

/// The batches of a job's journal after an entry: the one in the job's row, and those in the table of entries.
const BATCHES: &str = "SELECT began AS last, began_at, beginning FROM jobs WHERE id = ?1 AND began > ?2
                       UNION ALL
                       SELECT last, at, bodies FROM entries WHERE job = (SELECT n FROM jobs WHERE id = ?1) AND last > ?2
                       ORDER BY last LIMIT ?3";

/// Entries written together, and the number of the last one.
#[derive(Debug)]
pub(crate) struct Batch {
    last: u64,
    at: Timestamp,
    bodies: Vec<EntryBody>,
}

impl Batch {
    fn read(last: u64, at: Timestamp, text: &str) -> Result<Self, BoxError> {
        Ok(Self { last, at, bodies: serde_json::from_str(text)? })
    }

    fn entries(&self, after: u64) -> impl Iterator<Item = Entry> {
        let first = self.last + 1 - self.bodies.len() as u64;
        let skipped = usize::try_from((after + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        let entry = |(seq, body): (u64, &EntryBody)| Entry { seq, at: self.at, body: body.clone() };
        (first..).zip(&self.bodies).skip(skipped).map(entry)
    }
}

/// A whole short journal, in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    batches: Vec<Arc<Batch>>,
    bytes: usize,
}

impl Journal {
    /// At most `limit` entries after `after`.
    pub(crate) fn entries(&self, after: u64, limit: u32) -> Vec<Entry> {
        let batches = self.batches.iter().filter(|batch| batch.last > after);
        batches.flat_map(|batch| batch.entries(after)).take(limit as usize).collect()
    }

    /// The journal with the next batch; `None` if it becomes too long to be cached.
    pub(crate) fn extended(self, written: Option<PreparedEntries>) -> Option<Self> {
        match written {
            Some(PreparedEntries { batch, text }) => self.with(batch, text.len()),
            None => Some(self),
        }
    }

    /// The journal with a batch whose text has `bytes` bytes; `None` if it becomes too long to be cached.
    fn with(mut self, batch: Batch, bytes: usize) -> Option<Self> {
        self.batches.push(Arc::new(batch));
        self.bytes += bytes;
        (self.bytes <= MAX_CACHED_BYTES).then_some(self)
    }
}

/// Entries to be written together.
#[derive(Debug)]
pub(crate) struct PreparedEntries {
    batch: Batch,
    /// The bodies as JSON.
    text: String,
}

impl PreparedEntries {
    /// The entries that follow number `after`; `None` when there are none.
    pub(crate) fn of(after: u64, at: Timestamp, bodies: Vec<EntryBody>) -> Result<Option<Self>, BoxError> {
        if bodies.is_empty() {
            return Ok(None);
        }
        let (last, text) = (after + bodies.len() as u64, serde_json::to_string(&bodies)?);
        Ok(Some(Self { batch: Batch { last, at, bodies }, text }))
    }

    /// Whether the entries are short enough to be stored in the row of the job that begins with them.
    pub(crate) fn fits_in_row(&self) -> bool {
        self.text.len() <= MAX_IN_ROW_BYTES
    }

    /// The number of entries, their time in milliseconds, and their text.
    pub(crate) fn columns(&self) -> (usize, i64, &str) {
        (self.batch.bodies.len(), self.batch.at.millis(), &self.text)
    }

    /// Inserts the entries into their table, and returns them.
    pub(crate) fn append(self, connection: &Connection, job: i64) -> rusqlite::Result<Self> {
        let (count, at, text) = self.columns();
        connection
            .prepare_cached("INSERT INTO entries (job, last, count, at, bodies) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute((job, self.batch.last, count, at, text))?;
        Ok(self)
    }
}

/// At most `limit` entries after `after`.
pub(crate) fn read(connection: &Connection, job: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, BoxError> {
    let mut select = connection.prepare_cached(BATCHES)?;
    let mut rows = select.query((job.uuid().into_bytes(), i64::try_from(after).unwrap_or(i64::MAX), limit))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let at = Timestamp::from_millis(row.get(1)?);
        let batch = Batch::read(row.get(0)?, at, row.get_ref(2)?.as_str()?)?;
        entries.extend(batch.entries(after));
        if entries.len() >= limit as usize {
            break;
        }
    }
    entries.truncate(limit as usize);
    Ok(entries)
}

/// The whole journal, if it is short enough to be cached. One with more than a few entries is not read.
pub(crate) fn short(connection: &Connection, job: JobId, entries: u64) -> Result<Option<Journal>, BoxError> {
    const MAX_ENTRIES: u64 = 4;
    if entries > MAX_ENTRIES {
        return Ok(None);
    }
    let mut select = connection.prepare_cached(BATCHES)?;
    let mut rows = select.query((job.uuid().into_bytes(), 0, MAX_ENTRIES))?;
    let mut journal = Journal::default();
    while let Some(row) = rows.next()? {
        let text = row.get_ref(2)?.as_str()?;
        if journal.bytes + text.len() > MAX_CACHED_BYTES {
            return Ok(None);
        }
        let batch = Batch::read(row.get(0)?, Timestamp::from_millis(row.get(1)?), text)?;
        match journal.with(batch, text.len()) {
            Some(extended) => journal = extended,
            None => return Ok(None),
        }
    }
    Ok(Some(journal))
}

/// Deletes the entries up to number `upto`.
pub(crate) fn cut(connection: &Connection, job: i64, upto: u64) -> Result<(), BoxError> {
    // Clears the batch in the job's row. If only a part of it is to be deleted, it is first moved to the table of
    // entries, where it is cut below.
    connection
        .prepare_cached(
            "INSERT INTO entries (job, last, count, at, bodies)
             SELECT n, began, began, began_at, beginning FROM jobs WHERE n = ?1 AND began > ?2",
        )?
        .execute((job, upto))?;
    connection
        .prepare_cached(
            "UPDATE jobs SET began = NULL, began_at = NULL, beginning = NULL WHERE n = ?1 AND began IS NOT NULL",
        )?
        .execute([job])?;
    connection.prepare_cached("DELETE FROM entries WHERE job = ?1 AND last <= ?2")?.execute((job, upto))?;
    let first: Option<(u64, u64, String)> = connection
        .prepare_cached("SELECT last, count, bodies FROM entries WHERE job = ?1 ORDER BY last LIMIT 1")?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((last, count, bodies)) = first else { return Ok(()) };
    let left = last.saturating_sub(upto);
    if left < count {
        let mut bodies: Vec<EntryBody> = serde_json::from_str(&bodies)?;
        bodies.drain(..bodies.len().saturating_sub(usize::try_from(left).unwrap_or(usize::MAX)));
        connection
            .prepare_cached("UPDATE entries SET count = ?3, bodies = ?4 WHERE job = ?1 AND last = ?2")?
            .execute((job, last, left, serde_json::to_string(&bodies)?))?;
    }
    Ok(())
}

/// Deletes a whole journal.
pub(crate) fn forget(connection: &Connection, job: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM entries WHERE job = ?1")?.execute([job]).map(drop)
}
