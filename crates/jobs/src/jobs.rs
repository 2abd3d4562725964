//! The calls that the HTTP APIs make.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{
    AgentJob, BranchName, CallError, Clock, Ids, JobId, JobStatus, Message, Project, ProjectId, Quota, Refusal,
    RefusalKind, Source, StoreError, Timestamp, retry_after_seconds,
};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

use crate::crash;
use crate::entry::{Entry, Instruction};
use crate::request::Fingerprint;
use crate::row::{JobWork, Row, own_branch};
use crate::search::{FoundJobs, JobSearch};
use crate::state;
use crate::store::{IdempotencyKey, JobQuery, Pruned, Pruning, Store, WriteError, WriteGuards, WriteOutcome};
use crate::watch::{Waiter, Watch, Watchers};

/// The longest wait for a job in one request, in seconds: less than the usual time limit of proxies.
pub const LONGEST_WAIT: u32 = 60;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Quotas for created jobs and follow-ups, per project and 60 minutes.
#[derive(Debug, Clone, Copy)]
pub struct JobLimits {
    pub creates_per_hour: u32,
    pub messages_per_hour: u32,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self { creates_per_hour: 100, messages_per_hour: 100 }
    }
}

/// How long ended jobs are kept; `None` is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// The journal of an ended job. Without it the job still shows how it ended, and takes no more instructions.
    pub journals: Option<Duration>,
    /// An ended job, with its journal.
    pub jobs: Option<Duration>,
}

/// A request for a job, already admitted.
#[derive(Debug)]
pub struct NewJob<'a> {
    pub project: &'a Project,
    pub messages: Vec<Message>,
    /// `None` gives the job a branch of its own.
    pub branch: Option<BranchName>,
    pub as_draft: bool,
    pub model: String,
}

/// Signals between the APIs and the engine of one process. They only save time: what a missed signal announced is found
/// in the store a little later.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    pub(crate) work: Arc<Notify>,
    pub(crate) stopped: broadcast::Sender<JobId>,
    pub(crate) watchers: Arc<Watchers>,
    /// The process is shutting down: requests that only wait are answered now.
    pub(crate) draining: CancellationToken,
}

/// The jobs of all projects.
#[derive(Clone)]
pub struct Jobs {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    limits: JobLimits,
    pub(crate) signals: Signals,
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Jobs {
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>, limits: JobLimits) -> Self {
        let (work, stopped) = (Arc::new(Notify::new()), broadcast::channel(256).0);
        let signals = Signals { work, stopped, watchers: Arc::default(), draining: CancellationToken::new() };
        Self { store, clock, ids, limits, signals }
    }

    /// Accepts a job. When this returns, the job survives a loss of power.
    pub async fn submit(&self, new: NewJob<'_>, key: Option<Fingerprint>) -> Result<WriteOutcome, CallError> {
        if new.branch.as_ref().is_some_and(|branch| branch.as_str() == new.project.branch) {
            return Err(Refusal::invalid(format!(
                "branch: `{}` is the branch pull requests go to; name another one, or leave `branch` out",
                new.project.branch
            ))
            .into());
        }
        let now = self.clock.now();
        let id = JobId::new(self.ids.ordered(now));
        let branch = new.branch.map_or_else(|| own_branch(id), String::from);
        let job = AgentJob {
            id,
            project: new.project.id.clone(),
            domain: new.project.domain.clone(),
            status: JobStatus::Active,
            source: Source { repository: new.project.repository.clone(), branch },
            model: new.model,
            as_draft: new.as_draft,
            pr_link: None,
            message: None,
            halt: None,
            todos: Vec::new(),
            created_at: now,
            archived_at: None,
        };
        let guards = Self::guards(now, "agent-jobs", &new.project.id, self.limits.creates_per_hour, key);
        let (row, entries) = state::create(job, Instruction::new(new.messages));
        let written = self.store.create(row, entries, guards).await.map_err(|error| Self::explain(error, "job"))?;
        crash::point("submitted");
        if !written.repeat {
            self.signals.watchers.notify_written(written.job.id);
            self.signals.work.notify_one();
        }
        Ok(written)
    }

    /// Gives a job one more instruction.
    pub async fn follow_up(
        &self,
        project: &ProjectId,
        id: JobId,
        messages: Vec<Message>,
        key: Option<Fingerprint>,
    ) -> Result<WriteOutcome, CallError> {
        self.instruct(project, id, Instruction::new(messages), key).await
    }

