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
    /// How long until one more use is free, never longer than the window; zero while `remaining` is not.
    pub retry_after: Duration,
}

impl QuotaStatus {
    /// The wait for an error sentence: whole seconds, rounded up so that a retry does not come too early, and at least
    /// 1.
    pub fn seconds_to_wait(&self) -> u64 {
        (self.retry_after.as_secs() + u64::from(self.retry_after.subsec_nanos() > 0)).max(1)
    }
}
