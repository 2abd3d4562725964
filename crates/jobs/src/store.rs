//! The port to storage.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{AgentJob, JobId, JobStatus, ProjectId, Quota, Refusal, Standing, StoreError, Timestamp};
use thiserror::Error;

use crate::entry::{Entry, EntryBody};
use crate::row::Row;

/// What must hold for a caller's write to be accepted: counted and remembered in the same transaction as the write.
#[derive(Debug, Clone)]
pub struct Gate {
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
pub struct Written {
    /// The job right after the first write with this key (a repeat gives that same answer), or after this write.
    pub job: AgentJob,
    /// Whether this is the answer of an earlier write with the same key.
    pub repeat: bool,
    /// Where the caller stands with the quota, when one was counted.
    pub standing: Option<Standing>,
}

/// Why a write did not happen. Nothing was written and no quota was used.
#[derive(Debug, Error)]
pub enum WriteError {
    #[error("no such job")]
    NotFound,
    #[error("the quota is used up")]
    Limited(Standing),
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

/// Storage of jobs and journals.
///
/// Every method that writes returns only when what it wrote would survive the loss of power. Writes to one job happen
/// one after another, in the order in which they return. Entries get their sequence numbers here, without gaps.
#[async_trait]
pub trait Store: Send + Sync + fmt::Debug + 'static {
    /// Adds a job with its first entries: idempotency key, quota, row and journal in one transaction. The key is
    /// looked at first (a repeat uses no quota), then the quota.
    async fn create(&self, row: Row, entries: Vec<EntryBody>, gate: Gate) -> Result<Written, WriteError>;

    /// Applies `decide` to the row: idempotency key, then the decision, then the quota, in one transaction.
    async fn change(&self, id: JobId, gate: Gate, decide: Decide) -> Result<Written, WriteError>;

    /// Leases one job that is active, due at `now`, has no living lease, and whose lane no living lease holds;
    /// oldest first. `decide` makes the leased row. `None` when there is none.
    async fn claim(&self, now: Timestamp, decide: Decide) -> Result<Option<Row>, StoreError>;

    /// The row, or `None`.
    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError>;

    /// Entries with a sequence number above `after`, in order, at most `limit`.
    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError>;

    /// Jobs of a project, newest first.
    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError>;

    /// The earliest moment after `now` at which [`Store::claim`] may find something it does not find at `now`: a lease
    /// that runs out or a retry that falls due. `None` when nothing waits.
    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// The jobs that hold a lease, run out or not.
    async fn leased(&self) -> Result<Vec<JobId>, StoreError>;
}
