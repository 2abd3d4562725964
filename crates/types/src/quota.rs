//! How often something may be done, and how much of that is left.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// At most `limit` uses in any `window`, counted together for everything that names the same `bucket`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// What is counted, for example `agent-jobs:acme`.
    pub bucket: String,
    pub limit: u32,
    pub window: Duration,
}

/// Where a caller stands with a quota after a use was counted or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaStatus {
    pub limit: u32,
    pub window: Duration,
    /// Uses still free at this moment.
    pub remaining: u32,
    /// How long until one more use is free, never longer than the window; zero while `remaining` is not.
    pub retry_after: Duration,
}

impl QuotaStatus {
    /// How long to wait, for a sentence: whole seconds, rounded up, so that whoever waits this long does not come too
    /// early, and never 0.
    pub fn seconds_to_wait(&self) -> u64 {
        (self.retry_after.as_secs() + u64::from(self.retry_after.subsec_nanos() > 0)).max(1)
    }
}
