//! The port to storage.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{AgentJob, JobId, JobStatus, ProjectId, Quota, QuotaStatus, Refusal, StoreError, Timestamp};
use thiserror::Error;

use crate::entry::{Entry, EntryBody};
use crate::row::Row;
use crate::search::{FoundJobs, JobSearch};
#[cfg(doc)]
use crate::state;

/// Preconditions of a caller's write, checked and recorded in the same transaction as the write.
#[derive(Debug, Clone)]
pub struct WriteGuards {
    pub now: Timestamp,
    pub quota: Option<Quota>,
    pub key: Option<IdempotencyKey>,
}

/// A key under which a caller may repeat a request without repeating its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The scope in which the key is unique, for example one project's creations.
    pub scope: String,
    pub key: String,
    /// A digest of the request. The same key with another fingerprint is a conflict.
    pub fingerprint: [u8; 32],
    /// How long the first answer is kept.
    pub keep: Duration,
}

/// A pure function that a store applies to a row inside its transaction. It may be called again when the store has to
/// repeat its transaction.
pub type Decision = Arc<dyn Fn(&Row) -> Result<Change, Refusal> + Send + Sync>;

/// A row's next state and the entries that go with it. `next.last_seq` is set by the store.
#[derive(Debug, Clone)]
pub struct Change {
    pub next: Row,
    pub entries: Vec<EntryBody>,
}

/// The result of a guarded write.
#[derive(Debug, Clone)]
pub struct WriteOutcome {
    /// The job right after the first write with this key (a repeat gives that same answer), or after this write.
    pub job: Arc<AgentJob>,
    /// The row as it was written; `None` for a repeat, which writes nothing.
    pub row: Option<Row>,
    /// Whether this is the answer of an earlier write with the same key.
    pub repeat: bool,
    /// The quota after the write, when one was counted.
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

/// Which jobs of a project to list, newest first.
#[derive(Debug, Clone)]
pub struct JobQuery {
    pub project: ProjectId,
    pub status: Option<JobStatus>,
    /// The last job of the previous page. Ids sort by creation time.
    pub after: Option<JobId>,
    pub skip: u32,
    pub limit: u32,
}

/// Which jobs to claim, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRequest {
    pub now: Timestamp,
    /// Most unexpired leases on jobs of one project.
    pub cap_per_project: usize,
    /// Most jobs to lease in this call.
    pub limit: usize,
}

/// Which ended jobs to delete. `None` keeps them for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruning {
    pub now: Timestamp,
    /// The journals of jobs that ended before this.
    pub journals_before: Option<Timestamp>,
    /// The jobs that ended before this, with their journals.
    pub jobs_before: Option<Timestamp>,
    /// Most entries and jobs deleted in one step, together.
    pub limit: usize,
}

/// The result of one step of pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    pub entries: usize,
    pub jobs: usize,
    /// Whether more remains to be deleted.
    pub more: bool,
}

/// Storage of jobs and journals.
///
/// Writes to one job happen one after another, in the order in which they return. The store assigns sequence numbers to
/// entries, without gaps. A write is visible, as a whole, to every read that begins after it returned. A loss of power
/// is covered by one of two promises:
///
/// - **flushed**: it survives, with everything written before it. [`create`](Store::create),
///   [`change`](Store::change).
/// - **ordered**: it survives at the latest with the next flushed write; until then it may be lost, but never without
///   everything written after it. [`claim`](Store::claim), [`hold`](Store::hold), [`prune`](Store::prune). A lease that
///   is lost with the power has no living holder, so it need not wait for a disk.
///
/// The death of the process alone loses neither.
#[async_trait]
pub trait Store: Send + Sync + fmt::Debug + 'static {
    /// Adds a job with its first entries, flushed: idempotency key, quota, row and journal in one transaction. The key
    /// is checked first (a repeat uses no quota), then the quota.
    async fn create(&self, row: Row, entries: Vec<EntryBody>, guards: WriteGuards) -> Result<WriteOutcome, WriteError>;

    /// Applies `decide` to the row, flushed: idempotency key, then the decision, then the quota, in one transaction.
    async fn change(&self, id: JobId, guards: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError>;

    /// Applies `decide` to the row, ordered: for changes of the lease alone. Returns the row as written.
    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError>;

    /// Leases jobs that are active, due at `now`, without an unexpired lease on them or on their concurrency key.
    /// Ordered. `decide` makes each leased row.
    ///
    /// Projects take turns: the next job comes from the project that was served least recently, among those with a
    /// claimable job and fewer unexpired leases than the cap. A project that was never served comes first; of several,
    /// the one whose id sorts first. Within a project the oldest job comes first. The rows are in the order in which
    /// they were claimed; empty when nothing is claimable.
    async fn claim(&self, request: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError>;

    /// The row, or `None`.
    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError>;

    /// The job, if it is cached and needs no read; [`row`](Store::row) finds all. Makes repeated polling cheap.
    fn cached(&self, _id: JobId) -> Option<Arc<AgentJob>> {
        None
    }

    /// Entries with a sequence number above `after`, in order, at most `limit`.
    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError>;

    /// Jobs of a project, newest first.
    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError>;

    /// A page of the matching jobs, and the number of them in each state.
    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError>;

    /// The earliest time after `now` at which [`Store::claim`] may find something that it does not find at `now`: the
    /// expiry of a lease, or the due time of a retry. `None` when there is neither.
    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// The jobs that hold a lease, expired or not.
    async fn leased(&self) -> Result<Vec<JobId>, StoreError>;

    /// Deletes one step's worth of what [`Pruning`] names, in the order in which the jobs ended. Ordered.
    /// [`state::prune`] changes the row whose journal is deleted: its newest entry, which records the end, stays.
    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError>;

    /// A number that changes soon after another process has written to the same storage: within 200 milliseconds on one
    /// machine, within 400 over a network. Writes of this process through this store do not count. `None` when it is
    /// unknown at the moment; ask again a little later. Never blocks.
    fn changes(&self) -> Option<u64>;

    /// Waits until other processes have written jobs, and returns which; `None` if all may have been written. Each write
    /// is returned to one caller. A store that cannot tell never returns: who wants to know asks for
    /// [`changes`](Store::changes) now and then.
    async fn written_elsewhere(&self) -> Option<Vec<JobId>> {
        std::future::pending().await
    }
}
