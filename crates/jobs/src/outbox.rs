//! The port to the outbox: for each hook, the queued events of ended jobs, kept until each is delivered or given up.
//!
//! The store adds the events itself, in the transaction that ends a turn. So an end that was acknowledged has its
//! events, and an end that was rolled back has none.

use std::fmt;

use async_trait::async_trait;
use docent_types::{AgentJob, JobStatus, StoreError, Timestamp};
use serde::{Deserialize, Serialize};

use crate::row::Row;
#[cfg(doc)]
use crate::store::Store;

/// A job ended: it was completed, failed or archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxEvent {
    /// Sequence number of the journal entry that records the end.
    pub seq: u64,
    pub at: Timestamp,
    /// The job at that time.
    pub job: AgentJob,
}

impl OutboxEvent {
    /// The event of a written change, if the change ended the job. `next.last_seq` is set.
    pub fn of(before: &Row, next: &Row, at: Timestamp) -> Option<Self> {
        let ended = next.job.status != JobStatus::Active && next.job.status != before.job.status;
        ended.then(|| Self { seq: next.last_seq, at, job: (*next.job).clone() })
    }

    /// The event's id: the job's id and the entry's number. The same for every hook and attempt, and unique.
    pub fn id(&self) -> String {
        format!("{}-{}", self.job.id, self.seq)
    }
}

/// An event that is not delivered to a hook yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedEvent {
    pub event: OutboxEvent,
    /// Attempts that failed.
    pub failed: u32,
    /// The time of the next attempt; before the first attempt, the time when the job ended.
    pub due: Timestamp,
}

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryAttempt {
    pub at: Timestamp,
    pub delivered: bool,
    /// The receiver's answer, or why there was none, in a few words.
    pub answer: String,
}

/// The state of a hook's deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookState {
    pub hook: String,
    /// Events in its queue.
    pub queued: u64,
    pub last: Option<DeliveryAttempt>,
}

/// The queues of the hooks, one each. A hook is identified by a text, such as its URL.
///
/// Each change by [`Store::change`] or [`Store::hold`] that ends a job appends its [`OutboxEvent`] to every queue, as
/// durable as the change itself.
#[async_trait]
pub trait Outbox: Send + Sync + fmt::Debug + 'static {
    /// Sets the hooks, flushed. The queue of a new hook is empty; that of a hook that is not listed any more is
    /// deleted.
    async fn set_hooks(&self, hooks: Vec<String>) -> Result<(), StoreError>;

    /// At most `limit` events of a hook, ordered by due time, whether they are due already or not.
    async fn queued(&self, hook: &str, limit: u32) -> Result<Vec<QueuedEvent>, StoreError>;

    /// Takes the deliveries to a hook for this process until `until`, or keeps them: `false` while another process has
    /// them at `now`. Ordered. A store that one process uses at a time need not ask.
    async fn take_deliveries(&self, _hook: &str, _now: Timestamp, _until: Timestamp) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Records an attempt to deliver the event of this id, ordered. The event is tried again at `retry_at`; `None`
    /// removes it from the queue.
    async fn attempted(
        &self,
        hook: &str,
        event: String,
        attempt: DeliveryAttempt,
        retry_at: Option<Timestamp>,
    ) -> Result<(), StoreError>;

    /// All hooks, sorted.
    async fn hook_states(&self) -> Result<Vec<HookState>, StoreError>;
}
