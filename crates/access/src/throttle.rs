//! Rate limits that apply to one process and do not access the store.
//!
//! A window is divided into [`SLOTS`] slots, and a slot expires only when its last use has left the window. So no
//! window has more uses than the limit, no caller waits longer than the window, and a use may be counted for up to a
//! sixtieth of the window too long. Limits that must be exact across restarts and processes are counted in the store
//! instead, together with the write that they limit.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::Duration;

use docent_types::{Quota, QuotaStatus, Timestamp};
use parking_lot::Mutex;

const SLOTS: u32 = 60;
/// Idle buckets are removed when the number of buckets is twice that after the last removal, and at least this.
const LEAST_TO_SWEEP: usize = 1024;

/// Counts uses of quotas in memory.
#[derive(Default)]
pub struct Throttle {
    buckets: Mutex<Buckets>,
}

#[derive(Default)]
struct Buckets {
    by_name: HashMap<String, Bucket>,
    sweep_at: usize,
}

struct Bucket {
    window: Duration,
    used: u32,
    /// Slots that contain uses, oldest first.
    slots: VecDeque<Slot>,
}

/// Uses that expire together.
struct Slot {
    /// The time of the first use, divided by the width of a slot.
    number: i64,
    /// When the last use leaves the window.
    until: Timestamp,
    count: u32,
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle").finish_non_exhaustive()
    }
}

impl Throttle {
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one use of every quota, or of none if one of them is exhausted. Returns the status of the quota with the
    /// fewest uses left; as an error, that of the quota that takes longest to free a use. `None`: no quotas.
    pub fn count(&self, quotas: &[Quota], now: Timestamp) -> Result<Option<QuotaStatus>, QuotaStatus> {
        let buckets = &mut *self.buckets.lock();
        buckets.sweep(now);
        let status = |buckets: &mut Buckets| -> Vec<QuotaStatus> {
            quotas.iter().map(|quota| buckets.bucket(quota, now).status(quota, now)).collect()
        };
        let refused = status(buckets).into_iter().filter(|quota_status| quota_status.remaining == 0);
        if let Some(longest) = refused.max_by_key(|quota_status| quota_status.retry_after) {
            return Err(longest);
        }
        for quota in quotas {
            buckets.bucket(quota, now).count(now);
        }
        Ok(status(buckets).into_iter().min_by_key(|quota_status| quota_status.remaining))
    }
}

impl Buckets {
    fn bucket(&mut self, quota: &Quota, now: Timestamp) -> &mut Bucket {
        let new = || Bucket { window: quota.window, used: 0, slots: VecDeque::new() };
        let bucket = self.by_name.entry(quota.bucket.clone()).or_insert_with(new);
        bucket.expire(now);
        bucket
    }

    fn sweep(&mut self, now: Timestamp) {
        if self.by_name.len() < self.sweep_at.max(LEAST_TO_SWEEP) {
            return;
        }
        self.by_name.retain(|_, bucket| {
            bucket.expire(now);
            bucket.used > 0
        });
        self.sweep_at = self.by_name.len() * 2;
    }
}

impl Bucket {
    fn expire(&mut self, now: Timestamp) {
        while let Some(slot) = self.slots.pop_front_if(|slot| slot.until <= now) {
            self.used = self.used.saturating_sub(slot.count);
        }
    }

    fn count(&mut self, now: Timestamp) {
        let width = i64::try_from((self.window / SLOTS).as_millis()).unwrap_or(i64::MAX).max(1);
        let (number, until) = (now.millis().div_euclid(width), now.plus(self.window));
        self.used = self.used.saturating_add(1);
        match self.slots.back_mut() {
            // If the clock was set back, there is a later slot: the use counts until that one expires.
            Some(slot) if slot.number >= number => {
                slot.until = slot.until.max(until);
                slot.count = slot.count.saturating_add(1);
            }
            _ => self.slots.push_back(Slot { number, until, count: 1 }),
        }
    }

