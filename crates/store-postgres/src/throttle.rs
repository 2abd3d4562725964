//! The port to rate limits that are not part of a write.

use async_trait::async_trait;
use docent_access::{CountError, Throttle, UseSlot, Uses, count_uses};
use docent_types::{Quota, QuotaStatus, Timestamp};

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;
use crate::transaction::{Transaction, hash};

/// Expired slots that are deleted with each new one, at most: more than were added, so that they do not pile up.
const DELETED_WITH_EACH: i64 = 5;

#[async_trait]
impl Throttle for PostgresStore {
    async fn count(&self, quotas: &[Quota], now: Timestamp) -> Result<Option<QuotaStatus>, CountError> {
        if quotas.is_empty() {
            return Ok(None);
        }
        let quotas = quotas.to_vec();
        let count = move |transaction: Transaction| async move {
            let buckets: Vec<String> = quotas.iter().map(|quota| quota.bucket.clone()).collect();
            // In one order for all, so that no two wait for each other.
            let mut locks: Vec<i64> = buckets.iter().map(|bucket| hash(&["uses", bucket])).collect();
            locks.sort_unstable();
            transaction.query("SELECT pg_advisory_xact_lock(bucket) FROM unnest($1) AS bucket", params![locks]).await?;
            let select = "SELECT bucket, number, until, count FROM use_slots WHERE bucket = ANY($1) AND until > $2";
            let rows = transaction.query(select, params![buckets, now.millis()]).await?;
            let mut slots = vec![Vec::new(); quotas.len()];
            for row in &rows {
                let bucket: &str = row.try_get(0).map_err(Abort::from)?;
                let until = Timestamp::from_millis(row.try_get(2)?);
                let slot = UseSlot { number: row.try_get(1)?, until, count: row.try_get::<_, i32>(3)?.cast_unsigned() };
                let of = quotas.iter().zip(&mut slots).filter(|(quota, _)| quota.bucket == bucket);
                of.for_each(|(_, slots)| slots.push(slot));
            }
            let mut uses: Vec<Uses> = slots.into_iter().map(Uses::of_slots).collect();
            let counted = match count_uses(&quotas, &mut uses, now) {
                Ok(counted) => counted,
                // Nothing was written.
                Err(exhausted) => return Err(Abort::Refused(CountError::Limited(exhausted))),
            };
            let newest: Vec<UseSlot> = uses.iter().filter_map(Uses::newest).collect();
            let numbers: Vec<i64> = newest.iter().map(|slot| slot.number).collect();
            let until: Vec<i64> = newest.iter().map(|slot| slot.until.millis()).collect();
            let counts: Vec<i32> = newest.iter().map(|slot| slot.count.cast_signed()).collect();
            let forget: Vec<i64> = quotas.iter().map(|quota| now.plus(quota.window * 2).millis()).collect();
            let upsert = "INSERT INTO use_slots (bucket, number, until, count, forget_at)
                          SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::integer[], $5::bigint[])
                          ON CONFLICT (bucket, number) DO UPDATE SET until = excluded.until, count = excluded.count";
            transaction.execute(upsert, params![buckets, numbers, until, counts, forget]).await?;
            if counts.contains(&1) {
                let delete = "DELETE FROM use_slots WHERE (bucket, number) IN (
                                  SELECT bucket, number FROM use_slots WHERE forget_at <= $1
                                  LIMIT $2 FOR UPDATE SKIP LOCKED
                              )";
                transaction.execute(delete, params![now.millis(), DELETED_WITH_EACH]).await?;
            }
            Ok(counted)
        };
        self.write_in_order("count the request", count).await
    }
}
