//! The port to storage.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{AgentJob, JobId, JobStatus, ProjectId, Quota, QuotaStatus, Refusal, StoreError, Timestamp};
use thiserror::Error;

use crate::entry::{Entry, EntryBody};
use crate::row::Row;
#[cfg(doc)]
use crate::state;

/// What must hold for a caller's write to be accepted: counted and remembered in the same transaction as the write.
#[derive(Debug, Clone)]
pub struct WriteGuards {
    pub now: Timestamp,
    pub quota: Option<Quota>,
    pub key: Option<IdempotencyKey>,
}

/// A caller's promise that the same key means the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// What the key is unique in, for example one project's creations.
    pub scope: String,
    pub key: String,
    /// A digest of the request. The same key with another fingerprint is a conflict.
    pub fingerprint: [u8; 32],
    /// How long the first answer is remembered.
    pub keep: Duration,
}

/// The pure decision a store applies to a row inside its transaction. It may be called again when the store has to
/// start its transaction over.
pub type Decide = Arc<dyn Fn(&Row) -> Result<Change, Refusal> + Send + Sync>;

/// A row's next state and the entries that go with it. `next.last_seq` is set by the store.
#[derive(Debug, Clone)]
pub struct Change {
    pub next: Row,
    pub entries: Vec<EntryBody>,
}

/// What a gated write came to.
#[derive(Debug, Clone)]
pub struct WriteOutcome {
    /// The job right after the first write with this key (a repeat gives that same answer), or after this write.
    pub job: Arc<AgentJob>,
    /// Whether this is the answer of an earlier write with the same key.
    pub repeat: bool,
    /// Where the caller stands with the quota, when one was counted.
    pub quota_status: Option<QuotaStatus>,
}

/// Why a write did not happen. Nothing was written and no quota was used.
#[derive(Debug, Error)]
pub enum WriteError {
    #[error("no such job")]
    NotFound,
    #[error("the quota is used up")]
    Limited(QuotaStatus),
    #[error("the idempotency key was used for another request")]
    KeyReused,
    #[error(transparent)]
    Refused(Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where a list goes on: the id of the last job of the page before. Ids sort by creation.
pub type ByKey = Option<JobId>;

/// Which jobs of a project to list, newest first.
#[derive(Debug, Clone)]
pub struct JobQuery {
    pub project: ProjectId,
    pub status: Option<JobStatus>,
    pub after: ByKey,
    pub skip: u32,
    pub limit: u32,
}

/// Which jobs to give out, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRequest {
    pub now: Timestamp,
    /// Living leases on the jobs of one project, at most.
    pub cap_per_project: usize,
    /// Jobs leased at once, at most.
    pub most: usize,
}

/// What of ended jobs nobody wants to keep. `None` keeps it for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruning {
    pub now: Timestamp,
    /// The journals of jobs that ended before this.
    pub journals_before: Option<Timestamp>,
    /// The jobs that ended before this, with their journals.
    pub jobs_before: Option<Timestamp>,
    /// Entries and jobs deleted in one step, together, at most.
    pub limit: usize,
}

/// What one step of pruning came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    pub entries: usize,
    pub jobs: usize,
    /// Whether there is more that could go.
    pub more: bool,
}

/// Storage of jobs and journals.
///
/// Writes to one job happen one after another, in the order in which they return. Entries get their sequence numbers
/// here, without gaps. What a method wrote is seen, whole, by every read that begins after it returned. How it outlives
/// the loss of power is one of two promises:
///
/// - **flushed**: it survives, with everything that was written before it. [`create`](Store::create),
///   [`change`](Store::change).
/// - **ordered**: it survives at the latest with the next flushed write; until then it may be lost, but never without
///   all that was written after it. [`claim`](Store::claim), [`hold`](Store::hold), [`prune`](Store::prune). A lease
///   that is lost with the power is a lease that nobody holds any more, so it need not wait for a disk.
///
/// The death of the process alone loses neither.
#[async_trait]
pub trait Store: Send + Sync + fmt::Debug + 'static {
    /// Adds a job with its first entries, flushed: idempotency key, quota, row and journal in one transaction. The key is
    /// looked at first (a repeat uses no quota), then the quota.
    async fn create(&self, row: Row, entries: Vec<EntryBody>, guards: WriteGuards) -> Result<WriteOutcome, WriteError>;

    /// Applies `decide` to the row, flushed: idempotency key, then the decision, then the quota, in one transaction.
    async fn change(&self, id: JobId, guards: WriteGuards, decide: Decide) -> Result<WriteOutcome, WriteError>;

    /// Applies `decide` to the row, for what only says who holds the job and until when. Ordered. Gives the row as it was
    /// written.
    async fn hold(&self, id: JobId, now: Timestamp, decide: Decide) -> Result<Row, WriteError>;

    /// Leases jobs that are active, due at `now`, have no living lease, and whose concurrency key no living lease holds. Ordered.
    /// `decide` makes each leased row.
    ///
    /// Projects take turns: the next job comes from the project that was served least recently, among those that have
    /// such a job and fewer living leases than the cap; one that was never served goes first, and of several the one
    /// whose id sorts first. Inside a project the oldest goes first. The rows come in the order in which they were given
    /// out; none when there is nothing to give.
    async fn claim(&self, request: ClaimRequest, decide: Decide) -> Result<Vec<Row>, StoreError>;

    /// The row, or `None`.
    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError>;

    /// The job, when that is known without waiting; [`row`](Store::row) knows of all. Whoever looks at a job again and again
    /// is answered with less.
    fn at_hand(&self, _id: JobId) -> Option<Arc<AgentJob>> {
        None
    }

    /// Entries with a sequence number above `after`, in order, at most `limit`.
    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError>;

    /// Jobs of a project, newest first.
    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError>;

    /// The earliest moment after `now` at which [`Store::claim`] may find something it does not find at `now`: a lease
    /// that runs out or a retry that falls due. `None` when nothing waits.
    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// The jobs that hold a lease, run out or not.
    async fn leased(&self) -> Result<Vec<JobId>, StoreError>;

    /// Deletes one step's worth of what [`Pruning`] names, those that ended first before others. Ordered. [`state::prune`]
    /// says what becomes of a row whose journal is deleted: its newest entry, which tells of the end, stays with the row.
    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError>;

    /// A number that moves after somebody else has written to the same storage, within 200 milliseconds: another process,
    /// not this one through this store. `None` when that cannot be told at the moment; ask again a little later. Answers
    /// at once.
    fn changes(&self) -> Option<u64>;
}
