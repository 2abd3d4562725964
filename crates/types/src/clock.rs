//! The ports for time, ids and randomness.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use uuid::Uuid;

/// The last millisecond of the year 9999, the limit of RFC 3339.
const MAX_MILLIS: i64 = 253_402_300_799_999;

/// A point in time, in whole milliseconds since the Unix epoch. Displayed as RFC 3339 in UTC with milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down (what git writes in a commit).
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The time `by` later, at most the end of the year 9999.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)).min(MAX_MILLIS))
    }

    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The duration since `earlier`; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Parses any RFC 3339 date-time.
    pub fn parse(text: &str) -> Option<Self> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000)).ok().map(Self)
    }

    /// As text, if its year has four digits.
    fn text(self) -> Option<String> {
        let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
        let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000).ok()?;
        moment.format(format).ok().filter(|_| (0..10_000).contains(&moment.year()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().ok_or(fmt::Error)?)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.text().ok_or_else(|| serde::ser::Error::custom("a year that cannot be written"))?;
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 date-time"))
    }
}

/// The current time.
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Timestamp(SystemTime::UNIX_EPOCH.elapsed().map_or_else(|before| -millis(before.duration()), millis))
    }
}

/// A clock that moves only when a test advances it. Clones share the time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.0)))
    }

    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// The source of ids.
pub trait Ids: Send + Sync + fmt::Debug + 'static {
    /// An id that sorts by the time it was made (UUID version 7).
    fn ordered(&self, now: Timestamp) -> Uuid;
    /// An unguessable id (122 random bits).
    fn unguessable(&self) -> Uuid;
}

/// Ids from the operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn ordered(&self, now: Timestamp) -> Uuid {
        static LAST_SLOT: AtomicU64 = AtomicU64::new(0);
        let (millis, count) = next_slot(&LAST_SLOT, u64::try_from(now.millis()).unwrap_or(0));
        let mut random = [0; 10];
        random[..2].copy_from_slice(&count.to_be_bytes());
        // The second half of a random id is purely random.
        random[2..].copy_from_slice(&Uuid::new_v4().as_u64_pair().1.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    fn unguessable(&self) -> Uuid {
        Uuid::new_v4()
    }
}

/// The millisecond of the newest id, and the number of ids in it: ids of one process sort in the order in which they
/// were made, so that an index appends new ones at its end. When a millisecond's counter is exhausted, the next
/// millisecond is used.
fn next_slot(last: &AtomicU64, millis: u64) -> (u64, u16) {
    /// Bits of a UUID between its millisecond and its random part.
    const BITS: u32 = 12;
    /// In milliseconds: a clock set back by at most this much is ignored until it has caught up.
    const LARGEST_SETBACK: u64 = 1000;
    let after = |last: u64| {
        let ahead = (last >> BITS).checked_sub(millis).is_some_and(|ahead| ahead <= LARGEST_SETBACK);
        if ahead { last + 1 } else { millis << BITS }
    };
    let before = last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
    let this = after(before.unwrap_or_else(|last| last));
    (this >> BITS, u16::try_from(this & ((1 << BITS) - 1)).unwrap_or(0))
}

/// Ids that count up from one, for deterministic tests. Clones share the counter.
#[derive(Clone, Debug, Default)]
pub struct FixedIds(Arc<AtomicU64>);

impl FixedIds {
    fn next(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::SeqCst) + 1))
    }
}

impl Ids for FixedIds {
    fn ordered(&self, _now: Timestamp) -> Uuid {
        self.next()
    }

    fn unguessable(&self) -> Uuid {
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_moment_is_written_with_milliseconds_and_read_back() {
        let moment = Timestamp::from_millis(1_795_000_000_007);
        assert_eq!(moment.to_string(), "2026-11-18T11:06:40.007Z");
        assert_eq!(Timestamp::parse("2026-11-18T11:06:40.007Z"), Some(moment));
        assert_eq!(Timestamp::parse("2026-11-18T12:06:40.007+01:00"), Some(moment));
        assert_eq!(Timestamp::parse("yesterday"), None);
        assert_eq!(moment.plus(Duration::MAX).to_string(), "9999-12-31T23:59:59.999Z");
        let before_all_years = moment.minus(Duration::MAX);
        assert!(serde_json::to_string(&before_all_years).is_err(), "RFC 3339 has no form for it");
    }

    proptest! {
        #[test]
        fn any_moment_that_has_a_form_is_read_back_from_it(millis in -62_167_219_200_000..=MAX_MILLIS) {
            let text = Timestamp::from_millis(millis).to_string();
            prop_assert_eq!(text.len(), 24);
            prop_assert_eq!(Timestamp::parse(&text), Some(Timestamp::from_millis(millis)));
        }
    }

    #[test]
    fn ids_take_turns_where_time_stands_still_or_goes_back_a_little() {
        let last = AtomicU64::new(0);
        let turns: Vec<_> = (0..10_000).map(|n| next_slot(&last, 1_795_000_000_000 - n / 5000)).collect();
        assert!(turns.is_sorted_by(|one, next| one < next));
        assert_eq!((turns[0], turns[9_999].0), ((1_795_000_000_000, 0), 1_795_000_000_002));
        assert_eq!(next_slot(&last, 5), (5, 0), "a clock that was set is believed");
    }

    #[test]
    fn ordered_ids_sort_by_time() {
        let early = RandomIds.ordered(Timestamp::from_millis(1_000));
        let late = RandomIds.ordered(Timestamp::from_millis(2_000));
        assert!(early < late);
        assert!([early, late].iter().all(|id| id.get_version_num() == 7));
    }
}
