//! Ways to break the engine from outside, to see that the simulation notices.
//!
//! Nothing of the engine is changed for that: a port lies to it, or does for it what it refuses to do.

use std::sync::Arc;

use docent_jobs::{Change, Decision, Lease, Row, WriteGuards};
use docent_types::{JobStatus, Timestamp};

use crate::process::Process;

/// What is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BrokenEngine {
    /// What the engine does outside comes before the entry about it is on the disk: the store says too early that a
    /// write is flushed.
    ActsBeforeItIsWritten,
    /// The store takes what a worker writes that has lost its lease.
    Unfenced,
    /// A lease is taken from a dead process without a flush, although listeners are told of it.
    TellsWhatMayBeLost,
    /// A pull request is opened without a look for the one that is there.
    OpensBlindly,
}

/// The decision as it is, or one that lets late writers in where fencing is broken.
pub(crate) fn fenced(by: &Process, gate: &WriteGuards, decide: Decision) -> Decision {
    // Callers' writes have a quota or are never refused for want of a lease.
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
