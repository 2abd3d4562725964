//! The time that a job has used.
//!
//! Wall time, including waits for a model or a forge, because a person waits for the job. Time in which no process ran
//! does not count; otherwise a server that was off for a night would find all its jobs expired.

use std::time::Duration;

use docent_jobs::{Entry, EntryBody};
use docent_types::Timestamp;

/// Most time that counts between two journal entries, beyond intended waits. One model call takes less.
const MAX_STEP: Duration = Duration::from_secs(10 * 60);

/// The time used so far, according to the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeUsed {
    used: Duration,
    /// The time of the last entry.
    last: Option<Timestamp>,
    /// The intended wait after it.
    pause: Duration,
}

impl TimeUsed {
    /// Applies the next entry of a journal that another process wrote.
    pub(crate) fn apply(&mut self, entry: &Entry) {
        self.used += self.since(entry.at).min(self.pause.saturating_add(MAX_STEP));
        self.last = Some(entry.at);
        self.pause = match &entry.body {
            EntryBody::Retry { not_before, .. } => not_before.since(entry.at),
            _ => Duration::ZERO,
        };
    }

    /// A message from outside restarts the time.
    pub(crate) fn restart(&mut self) {
        self.used = Duration::ZERO;
    }

    /// Counts this process's work until `now`. Returns the time used.
    pub(crate) fn count_until(&mut self, now: Timestamp) -> Duration {
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
            time_used.apply(&Entry { seq: 1, at: at(*minutes), body: body.clone() });
        }
        time_used
    }

    fn worked() -> EntryBody {
        EntryBody::Work { kind: "ran".into(), data: serde_json::Value::Null }
    }

    #[test]
    fn working_and_waiting_count_and_a_night_without_a_process_does_not() {
        let minutes = |mut time_used: TimeUsed, now: u64| time_used.count_until(at(now)).as_secs() / MINUTE;
        let waits = EntryBody::Retry { why: "busy".into(), not_before: at(40) };
        let taken_up = EntryBody::Leased { token: 2, holder: "b".into(), rescued: true };
        assert_eq!(minutes(after(&[(10, worked()), (15, worked())]), 45), 35);
        assert_eq!(minutes(after(&[(10, worked()), (12, waits), (41, worked())]), 41), 31);
        assert_eq!(minutes(after(&[(10, worked()), (600, taken_up)]), 603), 13);
    }
}
