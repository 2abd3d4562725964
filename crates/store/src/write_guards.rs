//! Quotas and idempotency keys, inside the transaction of the write they guard.

use std::sync::Arc;
use std::time::Duration;

use docent_jobs::{IdempotencyKey, WriteError, WriteGuards, WriteOutcome};
use docent_types::{AgentJob, Quota, QuotaStatus, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Abort;

/// The first answer to the idempotency key, while it is stored.
pub(crate) fn stored_answer(
    connection: &Connection,
    guards: &WriteGuards,
) -> Result<Option<WriteOutcome>, Abort<WriteError>> {
    let Some(key) = &guards.key else { return Ok(None) };
    let found: Option<([u8; 32], String)> = connection
        .prepare_cached("SELECT fingerprint, job FROM answers WHERE scope = ?1 AND key = ?2 AND forget_at > ?3")?
        .query_row((&key.scope, &key.key, guards.now.millis()), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        None => Ok(None),
        Some((fingerprint, _)) if key.fingerprint != fingerprint => Err(Abort::Refused(WriteError::KeyReused)),
        Some((_, job)) => Ok(Some(WriteOutcome {
            job: Arc::new(serde_json::from_str(&job)?),
            row: None,
            repeat: true,
            quota_status: None,
        })),
    }
}

/// Stores the first answer, and deletes expired ones.
pub(crate) fn store_answer(
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

/// The uses of a quota in its window, in the transaction that counts one more.
#[derive(Debug)]
pub(crate) struct Usage<'a> {
    quota: &'a Quota,
    now: Timestamp,
    /// The running total of uses before the window, and the number of uses in the window.
    before: i64,
    used: i64,
}

impl<'a> Usage<'a> {
    fn read(connection: &Connection, quota: &'a Quota, now: Timestamp) -> rusqlite::Result<Self> {
        let start = now.minus(quota.window).millis();
        let first: Option<i64> = connection
            .prepare_cached("SELECT total - count FROM uses WHERE bucket = ?1 AND at > ?2 ORDER BY at LIMIT 1")?
            .query_row((&quota.bucket, start), |row| row.get(0))
            .optional()?;
        let Some(before) = first else { return Ok(Self { quota, now, before: 0, used: 0 }) };
        let last: i64 = connection
            .prepare_cached("SELECT total FROM uses WHERE bucket = ?1 ORDER BY at DESC LIMIT 1")?
            .query_row([&quota.bucket], |row| row.get(0))?;
        Ok(Self { quota, now, before, used: last - before })
    }

    fn quota_status(&self, connection: &Connection) -> rusqlite::Result<QuotaStatus> {
        let Self { quota, now, before, used } = *self;
        let limit = i64::from(quota.limit);
        let retry_after = if used < limit {
            Duration::ZERO
        } else {
            // The next use is free when enough have left the window.
            let freed_at: Option<i64> = connection
                .prepare_cached("SELECT at FROM uses WHERE bucket = ?1 AND at > ?2 AND total > ?3 ORDER BY at LIMIT 1")?
                .query_row((&quota.bucket, now.minus(quota.window).millis(), before + used - limit), |row| row.get(0))
                .optional()?;
            // A use written by a process whose clock is ahead would yield a longer wait than the window.
            freed_at
                .map_or(quota.window, |at| Timestamp::from_millis(at).plus(quota.window).since(now).min(quota.window))
        };
        let remaining = u32::try_from((limit - used).max(0)).unwrap_or(u32::MAX);
        Ok(QuotaStatus { limit: quota.limit, window: quota.window, remaining, retry_after })
    }

    /// Counts one more use. Returns how many are left after it.
    pub(crate) fn count(self, connection: &Connection) -> Result<QuotaStatus, Abort<WriteError>> {
        let Self { quota, now, .. } = self;
        let (bucket, at) = (&quota.bucket, now.millis());
        // Twice the window, so that a process whose clock is behind still counts every use in its window.
        let keep = quota.window.saturating_mul(2);
        connection
            .prepare_cached("DELETE FROM uses WHERE bucket = ?1 AND at <= ?2")?
            .execute((bucket, now.minus(keep).millis()))?;
        // Uses written by a clock that is ahead sort after this one.
        connection
            .prepare_cached("UPDATE uses SET total = total + 1 WHERE bucket = ?1 AND at > ?2")?
            .execute((bucket, at))?;
        connection
            .prepare_cached(
                "INSERT INTO uses (bucket, at, count, total, forget_at)
                 VALUES (?1, ?2, 1, coalesce(
                     (SELECT total + 1 FROM uses WHERE bucket = ?1 AND at <= ?2 ORDER BY at DESC LIMIT 1),
                     (SELECT total - count FROM uses WHERE bucket = ?1 AND at > ?2 ORDER BY at LIMIT 1),
                     1), ?3)
                 ON CONFLICT (bucket, at) DO UPDATE SET count = count + 1, total = total + 1",
            )?
            .execute((bucket, at, now.plus(keep).millis()))?;
        Ok(Self::read(connection, quota, now)?.quota_status(connection)?)
    }
}

/// Checks that one more use is within the quota, or refuses.
pub(crate) fn check_quota<'a>(
    connection: &Connection,
    quota: &'a Quota,
    now: Timestamp,
) -> Result<Usage<'a>, Abort<WriteError>> {
    let usage = Usage::read(connection, quota, now)?;
    if usage.used < i64::from(quota.limit) {
        return Ok(usage);
    }
    Err(Abort::Refused(WriteError::Limited(usage.quota_status(connection)?)))
}
