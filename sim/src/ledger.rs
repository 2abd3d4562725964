//! The ledger: what was accepted and done during a run, for the checks at its end.

use std::collections::{BTreeMap, BTreeSet};

use docent_jobs::EntryBody;
use docent_types::JobId;
use docent_workspace::CommitId;

/// A branch of a repository.
pub(crate) type Branch = (String, String);

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The jobs whose creation was accepted, with their instructions.
    pub(crate) accepted: BTreeMap<JobId, String>,
    /// Follow-ups that were accepted.
    pub(crate) instructed: Vec<(JobId, String)>,
    /// Jobs whose archiving was accepted.
    pub(crate) archived: BTreeSet<JobId>,
    /// Journal entries that were sent to watchers.
    pub(crate) told: BTreeMap<JobId, BTreeMap<u64, EntryBody>>,
    /// Commits of people, by the branch they were pushed to.
    pub(crate) foreign: BTreeMap<Branch, Vec<CommitId>>,
    /// Branches that people deleted.
    pub(crate) deleted: BTreeSet<Branch>,
    /// How many times in a row each project was passed over while it had a job to claim.
    pub(crate) passed_over: BTreeMap<String, usize>,
    pub(crate) clock_jumped: bool,
    /// The number of the next task, which makes each task unique.
    pub(crate) tasks: u32,
}
