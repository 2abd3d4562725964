//! Quotas and idempotency keys, inside the transaction of the write they guard.

use std::sync::Arc;

use std::time::Duration;

use docent_jobs::{Gate, IdempotencyKey, WriteError, Written};
use docent_types::{AgentJob, Quota, Standing, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::desk::Desk;
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
        Some((_, job)) => {
            Ok(Some(Written { job: Arc::new(serde_json::from_str(&job)?), repeat: true, standing: None }))
        }
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
    before: Option<Bucket>,
}

/// A use: its number, and its moment in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    n: i64,
    at: i64,
}

/// Uses of one moment that are not written down yet.
#[derive(Debug)]
pub(crate) struct Counted {
    bucket: String,
    newest: Use,
    count: i64,
    forget_at: i64,
}

impl Counted {
    pub(crate) fn new(bucket: &str, newest: Use, forget_at: i64) -> Self {
        Self { bucket: bucket.to_owned(), newest, count: 1, forget_at }
    }

    /// Adds the next use, if it is one of the same bucket and moment; says whether it is.
    pub(crate) fn goes_on(&mut self, bucket: &str, next: Use, forget_at: i64) -> bool {
        let same = self.bucket == bucket && self.newest.at == next.at && self.newest.n + 1 == next.n;
        if same {
            self.newest = next;
            self.count += 1;
            self.forget_at = self.forget_at.max(forget_at);
        }
        same
    }
}

/// The uses in a bucket. Numbers follow the moments and have no gaps, so what is in the window is counted by its first and
/// its last. Uses of one moment that are counted in one transaction are one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket {
    oldest: Use,
    newest: Use,
    /// The first use after a moment, which is where a window began.
    first: Option<Use>,
    after: i64,
}

impl Bucket {
    fn look(desk: &Desk, quota: &Quota, now: Timestamp) -> rusqlite::Result<Option<Self>> {
        let start = now.minus(quota.window).millis();
        let known = desk.bucket(&quota.bucket);
        let Some(bucket) = known.map_or_else(|| Self::read(desk, &quota.bucket), |bucket| Ok(Some(bucket)))? else {
            return Ok(None);
        };
        let first = match bucket.first {
            _ if bucket.newest.at <= start => None,
            Some(first) if start >= bucket.after && first.at > start => Some(first),
            Some(first) if start >= bucket.after => Some(bucket.first_after(desk, quota, first, start)?),
            _ => Some(bucket.first_after(desk, quota, bucket.oldest, start)?),
        };
        Ok(Some(Self { first, after: start, ..bucket }))
    }

    fn read(desk: &Desk, name: &str) -> rusqlite::Result<Option<Self>> {
        write_uses(desk)?;
        let end = |sql| {
            let read = |row: &rusqlite::Row<'_>| Ok(Use { n: row.get(0)?, at: row.get(1)? });
            desk.prepare_cached(sql)?.query_row([name], read).optional()
        };
        let oldest = end("SELECT n - count + 1, at FROM uses WHERE bucket = ?1 ORDER BY n LIMIT 1")?;
        let newest = end("SELECT n, at FROM uses WHERE bucket = ?1 ORDER BY n DESC LIMIT 1")?;
        Ok(oldest.zip(newest).map(|(oldest, newest)| Self { oldest, newest, first: None, after: 0 }))
    }

    /// The first use after a moment, from this one on. The newest is after it. The first is looked for in steps that double,
    /// as it is mostly near, and then in halves.
    fn first_after(self, desk: &Desk, quota: &Quota, from: Use, moment: i64) -> rusqlite::Result<Use> {
        let (mut low, mut high, mut step) = (from, self.newest, 1);
        if low.at > moment {
            return Ok(low);
        }
        while high.n - low.n > 1 {
            let n = (low.n + step).min(low.n + (high.n - low.n) / 2);
            let probed = Use { n, at: moment_of(desk, quota, n)?.unwrap_or(i64::MAX) };
            if probed.at > moment {
                high = probed;
            } else {
                low = probed;
                step = step.saturating_mul(2);
            }
        }
        Ok(high)
    }

    fn used(self) -> i64 {
        self.first.map_or(0, |first| self.newest.n - first.n + 1)
    }

    fn standing(self, desk: &Desk, quota: &Quota, now: Timestamp) -> rusqlite::Result<Standing> {
        let (limit, used) = (i64::from(quota.limit), self.used());
        let retry_after = match self.first {
            _ if used < limit => Duration::ZERO,
            None => quota.window,
            // A use is free again when so many have left the window that fewer than the limit are in it.
            Some(first) => moment_of(desk, quota, first.n + used - limit)?
                .map_or(quota.window, |at| Timestamp::from_millis(at).plus(quota.window).since(now))
                // A use that a clock ahead of this one has written seems to take longer.
                .min(quota.window),
        };
        let remaining = u32::try_from((limit - used).max(0)).unwrap_or(u32::MAX);
        Ok(Standing { limit: quota.limit, window: quota.window, remaining, retry_after })
    }
}

