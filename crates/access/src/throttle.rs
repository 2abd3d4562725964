//! Rate limits that are not part of a write.
//!
//! A window is divided into [`SLOTS`] slots, and a slot expires only when its last use has left the window. So no
//! window has more uses than the limit, no caller waits longer than the window, and a use may be counted for up to a
//! sixtieth of the window too long. Limits that belong to a write are counted by the store in the transaction of that
//! write instead, to the use.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{Quota, QuotaStatus, StoreError, Timestamp};
use parking_lot::Mutex;
use thiserror::Error;

const SLOTS: u32 = 60;
/// Idle buckets are removed when the number of buckets is twice that after the last removal, and at least this.
const LEAST_TO_SWEEP: usize = 1024;

/// Counts uses of quotas: of one process, or of all processes that share a store.
#[async_trait]
pub trait Throttle: Send + Sync + fmt::Debug + 'static {
    /// Counts one use of every quota, or of none if one of them is exhausted. Returns the status of the quota with the
    /// fewest uses left; as an error, that of the quota that takes longest to free a use. `None`: no quotas.
    async fn count(&self, quotas: &[Quota], now: Timestamp) -> Result<Option<QuotaStatus>, CountError>;
}

/// Why a use was not counted.
#[derive(Debug, Error)]
pub enum CountError {
    #[error("rate limit exceeded")]
    Limited(QuotaStatus),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Counts one use of every quota, or of none, as [`Throttle::count`] says. `uses` has those of each quota, in the same
/// order.
pub fn count_uses(quotas: &[Quota], uses: &mut [Uses], now: Timestamp) -> Result<Option<QuotaStatus>, QuotaStatus> {
    uses.iter_mut().for_each(|uses| uses.expire(now));
    let status =
        |uses: &[Uses]| quotas.iter().zip(uses).map(|(quota, uses)| uses.status(quota, now)).collect::<Vec<_>>();
    let refused = status(uses).into_iter().filter(|quota_status| quota_status.remaining == 0);
    if let Some(longest) = refused.max_by_key(|quota_status| quota_status.retry_after) {
        return Err(longest);
    }
    quotas.iter().zip(&mut *uses).for_each(|(quota, uses)| uses.count(quota.window, now));
    Ok(status(uses).into_iter().min_by_key(|quota_status| quota_status.remaining))
}

/// The uses of one quota in its window.
#[derive(Debug, Clone, Default)]
pub struct Uses {
    used: u32,
    /// Slots that contain uses, oldest first.
    slots: VecDeque<UseSlot>,
}

/// Uses that expire together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UseSlot {
    /// The time of the first use, divided by the width of a slot.
    pub number: i64,
    /// When the last use leaves the window.
    pub until: Timestamp,
    pub count: u32,
}

impl Uses {
    /// The uses of these slots, in any order.
    pub fn of_slots(slots: impl IntoIterator<Item = UseSlot>) -> Self {
        let mut slots: Vec<UseSlot> = slots.into_iter().collect();
        slots.sort_by_key(|slot| slot.number);
        let used = slots.iter().fold(0, |used: u32, slot| used.saturating_add(slot.count));
        Self { used, slots: slots.into() }
    }

    /// The newest slot, in which the last use was counted.
    pub fn newest(&self) -> Option<UseSlot> {
        self.slots.back().copied()
    }

    fn expire(&mut self, now: Timestamp) {
        while let Some(slot) = self.slots.pop_front_if(|slot| slot.until <= now) {
            self.used = self.used.saturating_sub(slot.count);
        }
    }

    fn count(&mut self, window: Duration, now: Timestamp) {
        let width = i64::try_from((window / SLOTS).as_millis()).unwrap_or(i64::MAX).max(1);
        let (number, until) = (now.millis().div_euclid(width), now.plus(window));
        self.used = self.used.saturating_add(1);
        match self.slots.back_mut() {
            // If the clock was set back, there is a later slot: the use counts until that one expires.
            Some(slot) if slot.number >= number => {
                slot.until = slot.until.max(until);
                slot.count = slot.count.saturating_add(1);
            }
            _ => self.slots.push_back(UseSlot { number, until, count: 1 }),
        }
    }

