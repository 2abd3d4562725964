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
    let keep = quota.window.saturating_mul(2);
    connection
        .prepare_cached("DELETE FROM uses WHERE bucket = ?1 AND at <= ?2")?
        .execute((&quota.bucket, now.minus(keep).millis()))?;
    let n = number(connection, quota, now)?;
    connection.prepare_cached("INSERT INTO uses (bucket, n, at, forget_at) VALUES (?1, ?2, ?3, ?4)")?.execute((
        &quota.bucket,
        n,
        now.millis(),
        now.plus(keep).millis(),
    ))?;
    Ok(stand(connection, quota, now)?)
}

/// The number of a use at `now`. Those that a clock ahead of this one has written come after it.
fn number(connection: &Connection, quota: &Quota, now: Timestamp) -> rusqlite::Result<i64> {
    let last: Option<(i64, i64)> = connection
        .prepare_cached("SELECT n, at FROM uses WHERE bucket = ?1 ORDER BY n DESC LIMIT 1")?
        .query_row([&quota.bucket], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((last, at)) = last else { return Ok(1) };
    if at <= now.millis() {
        return Ok(last + 1);
    }
    let first: i64 = connection
        .prepare_cached("SELECT n FROM uses WHERE bucket = ?1 AND at > ?2 ORDER BY at, n LIMIT 1")?
        .query_row((&quota.bucket, now.millis()), |row| row.get(0))?;
    // By way of negative numbers, as no two may be the same in between.
    connection
        .prepare_cached("UPDATE uses SET n = -(n + 1) WHERE bucket = ?1 AND n >= ?2")?
        .execute((&quota.bucket, first))?;
    connection.prepare_cached("UPDATE uses SET n = -n WHERE bucket = ?1 AND n < 0")?.execute([&quota.bucket])?;
    Ok(first)
}

/// As numbers have no gaps, what is in the window is counted by its first and its last.
fn stand(connection: &Connection, quota: &Quota, now: Timestamp) -> rusqlite::Result<Standing> {
    let start = now.minus(quota.window).millis();
    let first: Option<i64> = connection
        .prepare_cached("SELECT n FROM uses WHERE bucket = ?1 AND at > ?2 ORDER BY at, n LIMIT 1")?
        .query_row((&quota.bucket, start), |row| row.get(0))
        .optional()?;
    let used = match first {
        None => 0,
        Some(first) => connection
            .prepare_cached("SELECT n FROM uses WHERE bucket = ?1 ORDER BY n DESC LIMIT 1")?
            .query_row([&quota.bucket], |row| Ok(row.get::<_, i64>(0)? - first + 1))?,
    };
    let limit = i64::from(quota.limit);
    let retry_after = match (used >= limit).then_some(first).flatten() {
        None if used < limit => Duration::ZERO,
        None => quota.window,
        // A use is free again when so many have left the window that fewer than the limit are in it.
        Some(first) => connection
            .prepare_cached("SELECT at FROM uses WHERE bucket = ?1 AND n = ?2")?
            .query_row((&quota.bucket, first + used - limit), |row| row.get(0))
            .optional()?
            .map_or(quota.window, |at| Timestamp::from_millis(at).plus(quota.window).since(now)),
    };
    let remaining = u32::try_from((limit - used).max(0)).unwrap_or(u32::MAX);
    Ok(Standing { limit: quota.limit, window: quota.window, remaining, retry_after })
}
