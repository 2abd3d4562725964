//! Rate limits, and their current state.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// At most `limit` uses in any `window`, counted together for the same `bucket`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// The counter's name, for example `agent-jobs:acme`.
    pub bucket: String,
    pub limit: u32,
    pub window: Duration,
}

/// The state of a quota after a use was counted or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaStatus {
    pub limit: u32,
    pub window: Duration,
    /// Uses currently free.
    pub remaining: u32,
    /// How long until one more use is free, never longer than the window; zero unless `remaining` is 0.
    pub retry_after: Duration,
}

/// A wait in the unit of `Retry-After`: whole seconds, rounded up, at least 1, because 0 invites a retry loop.
pub fn retry_after_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_up_and_never_zero() {
        for (millis, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2)] {
            assert_eq!(retry_after_seconds(Duration::from_millis(millis)), seconds);
        }
        assert_eq!(retry_after_seconds(Duration::MAX), u64::MAX);
    }
}