    fn status(&self, quota: &Quota, now: Timestamp) -> QuotaStatus {
        let remaining = quota.limit.saturating_sub(self.used);
        let retry_after = if remaining > 0 {
            Duration::ZERO
        } else {
            self.wait(quota.limit, quota.window, now).unwrap_or(quota.window)
        };
        QuotaStatus { limit: quota.limit, window: quota.window, remaining, retry_after }
    }

    /// The time until fewer than `limit` uses are left.
    fn wait(&self, limit: u32, window: Duration, now: Timestamp) -> Option<Duration> {
        let mut left = self.used;
        let gone = self.slots.iter().find(|slot| {
            left = left.saturating_sub(slot.count);
            left < limit
        });
        // Bounded by the window, because the wait would be too long if the clock was set back.
        gone.map(|slot| slot.until.since(now).min(window))
    }
}

/// Counts uses in the memory of this process.
#[derive(Default)]
pub struct MemoryThrottle {
    buckets: Mutex<Buckets>,
}

#[derive(Default)]
struct Buckets {
    by_name: HashMap<String, Uses>,
    sweep_at: usize,
}

impl fmt::Debug for MemoryThrottle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryThrottle").finish_non_exhaustive()
    }
}

impl MemoryThrottle {
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Throttle for MemoryThrottle {
    async fn count(&self, quotas: &[Quota], now: Timestamp) -> Result<Option<QuotaStatus>, CountError> {
        let buckets = &mut *self.buckets.lock();
        buckets.sweep(now);
        let of = |quota: &Quota| buckets.by_name.remove(&quota.bucket).unwrap_or_default();
        let mut uses: Vec<Uses> = quotas.iter().map(of).collect();
        let counted = count_uses(quotas, &mut uses, now);
        buckets.by_name.extend(quotas.iter().map(|quota| quota.bucket.clone()).zip(uses));
        counted.map_err(CountError::Limited)
    }
}

impl Buckets {
    fn sweep(&mut self, now: Timestamp) {
        if self.by_name.len() < self.sweep_at.max(LEAST_TO_SWEEP) {
            return;
        }
        self.by_name.retain(|_, uses| {
            uses.expire(now);
            uses.used > 0
        });
        self.sweep_at = self.by_name.len() * 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_795_000_000_000 + seconds * 1000)
    }

    fn quota(bucket: &str, limit: u32) -> Quota {
        Quota { bucket: bucket.to_owned(), limit, window: Duration::from_secs(3600) }
    }

    #[tokio::test]
    async fn idle_buckets_are_removed() {
        let throttle = MemoryThrottle::new();
        for n in 0..3000 {
            throttle.count(&[quota(&n.to_string(), 1)], at(0)).await.expect("free");
        }
        for n in 0..3000 {
            throttle.count(&[quota(&format!("later {n}"), 1)], at(2 * 3600)).await.expect("free");
        }
        let buckets = throttle.buckets.lock().by_name.len();
        assert!(buckets < 4500, "{buckets}");
    }

    proptest! {
        #[test]
        fn no_window_holds_more_than_the_limit(steps in prop::collection::vec(0i64..400, 1..200), limit in 1u32..8) {
            let quotas = [quota("project", limit)];
            let mut uses = [Uses::default()];
            let (mut now, mut passed) = (0, Vec::new());
            for step in steps {
                now += step;
                // As a store reads them anew.
                uses = [Uses::of_slots(uses[0].slots.iter().rev().copied())];
                match count_uses(&quotas, &mut uses, at(now)) {
                    Ok(_) => passed.push(now),
                    Err(quota_status) => {
                        prop_assert!(quota_status.retry_after <= Duration::from_secs(3600));
                        let in_window = passed.iter().filter(|then| now - **then < 3600 + 60).count();
                        prop_assert!(in_window >= limit as usize, "refused though free");
                        prop_assert!(count_uses(&quotas, &mut uses, at(now).plus(quota_status.retry_after)).is_ok());
                        // That use is counted too: start again after it.
                        now += 3 * 3600;
                        passed.clear();
                    }
                }
                let recent = passed.iter().filter(|then| now - **then < 3600).count();
                prop_assert!(recent <= limit as usize);
            }
        }
    }
}