    /// As [`follow_up`](Self::follow_up); the branch that changes go to is merged into the job's branch before the work.
    pub async fn update_branch(
        &self,
        project: &ProjectId,
        id: JobId,
        messages: Vec<Message>,
    ) -> Result<WriteOutcome, CallError> {
        self.instruct(project, id, Instruction { messages, updates_branch: true }, None).await
    }

    async fn instruct(
        &self,
        project: &ProjectId,
        id: JobId,
        instruction: Instruction,
        key: Option<Fingerprint>,
    ) -> Result<WriteOutcome, CallError> {
        self.job(project, id).await?;
        let now = self.clock.now();
        let mut guards = Self::guards(now, "agent-messages", project, self.limits.messages_per_hour, key);
        if let Some(key) = &mut guards.key {
            key.scope = format!("agent-messages:{id}");
        }
        let decide = Arc::new(move |row: &_| state::follow_up(row, instruction.clone(), now));
        let written = self.store.change(id, guards, decide).await.map_err(|error| Self::explain(error, "message"))?;
        self.signals.watchers.notify_written(id);
        self.signals.work.notify_one();
        Ok(written)
    }

    /// Archives a job for good; an active one is stopped first.
    pub async fn archive(&self, project: &ProjectId, id: JobId) -> Result<Arc<AgentJob>, CallError> {
        self.job(project, id).await?;
        let now = self.clock.now();
        let guards = WriteGuards { now, quota: None, key: None };
        let decide = Arc::new(move |row: &_| state::archive(row, now));
        let written = self.store.change(id, guards, decide).await.map_err(|error| Self::explain(error, "job"))?;
        // Without a receiver no engine of this process runs it.
        let _ = self.signals.stopped.send(id);
        self.signals.watchers.notify_written(id);
        self.signals.work.notify_one();
        Ok(written.job)
    }

    /// A job of a project. A job of another project is not found.
    pub async fn job(&self, project: &ProjectId, id: JobId) -> Result<Arc<AgentJob>, CallError> {
        match self.store.cached(id).filter(|job| job.project == *project) {
            Some(job) => Ok(job),
            None => Ok(self.row(project, id).await?.job),
        }
    }

    /// A job of a project as soon as it is no longer active; or in its current state after `timeout`, or when the
    /// engine of this process drains. While only this process writes, waiting costs the store nothing.
    pub async fn wait_until_inactive(
        &self,
        project: &ProjectId,
        id: JobId,
        timeout: Duration,
    ) -> Result<Arc<AgentJob>, CallError> {
        let waiter = Waiter::new(&self.signals.watchers, &self.store, id);
        let wait = async {
            loop {
                let job = self.job(project, id).await?;
                if job.status != JobStatus::Active {
                    return Ok(job);
                }
                waiter.written().await;
            }
        };
        tokio::select! {
            job = wait => return job,
            () = tokio::time::sleep(timeout) => {}
            () = self.signals.draining.cancelled() => {}
        }
        self.job(project, id).await
    }

    /// A job of a project: at once, or with `wait` as [`Self::wait_until_inactive`] returns it, or in its current state
    /// when `interrupt` completes first.
    pub async fn get_or_wait(
        &self,
        project: &ProjectId,
        id: JobId,
        wait: Option<Duration>,
        interrupt: impl Future<Output = ()>,
    ) -> Result<Arc<AgentJob>, CallError> {
        if let Some(timeout) = wait {
            let waiting = async {
                tokio::select! {
                    job = self.wait_until_inactive(project, id, timeout) => Some(job),
                    () = interrupt => None,
                }
            };
            if let Some(job) = waiting.await {
                return job;
            }
        }
        self.job(project, id).await
    }

    /// One step of pruning: deletes at most `STEP` entries and jobs whose retention has passed.
    pub async fn prune(&self, keep: Retention) -> Result<Pruned, StoreError> {
        /// Entries and jobs together.
        const STEP: usize = 1000;
        let now = self.clock.now();
        let before = |kept: Option<Duration>| kept.map(|kept| now.minus(kept));
        let (journals_before, jobs_before) = (before(keep.journals), before(keep.jobs));
        self.store.prune(Pruning { now, journals_before, jobs_before, limit: STEP }).await
    }

    /// Parses an id as a caller wrote it.
    ///
    /// # Errors
    /// 404: a text that is not an id names no job.
    pub fn id(project: &ProjectId, text: &str) -> Result<JobId, Refusal> {
        JobId::parse(text).ok_or_else(|| Self::not_found(project, text))
    }

