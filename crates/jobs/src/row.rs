//! A job as the store keeps it: what anyone may see, and what only the engine needs.

use docent_types::{AgentJob, JobId, Timestamp};
use serde::{Deserialize, Serialize};

/// The right to work on a job until a moment. The token grows with every lease of the job, so a write that carries an
/// old one is known to be late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub token: u64,
    /// Who holds it: one value per engine process.
    pub holder: String,
    pub until: Timestamp,
}

/// How the current turn's attempts have gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Attempt {
    /// Attempts that ended in a failure worth retrying, or in a lost lease, since the last instruction.
    pub failed: u32,
    /// Not to be claimed before this moment.
    pub not_before: Timestamp,
}

/// One job in the store.
///
/// Invariant: `lease` is `Some` only while the job is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub job: AgentJob,
    pub lease: Option<Lease>,
    /// The highest token ever given.
    pub last_token: u64,
    pub attempt: Attempt,
    /// Sequence number of the newest journal entry.
    pub last_seq: u64,
    /// Sequence number of the newest instruction.
    pub last_instruction: u64,
    /// Journal entries up to this sequence number were deleted, as nobody wants to keep them; 0 while it is whole.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned_to: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Row {
    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// Two rows with the same lane are never leased at the same time: one branch of one repository.
    pub fn lane(&self) -> (&str, &str) {
        (&self.job.source.repository, &self.job.source.branch)
    }
}
