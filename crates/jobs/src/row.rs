//! A job as the store keeps it: its public part, and what only the engine needs.

use std::sync::Arc;

use docent_types::{AgentJob, JobId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The right to work on a job until a given time. The token grows with every lease of the job, so a write with an older
/// token is known to be late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub token: u64,
    /// Who holds it: one value per engine process.
    pub holder: String,
    pub until: Timestamp,
}

/// The failed attempts of the current turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Attempt {
    /// Attempts that ended in a failure worth retrying, or in a lost lease, since the last instruction.
    pub failed: u32,
    /// Not to be claimed before this moment.
    pub not_before: Timestamp,
}

/// Prefix of the branch of a job that names none; the job's id follows.
const OWN_PREFIX: &str = "docent/";

/// The same where a branch [`NAME_IN_THE_WAY`] exists.
const PREFIX_BESIDE: &str = "docent-";

/// The branch with which no branch `docent/<id>` can exist.
pub const NAME_IN_THE_WAY: &str = "docent";

/// The branch of a job that names none.
pub(crate) fn own_branch(id: JobId) -> String {
    format!("{OWN_PREFIX}{id}")
}

/// The branch of a job that names none, where the remote has a branch `docent`: git cannot have both.
pub fn own_branch_beside(branch: &str) -> Option<String> {
    named_after(branch)?;
    Some(format!("{PREFIX_BESIDE}{}", branch.strip_prefix(OWN_PREFIX)?))
}

/// The job id in a branch name of the form `docent/<id>` or `docent-<id>`. There need not be such a job.
pub fn named_after(branch: &str) -> Option<JobId> {
    let name = branch.strip_prefix(OWN_PREFIX).or_else(|| branch.strip_prefix(PREFIX_BESIDE))?;
    // Only the lower-case form, which is the one that we write.
    let ours = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    JobId::parse(name).filter(|_| name.bytes().all(ours))
}

/// One job in the store.
///
/// Invariant: `lease` is `Some` only while the job is active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Shared with its readers: it changes seldom and is read often.
    #[serde(with = "shared")]
    pub job: Arc<AgentJob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// The highest token granted so far.
    pub last_token: u64,
    pub attempt: Attempt,
    /// Sequence number of the newest journal entry.
    pub last_seq: u64,
    /// Sequence number of the newest instruction.
    pub last_instruction: u64,
    /// Journal entries up to this sequence number were pruned; 0 while the journal is complete.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned_to: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Serializes the job as if it were not in an `Arc`.
mod shared {
    use super::{AgentJob, Arc, Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(job: &Arc<AgentJob>, serializer: S) -> Result<S::Ok, S::Error> {
        AgentJob::serialize(job, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<AgentJob>, D::Error> {
        AgentJob::deserialize(deserializer).map(Arc::new)
    }
}

/// Whether an active job is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobWork {
    Runs,
    /// No worker has it: until this moment, after a failed attempt; or until there is a place.
    Waits {
        until: Option<Timestamp>,
    },
}

impl Row {
    /// Whether the job, if it is active, is worked on at this moment.
    pub fn work(&self, now: Timestamp) -> JobWork {
        match &self.lease {
            Some(lease) if lease.until > now => JobWork::Runs,
            _ => JobWork::Waits { until: Some(self.attempt.not_before).filter(|until| *until > now) },
        }
    }

    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// Whether the job's branch is named after the job.
    pub fn has_own_branch(&self) -> bool {
        named_after(&self.job.source.branch) == Some(self.id())
    }

    /// Two rows with the same concurrency key (repository and branch) are never leased at the same time. A job's key
    /// never changes.
    pub fn concurrency_key(&self) -> (&str, &str) {
        (&self.job.source.repository, &self.job.source.branch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::sample_job;
    use crate::entry::Instruction;
    use crate::state;

    #[test]
    fn an_active_job_runs_while_its_lease_lasts_and_waits_otherwise() {
        let now = Timestamp::from_millis(1_000);
        let later = |millis: i64| Timestamp::from_millis(1_000 + millis);
        let (mut row, _) = state::create(sample_job(1), Instruction::new(Vec::new()));
        row.attempt.not_before = now;
        assert_eq!(row.work(now), JobWork::Waits { until: None });
        row.attempt.not_before = later(5);
        assert_eq!(row.work(now), JobWork::Waits { until: Some(later(5)) });
        row.lease = Some(Lease { token: 1, holder: "node".to_owned(), until: later(9) });
        assert_eq!([row.work(now), row.work(later(9))], [JobWork::Runs, JobWork::Waits { until: None }]);
    }

    #[test]
    fn both_forms_of_a_jobs_own_branch_name_the_job() {
        let id = JobId::parse("01a22129-32ff-7000-b9ca-31d7e175c0f8").expect("an id");
        let own = own_branch(id);
        let beside = own_branch_beside(&own).expect("a branch");
        assert_eq!((named_after(&own), named_after(&beside)), (Some(id), Some(id)));
        assert_eq!(
            (own_branch_beside(&beside), own_branch_beside("topic"), named_after("docent-x")),
            (None, None, None)
        );
    }
}
