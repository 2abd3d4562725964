//! Quotas and idempotency keys, inside the transaction of the write they guard.

use std::time::Duration;

use docent_jobs::{Gate, IdempotencyKey, WriteError, Written};
use docent_types::{AgentJob, Quota, Standing, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Abort;

/// The first answer given to the key, while it is remembered.
pub(crate) fn answered(connection: &Connection, gate: &Gate) -> Result<Option<Written>, Abort<WriteError>> {
    let Some(key) = &gate.key else { return Ok(None) };
    let found: Option<([u8; 32], String)> = connection
        .prepare_cached("SELECT fingerprint, job FROM answers WHERE scope = ?1 AND key = ?2 AND forget_at > ?3")?
        .query_row((&key.scope, &key.key, gate.now.millis()), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        None => Ok(None),
        Some((fingerprint, _)) if key.fingerprint != fingerprint => Err(Abort::Refused(WriteError::KeyReused)),
        Some((_, job)) => Ok(Some(Written { job: serde_json::from_str(&job)?, repeat: true, standing: None })),
    }
}

/// Remembers the first answer, and forgets those whose time is over.
pub(crate) fn remember(
    connection: &Connection,
    key: &IdempotencyKey,
    now: Timestamp,
    job: &AgentJob,
) -> Result<(), Abort<WriteError>> {
    connection.prepare_cached("DELETE FROM answers WHERE forget_at <= ?1")?.execute([now.millis()])?;
    connection
        .prepare_cached("INSERT INTO answers (scope, key, fingerprint, forget_at, job) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((&key.scope, &key.key, key.fingerprint, now.plus(key.keep).millis(), serde_json::to_string(job)?))?;
    Ok(())
}

/// Counts one use, or refuses when there is none left.
pub(crate) fn count(connection: &Connection, quota: &Quota, now: Timestamp) -> Result<Standing, Abort<WriteError>> {
    let before = stand(connection, quota, now)?;
    if before.remaining == 0 {
        return Err(Abort::Refused(WriteError::Limited(before)));
    }
    // Twice the window, so that a node whose clock is behind still counts what it must.
    let forget_at = now.plus(quota.window.saturating_mul(2)).millis();
    connection.prepare_cached("DELETE FROM uses WHERE forget_at <= ?1")?.execute([now.millis()])?;
    connection.prepare_cached("INSERT INTO uses (bucket, at, forget_at) VALUES (?1, ?2, ?3)")?.execute((
        &quota.bucket,
        now.millis(),
        forget_at,
    ))?;
    Ok(stand(connection, quota, now)?)
}

fn stand(connection: &Connection, quota: &Quota, now: Timestamp) -> rusqlite::Result<Standing> {
    let start = now.minus(quota.window).millis();
    let used: u32 = connection
        .prepare_cached("SELECT count(*) FROM uses WHERE bucket = ?1 AND at > ?2")?
        .query_row((&quota.bucket, start), |row| row.get(0))?;
    let retry_after = match used.checked_sub(quota.limit) {
        None => Duration::ZERO,
        // A use is free again when so many have left the window that fewer than the limit are in it.
        Some(over) => connection
            .prepare_cached("SELECT at FROM uses WHERE bucket = ?1 AND at > ?2 ORDER BY at LIMIT 1 OFFSET ?3")?
            .query_row((&quota.bucket, start, over), |row| row.get(0))
            .optional()?
            .map_or(quota.window, |at| Timestamp::from_millis(at).plus(quota.window).since(now)),
    };
    let remaining = quota.limit.saturating_sub(used);
    Ok(Standing { limit: quota.limit, window: quota.window, remaining, retry_after })
}
