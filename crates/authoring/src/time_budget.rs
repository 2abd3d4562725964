//! How much time a job has used.
//!
//! Wall time, waiting for a model or a forge included: somebody waits for the job. What does not count is the time in
//! which no process ran, or else a server that was off for a night would find all its jobs expired.

use std::time::Duration;

use docent_jobs::{Entry, EntryBody};
use docent_types::Timestamp;

/// The most that counts between two entries of a journal, beyond what was waited for on purpose. One call of a model
/// takes less.
const STEP: Duration = Duration::from_secs(10 * 60);

/// The time used so far, as the journal tells it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeUsed {
    used: Duration,
    /// When the last entry was written.
    last: Option<Timestamp>,
    /// How long nobody was to do anything after it.
    pause: Duration,
}

impl TimeUsed {
    /// The next entry of a journal that this process did not write.
    pub(crate) fn goes_on(&mut self, entry: &Entry) {
        self.used += self.since(entry.at).min(self.pause.saturating_add(STEP));
        self.last = Some(entry.at);
        self.pause = match &entry.body {
            EntryBody::Retry { not_before, .. } => not_before.since(entry.at),
            _ => Duration::ZERO,
        };
    }

    /// Somebody spoke up, which grants the time anew.
    pub(crate) fn begins_anew(&mut self) {
        self.used = Duration::ZERO;
    }

    /// This process has been at it until now. Gives the time used.
    pub(crate) fn works_until(&mut self, now: Timestamp) -> Duration {
        self.used += self.since(now);
        (self.last, self.pause) = (Some(now), Duration::ZERO);
        self.used
    }

    fn since(&self, last: Timestamp) -> Duration {
        self.last.map_or(Duration::ZERO, |earlier| last.since(earlier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60;

    fn at(minutes: u64) -> Timestamp {
        Timestamp::default().plus(Duration::from_secs(minutes * MINUTE))
    }

    fn after(entries: &[(u64, EntryBody)]) -> TimeUsed {
        let mut time_used = TimeUsed::default();
        for (minutes, body) in entries {
            time_used.goes_on(&Entry { seq: 1, at: at(*minutes), body: body.clone() });
        }
        time_used
    }

    fn worked() -> EntryBody {
        EntryBody::Work { kind: "ran".into(), data: serde_json::Value::Null }
    }

    #[test]
    fn working_and_waiting_count_and_a_night_without_a_process_does_not() {
        let minutes = |mut time_used: TimeUsed, now: u64| time_used.works_until(at(now)).as_secs() / MINUTE;
        let waits = EntryBody::Retry { why: "busy".into(), not_before: at(40) };
        let taken_up = EntryBody::Leased { token: 2, holder: "b".into(), rescued: true };
        assert_eq!(minutes(after(&[(10, worked()), (15, worked())]), 45), 35);
        assert_eq!(minutes(after(&[(10, worked()), (12, waits), (41, worked())]), 41), 31);
        assert_eq!(minutes(after(&[(10, worked()), (600, taken_up)]), 603), 13);
    }
}
