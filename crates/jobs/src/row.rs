//! A job as the store keeps it: what anyone may see, and what only the engine needs.

use std::sync::Arc;

use docent_types::{AgentJob, JobId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// What the branch of a job begins with that asks for none; its id follows.
const OWN: &str = "docent/";

/// The branch of a job that asks for none.
pub(crate) fn own_branch(id: JobId) -> String {
    format!("{OWN}{id}")
}

/// The job that a branch is named after, as one is whose job asks for none. A name alone: there need not be such a job.
pub fn named_after(branch: &str) -> Option<JobId> {
    let name = branch.strip_prefix(OWN)?;
    // Of the ways to write an id it is the one that we do.
    let ours = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    JobId::parse(name).filter(|_| name.bytes().all(ours))
}

/// One job in the store.
///
/// Invariant: `lease` is `Some` only while the job is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Shared with whoever was shown it: it changes seldom, and is asked for often.
    #[serde(with = "shared")]
    pub job: Arc<AgentJob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// A job is written and read as if nobody shared it.
mod shared {
    use super::{AgentJob, Arc, Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(job: &Arc<AgentJob>, serializer: S) -> Result<S::Ok, S::Error> {
        AgentJob::serialize(job, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<AgentJob>, D::Error> {
        AgentJob::deserialize(deserializer).map(Arc::new)
    }
}

impl Row {
    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// Whether the job's branch is named after the job.
    pub fn has_own_branch(&self) -> bool {
        named_after(&self.job.source.branch) == Some(self.id())
    }

    /// Two rows with the same concurrency key are never leased at the same time: one branch of one repository. A job stays in its
    /// concurrency key.
    pub fn concurrency_key(&self) -> (&str, &str) {
        (&self.job.source.repository, &self.job.source.branch)
    }
}
