//! When each key was last used: stored at most once a minute for each key.

use std::collections::HashMap;
use std::time::Duration;

use docent_types::Timestamp;
use parking_lot::Mutex;

use crate::key::KeyHash;

/// Minimum interval between two writes for one key.
const EVERY: Duration = Duration::from_secs(60);
/// Keys in memory.
const MOST: usize = 4096;

/// The last stored use of each key.
#[derive(Debug, Default)]
pub(crate) struct LastUse(Mutex<HashMap<KeyHash, Timestamp>>);

impl LastUse {
    /// Whether this use is to be stored. It counts as stored from here on.
    pub(crate) fn is_news(&self, key: &KeyHash, now: Timestamp) -> bool {
        let mut told = self.0.lock();
        if told.get(key).is_some_and(|told| now < told.plus(EVERY)) {
            return false;
        }
        if told.len() >= MOST {
            told.clear();
        }
        told.insert(*key, now);
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
        let told: Vec<_> = news.into_iter().map(|(key, seconds)| uses.is_news(&key, at(seconds))).collect();
        assert_eq!(told, [true, false, true, false, true, false]);
    }
}
