//! The database's clock, as a node knows it.
//!
//! Each answer of the database to "what time is it" says that the database's clock read `t` at some moment between the
//! question and the answer. So its distance from this machine's steady clock lies between two bounds. The distance that
//! is used changes only when it is outside of them, and then by as little as possible: a slow answer changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use docent_types::{Clock, Timestamp};

/// The clock of the database's machine, within a fraction of the time that one question to the database takes. The clock
/// of this machine is not used. Clones are one clock.
#[derive(Debug, Clone)]
pub struct DatabaseClock {
    begun: Instant,
    /// The database's time when `begun` was, in microseconds.
    origin: Arc<AtomicI64>,
}

impl DatabaseClock {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), origin: Arc::new(AtomicI64::new(i64::MIN)) }
    }

    /// Takes the answer `micros` to a question that was asked and answered at these moments.
    pub(crate) fn observe(&self, micros: i64, asked: Instant, answered: Instant) {
        let latest = micros.saturating_sub(self.since_begun(asked));
        let earliest = micros.saturating_sub(self.since_begun(answered));
        let origin = self.origin.load(Ordering::Relaxed);
        self.origin.store(origin.clamp(earliest, latest), Ordering::Relaxed);
    }

    fn since_begun(&self, moment: Instant) -> i64 {
        i64::try_from(moment.saturating_duration_since(self.begun).as_micros()).unwrap_or(i64::MAX)
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> Timestamp {
        let micros = self.origin.load(Ordering::Relaxed).saturating_add(self.since_begun(Instant::now()));
        Timestamp::from_millis(micros.div_euclid(1000))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_slow_answer_does_not_move_the_clock_and_a_contradiction_does() {
        let clock = DatabaseClock::new();
        let at = |millis| clock.begun + Duration::from_millis(millis);
        let origin = || clock.origin.load(Ordering::Relaxed);
        clock.observe(1_000_000, at(0), at(2));
        assert_eq!(origin(), 998_000, "the bound that the first answer allows");
        clock.observe(1_500_000, at(0), at(3000));
        assert_eq!(origin(), 998_000, "within what the slow answer allows");
        clock.observe(61_000_000, at(0), at(1));
        assert_eq!(origin(), 60_999_000, "the database's clock was set");
        clock.observe(1_010_000, at(10), at(12));
        assert_eq!(origin(), 1_000_000, "and set back");
    }
}
