//! What the world was told and has done, to hold it against what there is in the end.

use std::collections::{BTreeMap, BTreeSet};

use docent_jobs::EntryBody;
use docent_types::JobId;
use docent_workspace::CommitId;

/// A branch of a repository.
pub(crate) type Branch = (String, String);

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Creations that were accepted, and what they asked for.
    pub(crate) accepted: BTreeMap<JobId, String>,
    /// Further instructions that were accepted.
    pub(crate) instructed: Vec<(JobId, String)>,
    /// Jobs whose archiving was accepted.
    pub(crate) archived: BTreeSet<JobId>,
    /// Entries of journals that listeners were told.
    pub(crate) told: BTreeMap<JobId, BTreeMap<u64, EntryBody>>,
    /// Commits of people, by the branch they were pushed to.
    pub(crate) foreign: BTreeMap<Branch, Vec<CommitId>>,
    /// Branches that people deleted.
    pub(crate) deleted: BTreeSet<Branch>,
    /// How often each project was passed over while it had a job that could have been claimed.
    pub(crate) passed_over: BTreeMap<String, usize>,
    pub(crate) clock_jumped: bool,
    /// A number for each task, so that no two ask for the same.
    pub(crate) tasks: u32,
}
