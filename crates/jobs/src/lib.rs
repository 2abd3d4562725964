//! The job engine: submit, lease, journal, follow-up, retry, drain.
//!
//! A job is a row and a journal. The row has the job's current state; the journal has everything that was decided or
//! done for it, in order, each entry with a sequence number. A worker defines the meaning of its own entries: this
//! crate knows no agent, no git and no HTTP.
//!
//! - [`state`] holds every rule about states, as pure functions from a row and a command to the changed row and the
//!   entries that go with it. Nothing else changes a state.
//! - [`Store`] is the port to storage: it applies such a function to a row in one durable transaction.
//! - [`Outbox`] keeps, for each hook, the events of ended jobs that are not delivered yet.
//! - [`Jobs`] is what the HTTP APIs call: submit, follow up, archive, look up.
//! - [`Engine`] claims jobs under a lease and runs a [`Worker`] on each; a late worker's write is refused by the
//!   fencing token of its lease.
//! - [`Watch`] follows a job while it runs: its journal as it grows, and live events that are not journaled.
//! - [`memory::MemoryStore`] is the store in memory, for tests; [`conformance`] is the suite that every store must
//!   pass.
//! - [`scripted::Scripted`] is a worker that acts on a test's commands.

pub mod conformance;
pub mod crash;
mod engine;
mod entry;
mod jobs;
pub mod memory;
mod outbox;
mod request;
mod row;
pub mod scripted;
pub mod search;
pub mod state;
mod store;
mod watch;
mod worker;

pub use engine::{Engine, EngineConfig, JobTimes};
pub use entry::{Entry, EntryBody, Instruction};
pub use jobs::{JobLimits, Jobs, LONGEST_WAIT, NewJob, Retention};
pub use outbox::{DeliveryAttempt, HookState, Outbox, OutboxEvent, QueuedEvent};
pub use request::{Fingerprint, LARGEST_REQUEST, ModelNames, instruction, requested_branch};
pub use row::{Attempt, JobWork, Lease, NAME_IN_THE_WAY, Row, named_after, own_branch_beside};
pub use search::{FoundJob, FoundJobs, JobSearch};
pub use state::{JobProgress, Outcome};
pub use store::{
    Change, ClaimRequest, Decision, IdempotencyKey, JobQuery, Pruned, Pruning, Store, WriteError, WriteGuards,
    WriteOutcome,
};
pub use watch::{JobUpdate, Watch};
pub use worker::{Effect, Failure, Handle, Interrupted, LiveEvents, Worker};
