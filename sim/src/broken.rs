//! Ways to break the engine from outside, to test that the simulation notices.
//!
//! The engine is not changed: one of its ports reports something wrong, or does what the engine must prevent.

use std::sync::Arc;

use docent_jobs::{Change, Decision, Lease, Row, WriteGuards};
use docent_types::{JobStatus, Timestamp};

use crate::process::Process;

/// A way in which the engine is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BrokenEngine {
    /// Effects are visible outside before their entry is flushed: the store confirms a flush too early.
    ActsBeforeItIsWritten,
    /// The store accepts writes of a worker that has lost its lease.
    Unfenced,
    /// A lease is taken over from a dead process without a flush, although watchers see it.
    TellsWhatMayBeLost,
    /// A pull request is opened without a search for an open one.
    OpensBlindly,
}

/// The decision, or one that accepts late writers where fencing is broken.
pub(crate) fn fenced(by: &Process, gate: &WriteGuards, decide: Decision) -> Decision {
    // Writes of callers have a quota, or need no lease.
    if by.world.broken != Some(BrokenEngine::Unfenced) || gate.quota.is_some() {
        return decide;
    }
    Arc::new(move |row: &Row| {
        let refused = match decide(row) {
            Ok(change) => return Ok(change),
            Err(refusal) => refusal,
        };
        for token in 1..=row.last_token {
            let mut as_if = row.clone();
            Arc::make_mut(&mut as_if.job).status = JobStatus::Active;
            as_if.lease = Some(Lease { token, holder: String::new(), until: Timestamp::default() });
            if let Ok(Change { mut next, entries }) = decide(&as_if) {
                if next.lease.is_some() {
                    next.lease = row.lease.clone();
                    Arc::make_mut(&mut next.job).status = row.job.status;
                }
                return Ok(Change { next, entries });
            }
        }
        Err(refused)
    })
}
