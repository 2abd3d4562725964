//! The time of each key's last use: stored at most once a minute per key.

use std::collections::HashMap;
use std::time::Duration;

use docent_types::Timestamp;
use parking_lot::Mutex;

use crate::key::KeyHash;

/// Minimum interval between two writes for one key.
const WRITE_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of keys in memory.
const CAPACITY: usize = 4096;

/// The last stored use of each key.
#[derive(Debug, Default)]
pub(crate) struct LastUse(Mutex<HashMap<KeyHash, Timestamp>>);

impl LastUse {
    /// Whether this use must be stored. It counts as stored from here on.
    pub(crate) fn is_due(&self, key: &KeyHash, now: Timestamp) -> bool {
        let mut last_uses = self.0.lock();
        if last_uses.get(key).is_some_and(|last| now < last.plus(WRITE_INTERVAL)) {
            return false;
        }
        if last_uses.len() >= CAPACITY {
            last_uses.clear();
        }
        last_uses.insert(*key, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_told_once_a_minute_a_key() {
        let uses = LastUse::default();
        let (one, other) = (KeyHash::from_bytes([1; 32]), KeyHash::from_bytes([2; 32]));
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        let news = [(one, 0), (one, 1), (other, 1), (one, 59), (one, 60), (one, 61)];
        let last_uses: Vec<_> = news.into_iter().map(|(key, seconds)| uses.is_due(&key, at(seconds))).collect();
        assert_eq!(last_uses, [true, false, true, false, true, false]);
    }
}
