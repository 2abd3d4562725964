//! Searches jobs by state, text and time, in pages that do not shift while jobs are added.

use docent_types::{AgentJob, JobId, JobStatus, ListPage, Message, PageChoice, ProjectId, Role};

use crate::entry::EntryBody;

/// The beginning of a job's first instruction that is searched and shown in lists, in characters.
const LONGEST_PROMPT: usize = 2_000;

/// The criteria of a search.
#[derive(Debug, Clone, Default)]
pub struct JobSearch {
    pub projects: Vec<ProjectId>,
    pub status: Option<JobStatus>,
    /// A text in the beginning of the first instruction, ignoring case; empty for any job.
    pub text: String,
    /// Range of ids: from `from`, inclusive, to `to`, exclusive. [`JobId::first_at`] converts a time to an id.
    pub from: Option<JobId>,
    pub to: Option<JobId>,
    pub page: ListPage<JobId>,
    /// Most jobs on a page.
    pub limit: usize,
}

/// A job in the result.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundJob {
    pub job: AgentJob,
    /// The beginning of the job's first instruction; `None` once its journal is pruned.
    pub prompt: Option<String>,
}

/// A page of jobs, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundJobs {
    pub jobs: Vec<FoundJob>,
    /// The number of matching jobs in each state, on all pages and regardless of `status`, in the order of
    /// [`JobStatus::ALL`].
    pub counts: [u64; JobStatus::ALL.len()],
    pub has_newer: bool,
    pub has_older: bool,
}

/// Counts the jobs that match apart from their state, and selects those of a page. All stores use it, so that they
/// select alike.
#[derive(Debug)]
pub struct JobChoice {
    status: Option<JobStatus>,
    counts: [u64; JobStatus::ALL.len()],
    choice: PageChoice<JobId>,
}

impl JobChoice {
    pub fn new(search: &JobSearch) -> Self {
        let choice = PageChoice::new(search.page, search.limit);
        Self { status: search.status, counts: Default::default(), choice }
    }

    /// Takes a job that matches apart from its state. Jobs may come in any order.
    pub fn examine(&mut self, id: JobId, status: JobStatus) {
        for (known, count) in JobStatus::ALL.iter().zip(&mut self.counts) {
            *count += u64::from(*known == status);
        }
        if self.status.is_none_or(|wanted| wanted == status) {
            self.choice.examine(id);
        }
    }

    /// The page; `read` reads the job of an id.
    pub fn page<E>(self, mut read: impl FnMut(JobId) -> Result<Option<FoundJob>, E>) -> Result<FoundJobs, E> {
        let chosen = self.choice.page();
        let jobs = chosen.keys.into_iter().filter_map(|id| read(id).transpose()).collect::<Result<_, _>>()?;
        Ok(FoundJobs { jobs, counts: self.counts, has_newer: chosen.has_newer, has_older: chosen.has_older })
    }
}

/// The text of a new job that is searched and shown in lists: the beginning of its first instruction.
pub fn prompt(entries: &[EntryBody]) -> Option<String> {
    let messages = entries.iter().find_map(|entry| match entry {
        EntryBody::Instruction(instruction) => Some(&instruction.messages),
        _ => None,
    })?;
    let by = |role| messages.iter().find(move |message: &&Message| message.role == role);
    let message = by(Role::User).or_else(|| by(Role::System))?;
    Some(message.plain_text().chars().take(LONGEST_PROMPT).collect())
}

/// Whether a text contains another, ignoring case. `folded` is in lower case.
pub fn contains_folded(text: &str, folded: &str) -> bool {
    text.to_lowercase().contains(folded)
}
