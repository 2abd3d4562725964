//! Deletes ended jobs and journals in small steps.

use std::time::{Duration, Instant};

use docent_jobs::{Pruned, Pruning, Row, state};
use docent_types::{BoxError, JobId, StoreError};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Abort;
use crate::journal;
use crate::write_connection::WriteConnection;

/// Maximum time that one step may hold the writer.
const MAX_STEP_TIME: Duration = Duration::from_millis(20);
/// Number of free pages that stay in the file.
const SPARE_PAGES: i64 = 256;
/// Number of entries deleted between two checks of the elapsed time.
const CHUNK_ENTRIES: usize = 64;

/// One step: as much as fits into the limit and into [`MAX_STEP_TIME`]. Returns the touched jobs too.
pub(crate) fn step(connection: &WriteConnection, pruning: Pruning) -> Result<(Pruned, Vec<JobId>), Abort<StoreError>> {
    let begun = Instant::now();
    let (mut pruned, mut touched) = (Pruned::default(), Vec::new());
    let remaining = |pruned: &Pruned| pruning.limit.saturating_sub(pruned.entries + pruned.jobs);
    let journals_before = pruning.journals_before.max(pruning.jobs_before).map(|before| before.millis());
    let jobs_before = pruning.jobs_before.map(|before| before.millis());
    forget_uses(connection, pruning)?;
    while let Some((n, row)) = first_ended_before(connection, true, journals_before)? {
        if remaining(&pruned) == 0 || begun.elapsed() > MAX_STEP_TIME {
            return Ok((Pruned { more: true, ..pruned }, touched));
        }
        touched.push(row.id());
        pruned.entries += delete_oldest(connection, n, &row, remaining(&pruned).min(CHUNK_ENTRIES))?;
    }
    while let Some((n, row)) = first_ended_before(connection, false, jobs_before)? {
        if remaining(&pruned) == 0 || begun.elapsed() > MAX_STEP_TIME {
            return Ok((Pruned { more: true, ..pruned }, touched));
        }
        journal::forget(connection, n)?;
        forget_prompt(connection, n)?;
        connection.prepare_cached("DELETE FROM jobs WHERE n = ?1")?.execute([n])?;
        connection.forget_job(row.id());
        touched.push(row.id());
        pruned.jobs += 1;
    }
    pruned.more = !shrink(connection, begun)?;
    Ok((pruned, touched))
}

/// Returns free pages to the file system, as far as [`MAX_STEP_TIME`] allows, and returns whether all were returned.
/// [`SPARE_PAGES`] pages stay for the next writes.
fn shrink(connection: &Connection, begun: Instant) -> rusqlite::Result<bool> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    if number("auto_vacuum")? != 2 {
        return Ok(true);
    }
    while number("freelist_count")? > SPARE_PAGES {
        if begun.elapsed() > MAX_STEP_TIME {
            return Ok(false);
        }
        connection.execute_batch("PRAGMA incremental_vacuum(32)")?;
    }
    Ok(true)
}

/// The job that ended first and before this moment, among those with a journal to prune (`has_journal`) or those
/// without.
fn first_ended_before(
    connection: &Connection,
    has_journal: bool,
    before: Option<i64>,
) -> Result<Option<(i64, Row)>, BoxError> {
    let Some(before) = before else { return Ok(None) };
    let found: Option<(i64, String)> = connection
        .prepare_cached("SELECT n, body FROM jobs WHERE kept = ?1 AND ended_at < ?2 ORDER BY ended_at, id LIMIT 1")?
        .query_row((has_journal, before), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    found.map(|(n, body)| Ok((n, serde_json::from_str(&body)?))).transpose()
}

/// Deletes up to this many of the oldest entries of a journal, and returns how many.
fn delete_oldest(connection: &WriteConnection, n: i64, row: &Row, limit: usize) -> Result<usize, Abort<StoreError>> {
    let next = state::prune(row, row.pruned_to + limit as u64).map_err(BoxError::from)?;
    journal::cut(connection, n, next.pruned_to)?;
    forget_prompt(connection, n)?;
    let has_journal = next.pruned_to + 1 < next.last_seq;
    let body = serde_json::to_string(&next)?;
    connection.prepare_cached("UPDATE jobs SET kept = ?2, body = ?3 WHERE n = ?1")?.execute((n, has_journal, body))?;
    connection.forget_job(row.id());
    Ok(usize::try_from(next.pruned_to - row.pruned_to).unwrap_or(usize::MAX))
}

fn forget_prompt(connection: &Connection, n: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM prompts WHERE n = ?1")?.execute([n]).map(drop)
}

/// Deletes uses in buckets that are no longer used; those of other buckets are deleted as the bucket is used.
fn forget_uses(connection: &Connection, pruning: Pruning) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM uses WHERE (bucket, at) IN (SELECT bucket, at FROM uses WHERE forget_at <= ?1 LIMIT ?2)",
        )?
        .execute((pruning.now.millis(), pruning.limit))?;
    Ok(())
}
