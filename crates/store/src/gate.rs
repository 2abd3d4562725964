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

/// A use of a quota that there is room for.
#[derive(Debug)]
pub(crate) struct Usage<'a> {
    quota: &'a Quota,
    now: Timestamp,
    before: Bucket,
}

/// The uses in a bucket. As numbers have no gaps, what is in the window is counted by its first and its last.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// Number and moment of the newest use.
    last: Option<(i64, i64)>,
    /// Number of the first one in the window.
    first: Option<i64>,
}

impl Bucket {
    fn look(connection: &Connection, quota: &Quota, now: Timestamp) -> rusqlite::Result<Self> {
        let last = connection
            .prepare_cached("SELECT n, at FROM uses WHERE bucket = ?1 ORDER BY n DESC LIMIT 1")?
            .query_row([&quota.bucket], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let start = now.minus(quota.window).millis();
        // Numbers follow the moments, so where the last is not in the window none is.
        let first = match last {
            Some((_, at)) if at > start => first_after(connection, quota, start)?,
            _ => None,
        };
        Ok(Self { last, first })
    }

    fn used(self) -> i64 {
        self.last.zip(self.first).map_or(0, |((last, _), first)| last - first + 1)
    }

    fn standing(self, connection: &Connection, quota: &Quota, now: Timestamp) -> rusqlite::Result<Standing> {
        let (limit, used) = (i64::from(quota.limit), self.used());
        let retry_after = match self.first {
            _ if used < limit => Duration::ZERO,
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
}

/// Sees to it that there is room for one use more, or refuses.
pub(crate) fn admit<'a>(
    connection: &Connection,
    quota: &'a Quota,
    now: Timestamp,
) -> Result<Usage<'a>, Abort<WriteError>> {
    let before = Bucket::look(connection, quota, now)?;
    if before.used() < i64::from(quota.limit) {
        return Ok(Usage { quota, now, before });
    }
    Err(Abort::Refused(WriteError::Limited(before.standing(connection, quota, now)?)))
}

impl Usage<'_> {
    /// Counts the use. Says how many are left after it.
    pub(crate) fn count(self, connection: &Connection) -> Result<Standing, Abort<WriteError>> {
        let Self { quota, now, before } = self;
        // Twice the window, so that a node whose clock is behind still counts what it must.
        let keep = quota.window.saturating_mul(2);
        connection
            .prepare_cached("DELETE FROM uses WHERE bucket = ?1 AND at <= ?2")?
            .execute((&quota.bucket, now.minus(keep).millis()))?;
        let n = match before.last {
            Some((last, at)) if at > now.millis() => make_room(connection, quota, now, last)?,
            Some((last, _)) => last + 1,
            None => 1,
        };
        connection.prepare_cached("INSERT INTO uses (bucket, n, at, forget_at) VALUES (?1, ?2, ?3, ?4)")?.execute((
            &quota.bucket,
            n,
            now.millis(),
            now.plus(keep).millis(),
        ))?;
        // Nothing in the window has changed but the one use more.
        let last = before.last.map_or((n, now.millis()), |(last, at)| (last + 1, at.max(now.millis())));
        let after = Bucket { last: Some(last), first: before.first.or(Some(n)) };
        Ok(after.standing(connection, quota, now)?)
    }
}

/// The number of a use at `now`, which those that a clock ahead of this one has written come after: they move by one.
fn make_room(connection: &Connection, quota: &Quota, now: Timestamp, last: i64) -> rusqlite::Result<i64> {
    let first = first_after(connection, quota, now.millis())?.unwrap_or(last + 1);
    // By way of negative numbers, as no two may be the same in between.
    connection
        .prepare_cached("UPDATE uses SET n = -(n + 1) WHERE bucket = ?1 AND n >= ?2")?
        .execute((&quota.bucket, first))?;
    connection.prepare_cached("UPDATE uses SET n = -n WHERE bucket = ?1 AND n < 0")?.execute([&quota.bucket])?;
    Ok(first)
}

/// The number of the first use after a moment, in milliseconds.
fn first_after(connection: &Connection, quota: &Quota, moment: i64) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT n FROM uses WHERE bucket = ?1 AND at > ?2 ORDER BY at, n LIMIT 1")?
        .query_row((&quota.bucket, moment), |row| row.get(0))
        .optional()
}