    fn status(&self, quota: &Quota, now: Timestamp) -> QuotaStatus {
        let remaining = quota.limit.saturating_sub(self.used);
        let retry_after =
            if remaining > 0 { Duration::ZERO } else { self.wait(quota.limit, now).unwrap_or(quota.window) };
        QuotaStatus { limit: quota.limit, window: quota.window, remaining, retry_after }
    }

    /// The time until fewer than `limit` uses are left.
    fn wait(&self, limit: u32, now: Timestamp) -> Option<Duration> {
        let mut left = self.used;
        let gone = self.slots.iter().find(|slot| {
            left = left.saturating_sub(slot.count);
            left < limit
        });
        // Bounded by the window, because the wait would be too long if the clock was set back.
        gone.map(|slot| slot.until.since(now).min(self.window))
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

    #[test]
    fn a_used_up_quota_is_granted_again_after_its_window() {
        let throttle = Throttle::new();
        let quotas = [quota("project", 2)];
        assert_eq!(throttle.count(&quotas, at(0)).map(|quota_status| quota_status.expect("counted").remaining), Ok(1));
        assert_eq!(throttle.count(&quotas, at(60)).map(|quota_status| quota_status.expect("counted").remaining), Ok(0));
        let refused = throttle.count(&quotas, at(120)).expect_err("used up");
        assert_eq!(refused.remaining, 0);
        let wait = refused.retry_after;
        assert!(wait >= Duration::from_secs(3480) && wait <= Duration::from_secs(3540), "{wait:?}");
        assert!(throttle.count(&quotas, at(-60)).expect_err("used up").retry_after <= Duration::from_secs(3600));
        assert!(throttle.count(&quotas, at(120).plus(wait - Duration::from_millis(1))).is_err());
        assert!(throttle.count(&quotas, at(120).plus(wait)).is_ok());
    }

    #[test]
    fn all_quotas_are_counted_or_none() {
        let throttle = Throttle::new();
        let quotas = [quota("project", 5), quota("address", 1)];
        assert_eq!(throttle.count(&quotas, at(0)).map(|quota_status| quota_status.expect("counted").limit), Ok(1));
        for _ in 0..3 {
            assert_eq!(throttle.count(&quotas, at(1)).map_err(|quota_status| quota_status.limit), Err(1));
        }
        let project = throttle.count(&quotas[..1], at(2)).expect("free").expect("counted");
        assert_eq!(project.remaining, 3, "a refused request uses nothing");
        assert_eq!(throttle.count(&[], at(2)), Ok(None));
        assert!(throttle.count(&[quota("none", 0)], at(2)).is_err());
    }

    #[test]
    fn idle_buckets_are_removed() {
        let throttle = Throttle::new();
        for n in 0..3000 {
            throttle.count(&[quota(&n.to_string(), 1)], at(0)).expect("free");
        }
        for n in 0..3000 {
            throttle.count(&[quota(&format!("later {n}"), 1)], at(2 * 3600)).expect("free");
        }
        let buckets = throttle.buckets.lock().by_name.len();
        assert!(buckets < 4500, "{buckets}");
    }

    proptest! {
        #[test]
        fn no_window_holds_more_than_the_limit(steps in prop::collection::vec(0i64..400, 1..200), limit in 1u32..8) {
            let throttle = Throttle::new();
            let quotas = [quota("project", limit)];
            let (mut now, mut passed) = (0, Vec::new());
            for step in steps {
                now += step;
                match throttle.count(&quotas, at(now)) {
                    Ok(_) => passed.push(now),
                    Err(quota_status) => {
                        prop_assert!(quota_status.retry_after <= Duration::from_secs(3600));
                        let in_window = passed.iter().filter(|then| now - **then < 3600 + 60).count();
                        prop_assert!(in_window >= limit as usize, "refused though free");
                        prop_assert!(throttle.count(&quotas, at(now).plus(quota_status.retry_after)).is_ok());
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
