//! Quotas and idempotency keys, inside the transaction of the write they guard.
//!
//! A transaction holds a lock on its key, and on its bucket of uses, until it ends. So what it reads of them stays true,
//! on all nodes. Nobody who holds a lock on a bucket waits for another lock, and nobody waits for the lock on a key while
//! holding any.

use std::sync::Arc;
use std::time::Duration;

use docent_jobs::{Row, WriteError, WriteGuards, WriteOutcome};
use docent_types::{BoxError, Quota, QuotaStatus, Timestamp};
use futures::future::{join, try_join};

use crate::error::Abort;
use crate::params::params;
use crate::transaction::Transaction;

const ANSWER: &str = "SELECT fingerprint, job FROM answers WHERE scope = $1 AND key = $2 AND forget_at > $3";
const STORE_ANSWER: &str = "
    INSERT INTO answers (scope, key, fingerprint, forget_at, job) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (scope, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, forget_at = excluded.forget_at, job = excluded.job";
/// The number of uses before the window, and with those in it; no row when there are none in it.
const USED: &str = "
    SELECT (SELECT total - count FROM uses WHERE bucket = $1 AND at > $2 ORDER BY at LIMIT 1), total
    FROM uses WHERE bucket = $1 AND at > $2 ORDER BY at DESC LIMIT 1";
const FREED: &str = "SELECT at FROM uses WHERE bucket = $1 AND at > $2 AND total > $3 ORDER BY at LIMIT 1";
/// Uses of a later moment sort after the one that is counted. All parts see the table as it was before.
const COUNT: &str = "
    WITH forgotten AS (DELETE FROM uses WHERE bucket = $1 AND at <= $4),
         later AS (UPDATE uses SET total = total + 1 WHERE bucket = $1 AND at > $2)
    INSERT INTO uses (bucket, at, count, total, forget_at)
    VALUES ($1, $2, 1, coalesce(
        (SELECT total + 1 FROM uses WHERE bucket = $1 AND at <= $2 ORDER BY at DESC LIMIT 1),
        (SELECT total - count + 1 FROM uses WHERE bucket = $1 AND at > $2 ORDER BY at LIMIT 1),
        1), $3)
    ON CONFLICT (bucket, at) DO UPDATE SET count = uses.count + 1, total = uses.total + 1";

/// The first answer to the idempotency key, while it is stored.
pub(crate) async fn stored_answer(
    transaction: &Transaction,
    guards: &WriteGuards,
) -> Result<Option<WriteOutcome>, Abort<WriteError>> {
    let Some(key) = &guards.key else { return Ok(None) };
    let (name, now) = ([&*key.scope, &*key.key].join("\n"), guards.now.millis());
    let params = params![key.scope, key.key, now];
    let (locked, found) = join(transaction.lock("idempotency key", &name), transaction.query_opt(ANSWER, params)).await;
    locked?;
    match found? {
        None => Ok(None),
        Some(found) if found.get::<_, &[u8]>(0) != key.fingerprint => Err(Abort::Refused(WriteError::KeyReused)),
        Some(found) => {
            let job = Arc::new(serde_json::from_str(found.get(1))?);
            // The first request may have been told that nothing is known.
            transaction.commit_what_is_read();
            Ok(Some(WriteOutcome { job, row: None, repeat: true, quota_status: None }))
        }
    }
}

/// Carries out a guarded write: writes the row, counts the use of the quota meanwhile, and stores the answer.
pub(crate) async fn carry_out(
    transaction: &Transaction,
    guards: &WriteGuards,
    usage: Option<QuotaUsage<'_>>,
    write: impl Future<Output = Result<Row, BoxError>>,
) -> Result<WriteOutcome, Abort<WriteError>> {
    let count = async {
        match usage {
            Some(usage) => usage.count(transaction).await.map(Some),
            None => Ok(None),
        }
    };
    let (row, quota_status) = try_join(write, count).await?;
    if let Some(key) = &guards.key {
        let (forget_at, job) = (guards.now.plus(key.keep).millis(), serde_json::to_string(&*row.job)?);
        transaction.execute(STORE_ANSWER, params![key.scope, key.key, &key.fingerprint[..], forget_at, job]).await?;
    }
    Ok(WriteOutcome { job: Arc::clone(&row.job), row: Some(row), repeat: false, quota_status })
}

/// Checks that one more use is within the quota, or refuses.
pub(crate) async fn check_quota<'a>(
    transaction: &Transaction,
    guards: &'a WriteGuards,
) -> Result<Option<QuotaUsage<'a>>, Abort<WriteError>> {
    let Some(quota) = &guards.quota else { return Ok(None) };
    let (locked, usage) =
        join(transaction.lock("quota", &quota.bucket), QuotaUsage::read(transaction, quota, guards.now)).await;
    locked?;
    let usage = usage?;
    if usage.used < i64::from(quota.limit) {
        return Ok(Some(usage));
    }
    Err(Abort::Refused(WriteError::Limited(usage.quota_status(transaction).await?)))
}

/// The uses of a quota in its window, in the transaction that counts one more.
#[derive(Debug)]
pub(crate) struct QuotaUsage<'a> {
    quota: &'a Quota,
    now: Timestamp,
    /// The running total of uses before the window, and the number of uses in the window.
    before: i64,
    used: i64,
}

impl<'a> QuotaUsage<'a> {
    async fn read(transaction: &Transaction, quota: &'a Quota, now: Timestamp) -> Result<Self, BoxError> {
        let start = now.minus(quota.window).millis();
        let found = transaction.query_opt(USED, params![quota.bucket, start]).await?;
        let (before, total) = found.map_or((0, 0), |found| (found.get(0), found.get(1)));
        Ok(Self { quota, now, before, used: total - before })
    }

    async fn quota_status(&self, transaction: &Transaction) -> Result<QuotaStatus, BoxError> {
        let Self { quota, now, before, used } = *self;
        let limit = i64::from(quota.limit);
        let retry_after = if used < limit {
            Duration::ZERO
        } else {
            // The next use is free when enough have left the window.
            let freed_at = transaction
                .query_opt(FREED, params![quota.bucket, now.minus(quota.window).millis(), before + used - limit])
                .await?
                .map(|found| Timestamp::from_millis(found.get(0)));
            freed_at.map_or(quota.window, |at| at.plus(quota.window).since(now).min(quota.window))
        };
        let remaining = u32::try_from((limit - used).max(0)).unwrap_or(u32::MAX);
        Ok(QuotaStatus { limit: quota.limit, window: quota.window, remaining, retry_after })
    }

    /// Counts one more use. Returns how many are left after it.
    async fn count(self, transaction: &Transaction) -> Result<QuotaStatus, BoxError> {
        let Self { quota, now, .. } = self;
        let (bucket, at) = (&quota.bucket, now.millis());
        // Twice the window, so that a moment a little in the past still counts every use in its window.
        let keep = quota.window.saturating_mul(2);
        let (forgotten, forget_at) = (now.minus(keep).millis(), now.plus(keep).millis());
        transaction.execute(COUNT, params![bucket.as_str(), at, forget_at, forgotten]).await?;
        let counted = Self { used: self.used + 1, ..self };
        if counted.used < i64::from(quota.limit) {
            return counted.quota_status(transaction).await;
        }
        Self::read(transaction, quota, now).await?.quota_status(transaction).await
    }
}
