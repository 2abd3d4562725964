//! Deletes ended jobs and journals in small steps. Several nodes may do so at once: what one works on, the others pass over.

use std::time::{Duration, Instant};

use docent_jobs::{Pruned, Pruning, Row, state};
use docent_types::{BoxError, JobId, StoreError};
use uuid::Uuid;

use crate::error::Abort;
use crate::params::params;
use crate::transaction::Transaction;
use crate::{journal, rows};

/// Maximum time of one step.
const MAX_STEP_TIME: Duration = Duration::from_millis(500);
/// Number of entries deleted between two checks of the elapsed time.
const CHUNK_ENTRIES: usize = 256;

const FIRST_ENDED: &str = "SELECT id FROM jobs WHERE kept = $1 AND ended_at < $2 ORDER BY ended_at, id LIMIT 1
                           FOR UPDATE SKIP LOCKED";
const SET_PRUNED: &str = "UPDATE jobs SET pruned_to = $2, kept = $3 WHERE id = $1";
const FORGET_PROMPT: &str = "DELETE FROM prompts WHERE job = $1";
const FORGET_ENTRIES: &str = "DELETE FROM entries WHERE job = $1";
const FORGET_QUEUED: &str = "DELETE FROM queue WHERE job = $1";
const FORGET_JOB: &str = "DELETE FROM jobs WHERE id = $1";
const FORGET_USES: &str = "DELETE FROM uses WHERE (bucket, at) IN (
                               SELECT bucket, at FROM uses WHERE forget_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
const FORGET_ANSWERS: &str = "DELETE FROM answers WHERE (scope, key) IN (
                                  SELECT scope, key FROM answers WHERE forget_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// One step: as much as fits into the limit and into [`MAX_STEP_TIME`].
pub(crate) async fn step(transaction: &Transaction, pruning: Pruning) -> Result<Pruned, Abort<StoreError>> {
    let begun = Instant::now();
    let mut pruned = Pruned::default();
    let remaining = |pruned: &Pruned| pruning.limit.saturating_sub(pruned.entries + pruned.jobs);
    let is_over = |pruned: &Pruned| remaining(pruned) == 0 || begun.elapsed() > MAX_STEP_TIME;
    let journals_before = pruning.journals_before.max(pruning.jobs_before).map(|before| before.millis());
    let jobs_before = pruning.jobs_before.map(|before| before.millis());
    forget_expired(transaction, pruning).await?;
    while let Some(row) = first_ended_before(transaction, true, journals_before).await? {
        if is_over(&pruned) {
            return Ok(Pruned { more: true, ..pruned });
        }
        pruned.entries += delete_oldest(transaction, &row, remaining(&pruned).min(CHUNK_ENTRIES)).await?;
    }
    while let Some(row) = first_ended_before(transaction, false, jobs_before).await? {
        if is_over(&pruned) {
            return Ok(Pruned { more: true, ..pruned });
        }
        forget(transaction, row.id().uuid()).await?;
        pruned.jobs += 1;
    }
    Ok(pruned)
}

/// The job that ended first and before this moment, among those with a journal to prune (`has_journal`) or those without.
async fn first_ended_before(
    transaction: &Transaction,
    has_journal: bool,
    before: Option<i64>,
) -> Result<Option<Row>, BoxError> {
    let Some(before) = before else { return Ok(None) };
    match transaction.query_opt(FIRST_ENDED, params![has_journal, before]).await? {
        Some(found) => rows::read(transaction, JobId::new(found.get(0))).await,
        None => Ok(None),
    }
}

/// Deletes up to this many of the oldest entries of a journal, and returns how many.
async fn delete_oldest(transaction: &Transaction, row: &Row, limit: usize) -> Result<usize, BoxError> {
    let next = state::prune(row, row.pruned_to + limit as u64)?;
    let id = row.id().uuid();
    journal::cut(transaction, id, next.pruned_to).await?;
    transaction.execute(FORGET_PROMPT, params![id]).await?;
    let (pruned_to, has_journal) = (i64::try_from(next.pruned_to)?, next.pruned_to + 1 < next.last_seq);
    transaction.execute(SET_PRUNED, params![id, pruned_to, has_journal]).await?;
    Ok(usize::try_from(next.pruned_to - row.pruned_to)?)
}

async fn forget(transaction: &Transaction, id: Uuid) -> Result<(), BoxError> {
    for statement in [FORGET_ENTRIES, FORGET_PROMPT, FORGET_QUEUED, FORGET_JOB] {
        transaction.execute(statement, params![id]).await?;
    }
    Ok(())
}

/// Deletes uses and answers that nobody counts or gives any more.
async fn forget_expired(transaction: &Transaction, pruning: Pruning) -> Result<(), BoxError> {
    let (now, limit) = (pruning.now.millis(), i64::try_from(pruning.limit)?);
    transaction.execute(FORGET_USES, params![now, limit]).await?;
    transaction.execute(FORGET_ANSWERS, params![now, limit]).await?;
    Ok(())
}