    /// Watches a job of a project: its journal after the entry with this sequence number (0 for all of it), and further
    /// entries until the job is no longer active. Dropping the watch does not affect the job.
    ///
    /// # Errors
    /// There is no such job, or its journal has no entry `after`.
    pub async fn watch(&self, project: &ProjectId, id: JobId, after: u64) -> Result<Watch, CallError> {
        let row = self.row(project, id).await?;
        if after > row.last_seq {
            return Err(Refusal::invalid(format!(
                "the job has {} entries so far, and none to go on from at {after}; begin without the id of an event",
                row.last_seq
            ))
            .into());
        }
        Ok(Watch::new(Arc::clone(&self.store), Arc::clone(&self.signals.watchers), id, after))
    }

    /// At most `limit` entries of the journal of a project's job, from the one after `after` on.
    pub async fn journal(
        &self,
        project: &ProjectId,
        id: JobId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Entry>, CallError> {
        self.job(project, id).await?;
        Ok(self.store.entries(id, after, limit).await?)
    }

    /// Whether a project's active job is worked on, or what it waits for.
    pub async fn work(&self, project: &ProjectId, id: JobId) -> Result<JobWork, CallError> {
        Ok(self.row(project, id).await?.work(self.clock.now()))
    }

    /// The sequence number of the newest entry of a project's job. Entries are numbered from 1, without gaps.
    pub async fn last_entry(&self, project: &ProjectId, id: JobId) -> Result<u64, CallError> {
        Ok(self.row(project, id).await?.last_seq)
    }

    /// Passes on what other processes write to the same storage: those who watch a job are told, and an engine of this
    /// process looks for work. Run it as long as the process serves; without it, both look once a second. Run it once for a
    /// store: each write is passed on once.
    pub async fn follow_other_processes(&self) {
        let mut follower = None;
        loop {
            let written = self.store.written_elsewhere().await;
            // Not before the first answer: a store that cannot tell never gives one.
            let follower = follower.get_or_insert_with(|| self.signals.watchers.follow());
            follower.notify_written(written.as_deref());
            self.signals.work.notify_one();
        }
    }

    /// A number that changes when a job of any project is written: at once for a write of this process, as
    /// [`Store::changes`] says for one of another process. `None` when that is unknown at the moment.
    pub fn changes(&self) -> Option<u64> {
        Some(self.store.changes()? + self.signals.watchers.writes())
    }

    /// Jobs of a project, newest first.
    pub async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, CallError> {
        Ok(self.store.list(query).await?)
    }

    /// A page of the matching jobs, and the number of them in each state.
    pub async fn search(&self, search: JobSearch) -> Result<FoundJobs, CallError> {
        Ok(self.store.search(search).await?)
    }

    async fn row(&self, project: &ProjectId, id: JobId) -> Result<Row, CallError> {
        match self.store.row(id).await? {
            Some(row) if row.job.project == *project => Ok(row),
            _ => Err(Self::not_found(project, &id.to_string()).into()),
        }
    }

    fn not_found(project: &ProjectId, id: &str) -> Refusal {
        let shown: String = id.chars().take(80).collect();
        Refusal::not_found(format!("project `{project}` has no job `{shown}`; check the id, or create a job first"))
    }

    fn guards(now: Timestamp, what: &str, project: &ProjectId, limit: u32, key: Option<Fingerprint>) -> WriteGuards {
        let bucket = [what, ":", project.as_str()].concat();
        let key =
            key.map(|key| IdempotencyKey { scope: bucket.clone(), key: key.key, fingerprint: key.digest, keep: DAY });
        WriteGuards { now, quota: Some(Quota { bucket, limit, window: HOUR }), key }
    }

    fn explain(error: WriteError, what: &str) -> CallError {
        let refusal = match error {
            WriteError::Store(error) => return CallError::Store(error),
            WriteError::Refused(refusal) => refusal,
            WriteError::NotFound => Refusal::not_found("the job does not exist; check its id"),
            WriteError::KeyReused => Refusal::conflict(
                "this Idempotency-Key was used for a different request within the last 24 hours; send the original body \
                 again, or use a new key",
            ),
            WriteError::Limited(quota_status) => Refusal::new(
                RefusalKind::Limited(quota_status),
                format!(
                    "the project has used its {} an hour; try again in {}",
                    counted(quota_status.limit.into(), what),
                    counted(retry_after_seconds(quota_status.retry_after), "second")
                ),
            ),
        };
        CallError::Refused(refusal)
    }
}

/// `1 job`, `2 jobs`.
fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