/// Sees to it that there is room for one use more, or refuses.
pub(crate) fn admit<'a>(desk: &Desk, quota: &'a Quota, now: Timestamp) -> Result<Usage<'a>, Abort<WriteError>> {
    let before = Bucket::look(desk, quota, now)?;
    if before.map_or(0, Bucket::used) < i64::from(quota.limit) {
        return Ok(Usage { quota, now, before });
    }
    let standing = match before {
        Some(bucket) => bucket.standing(desk, quota, now)?,
        None => Standing { limit: quota.limit, window: quota.window, remaining: 0, retry_after: quota.window },
    };
    Err(Abort::Refused(WriteError::Limited(standing)))
}

impl Usage<'_> {
    /// Counts the use. Says how many are left after it.
    pub(crate) fn count(self, desk: &Desk) -> Result<Standing, Abort<WriteError>> {
        let Self { quota, now, before } = self;
        // Twice the window, so that a node whose clock is behind still counts what it must.
        let keep = quota.window.saturating_mul(2);
        let before = before.map(|bucket| forget(desk, quota, bucket, now.minus(keep).millis())).transpose()?.flatten();
        let in_time = before.is_none_or(|bucket| bucket.newest.at <= now.millis());
        let n = match before {
            Some(bucket) if in_time => bucket.newest.n + 1,
            Some(bucket) => make_room(desk, quota, bucket, now)?,
            None => 1,
        };
        let this = Use { n, at: now.millis() };
        desk.used(&quota.bucket, this, now.plus(keep).millis());
        let start = now.minus(quota.window).millis();
        let after = match before {
            None => Bucket { oldest: this, newest: this, first: Some(this), after: start },
            Some(bucket) if in_time => Bucket { newest: this, first: bucket.first.or(Some(this)), ..bucket },
            // Nothing in the window has changed but the one use more.
            Some(bucket) => {
                let first = bucket.first.filter(|first| first.at <= this.at).unwrap_or(this);
                Bucket { newest: Use { n: bucket.newest.n + 1, ..bucket.newest }, first: Some(first), ..bucket }
            }
        };
        if in_time {
            desk.counted(&quota.bucket, after);
        } else {
            desk.forget_bucket(&quota.bucket);
        }
        Ok(after.standing(desk, quota, now)?)
    }
}

/// Deletes the uses up to a moment; gives what is left.
fn forget(desk: &Desk, quota: &Quota, bucket: Bucket, moment: i64) -> rusqlite::Result<Option<Bucket>> {
    if bucket.oldest.at > moment {
        return Ok(Some(bucket));
    }
    let first_left = || bucket.first_after(desk, quota, bucket.oldest, moment);
    let oldest = (bucket.newest.at > moment).then(first_left).transpose()?;
    write_uses(desk)?;
    desk.prepare_cached("DELETE FROM uses WHERE bucket = ?1 AND n < ?2")?
        .execute((&quota.bucket, oldest.map_or(i64::MAX, |oldest| oldest.n)))?;
    Ok(oldest.map(|oldest| Bucket { oldest, ..bucket }))
}

/// The number of a use at `now`, which those that a clock ahead of this one has written come after: they move by one.
fn make_room(desk: &Desk, quota: &Quota, bucket: Bucket, now: Timestamp) -> rusqlite::Result<i64> {
    write_uses(desk)?;
    let first = bucket.first_after(desk, quota, bucket.oldest, now.millis())?.n;
    // By way of negative numbers, as no two may be the same in between.
    desk.prepare_cached("UPDATE uses SET n = -(n + 1) WHERE bucket = ?1 AND n >= ?2")?
        .execute((&quota.bucket, first))?;
    desk.prepare_cached("UPDATE uses SET n = -n WHERE bucket = ?1 AND n < 0")?.execute([&quota.bucket])?;
    Ok(first)
}

/// Writes down the uses that were counted in this transaction. Whoever reads them does that first, and so does whoever
/// commits.
pub(crate) fn write_uses(desk: &Desk) -> rusqlite::Result<()> {
    for Counted { bucket, newest, count, forget_at } in desk.take_uses() {
        desk.prepare_cached("INSERT INTO uses (bucket, n, at, forget_at, count) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute((bucket, newest.n, newest.at, forget_at, count))?;
    }
    Ok(())
}

/// The moment of the use with this number.
fn moment_of(desk: &Desk, quota: &Quota, n: i64) -> rusqlite::Result<Option<i64>> {
    write_uses(desk)?;
    desk.prepare_cached("SELECT at FROM uses WHERE bucket = ?1 AND n >= ?2 ORDER BY n LIMIT 1")?
        .query_row((&quota.bucket, n), |row| row.get(0))
        .optional()
}
