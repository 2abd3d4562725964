//! Durations counted in buckets, as metrics show them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The upper bounds of the buckets, in milliseconds. One list for everything that is measured, from an answer out of
/// memory to a job of an hour, so that one query fits all histograms.
pub const DURATION_BOUNDS_MILLIS: [u64; BOUNDS] =
    [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000];
const BOUNDS: usize = 17;

/// A histogram of durations. Recording is two atomic additions and takes no lock.
#[derive(Debug, Default)]
pub struct Durations {
    /// By upper bound; the last one has none.
    buckets: [AtomicU64; BOUNDS + 1],
    /// The sum, in microseconds.
    micros: AtomicU64,
}

/// What a histogram holds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurationCounts {
    /// How many durations were at most each of [`DURATION_BOUNDS_MILLIS`], the shorter ones included.
    pub up_to: [u64; BOUNDS],
    /// How many there were.
    pub count: u64,
    pub sum: Duration,
}

impl Durations {
    pub fn record(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = DURATION_BOUNDS_MILLIS.partition_point(|bound| bound.saturating_mul(1_000) < micros);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub fn counts(&self) -> DurationCounts {
        let (mut count, mut up_to) = (0, [0; BOUNDS]);
        for (place, bucket) in self.buckets.iter().enumerate() {
            count += bucket.load(Ordering::Relaxed);
            if let Some(up_to) = up_to.get_mut(place) {
                *up_to = count;
            }
        }
        DurationCounts { up_to, count, sum: Duration::from_micros(self.micros.load(Ordering::Relaxed)) }
    }
}

/// The durations of work that can fail.
#[derive(Debug, Default)]
pub struct WorkDurations {
    pub done: Durations,
    pub failed: Durations,
}

impl WorkDurations {
    /// Measures work from its first poll to its result. Work that is dropped before is not counted.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn measure<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let begun = Instant::now();
        let result = work.await;
        self.record(begun, result)
    }

    /// Counts work that began at `begun` and has this result.
    ///
    /// # Errors
    /// Those of the work.
    pub fn record<T, E>(&self, begun: Instant, result: Result<T, E>) -> Result<T, E> {
        let durations = if result.is_ok() { &self.done } else { &self.failed };
        durations.record(begun.elapsed());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_its_bucket_and_all_longer_ones() {
        let durations = Durations::default();
        for millis in [1, 2, 5, 7_200_000] {
            durations.record(Duration::from_millis(millis));
        }
        durations.record(Duration::ZERO);
        let counts = durations.counts();
        assert_eq!((counts.up_to[0], counts.up_to[1], counts.up_to[16], counts.count), (2, 4, 4, 5));
        assert_eq!(counts.sum, Duration::from_millis(7_200_008));
    }

    #[test]
    fn the_bounds_grow() {
        assert!(DURATION_BOUNDS_MILLIS.is_sorted_by(|a, b| a < b));
    }
}
