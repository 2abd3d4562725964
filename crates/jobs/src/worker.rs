//! The worker that the engine runs, and the handle that it gives to the worker.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{AgentJob, Clock, Halt, JobEvent, JobId, StoreError, Timestamp};
use serde_json::Value;
use thiserror::Error;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::entry::{Entry, EntryBody};
use crate::row::Row;
use crate::state::{self, JobProgress, Outcome};
use crate::store::{Decision, Store, WriteError, WriteGuards};
use crate::watch::Watchers;

/// Does one turn of a job.
///
/// `work` may be called for a job that earlier attempts have worked on: it reads the journal and continues from there.
/// Its future may be dropped at any await when the lease is lost or the job is archived; when the process drains it is
/// asked to return between two steps.
#[async_trait]
pub trait Worker: Send + Sync + fmt::Debug + 'static {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure>;
}

/// Why a turn ended without an outcome.
#[derive(Debug, Error)]
pub enum Failure {
    #[error(transparent)]
    Halted(#[from] Interrupted),
    /// A failure outside that may be temporary: the job is retried later.
    #[error("{why}")]
    Retry {
        why: String,
        /// The cause recorded when the attempts are used up.
        halt: Halt,
        /// The delay that the failing service asked for.
        after: Option<Duration>,
        /// Number of attempts; `None` is the engine's own number.
        attempts: Option<u32>,
    },
    /// This process lacks a resource that every job needs, such as file descriptors. The job waits until there is one
    /// again; no attempt is counted.
    #[error("{why}")]
    Wait { why: String },
}

/// Why the worker must stop.
#[derive(Debug, Error)]
pub enum Interrupted {
    #[error("the lease on the job was lost")]
    Lost,
    #[error("the process is draining")]
    Draining,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A leased job, and the calls that its worker may make on it.
///
/// Entries are buffered by [`Handle::record`] and become durable, all in one transaction, with [`Handle::sync`]. Rule
/// for workers: sync before every effect outside the process, so that no effect exists that the journal does not
/// announce.
#[derive(Debug)]
pub struct Handle {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    watchers: Arc<Watchers>,
    row: Row,
    token: u64,
    stop: CancellationToken,
    draining: CancellationToken,
    pending: Vec<EntryBody>,
    progress: JobProgress,
    read_to: u64,
    seen_instruction: u64,
    effects: Arc<Mutex<()>>,
}

/// Held while an effect outside of the process is under way.
#[derive(Debug)]
pub struct Effect(#[expect(dead_code, reason = "dropping the guard ends the effect")] OwnedMutexGuard<()>);

impl Handle {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        watchers: Arc<Watchers>,
        row: Row,
        stop: CancellationToken,
        draining: CancellationToken,
    ) -> Self {
        let token = row.last_token;
        let progress = JobProgress::default();
        let pending = Vec::new();
        let (read_to, seen_instruction, effects) = Default::default();
        Self {
            store,
            clock,
            watchers,
            row,
            token,
            stop,
            draining,
            pending,
            progress,
            read_to,
            seen_instruction,
            effects,
        }
    }

    /// Called before an effect outside of the process, such as a push: an error if the worker must stop. While the result
    /// is held, the worker is not stopped in the middle: what has begun comes to its end, and then nothing more begins. Drop
    /// the result before the next write of the journal.
    pub async fn begin_effect(&self) -> Result<Effect, Interrupted> {
        let effect = Effect(Arc::clone(&self.effects).lock_owned().await);
        if self.stop.is_cancelled() { Err(Interrupted::Lost) } else { Ok(effect) }
    }

    /// Completes when the worker must stop, after the effect that is under way.
    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + Send + use<> {
        let (stop, effects) = (self.stop.clone(), Arc::clone(&self.effects));
        async move {
            stop.cancelled().await;
            drop(effects.lock().await);
        }
    }

    /// How long this job waits before it is tried again if the attempt fails now, at least `requested`.
    pub fn retry_delay(&self, requested: Option<Duration>) -> Duration {
        crate::state::retry_delay(self.row.id(), self.row.attempt.failed, requested)
    }

    /// The job as last written.
    pub fn job(&self) -> &AgentJob {
        &self.row.job
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Cancelled when the lease is lost or the job is archived.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Called between two steps: an error if the next one must not begin.
    pub fn check_interrupted(&self) -> Result<(), Interrupted> {
        if self.stop.is_cancelled() {
            Err(Interrupted::Lost)
        } else if self.draining.is_cancelled() {
            Err(Interrupted::Draining)
        } else {
            Ok(())
        }
    }

    /// Makes the next [`Self::read`] begin at the start of the journal.
    pub(crate) fn rewind(&mut self) {
        self.read_to = 0;
    }

    /// Journal entries not read yet in this turn. The first call returns the whole journal.
    pub async fn read(&mut self) -> Result<Vec<Entry>, Interrupted> {
        const PAGE: u32 = 500;
        let mut entries = Vec::new();
        loop {
            let page = self.store.entries(self.row.id(), self.read_to, PAGE).await?;
            let full = page.len() == PAGE as usize;
            if let Some(last) = page.last() {
                self.read_to = last.seq;
            }
            entries.extend(page);
            if !full {
                return Ok(entries);
            }
        }
    }

    /// Marks the instructions up to this sequence number as read. The job cannot end while there is a newer one.
    pub fn acknowledge(&mut self, seq: u64) {
        self.seen_instruction = self.seen_instruction.max(seq);
    }

    /// Whether an instruction newer than those acknowledged was seen at the last write or renewal.
    pub fn has_new_instruction(&self) -> bool {
        self.row.last_instruction > self.seen_instruction
    }

    /// Buffers an entry.
    pub fn record(&mut self, kind: &str, data: Value) {
        self.pending.push(EntryBody::Work { kind: kind.to_owned(), data });
    }

    /// Buffers a change of the job's progress; it is written with the next entries.
    pub fn update_progress(&mut self, progress: JobProgress) {
        if progress.todos.is_some() {
            self.progress.todos = progress.todos;
        }
        if progress.pr_link.is_some() {
            self.progress.pr_link = progress.pr_link;
        }
        if progress.branch.is_some() {
            self.progress.branch = progress.branch;
        }
    }

    /// A sender of live events, valid until the next entry is written. Live events reach current watchers only. While
    /// entries wait for a [`sync`](Self::sync), nothing is sent, because live events must follow the entries before
    /// them.
    pub fn live_events(&self) -> LiveEvents {
        let after = self.pending.is_empty().then_some(self.row.last_seq);
        LiveEvents { watchers: Arc::clone(&self.watchers), id: self.row.id(), after }
    }

    /// Makes everything recorded so far durable.
    pub async fn sync(&mut self) -> Result<(), Interrupted> {
        if self.pending.is_empty() && self.progress == JobProgress::default() {
            return Ok(());
        }
        let (work, progress, token) =
            (std::mem::take(&mut self.pending), std::mem::take(&mut self.progress), self.token);
        self.write(Arc::new(move |row: &Row| state::append(row, token, work.clone(), progress.clone()))).await
    }

    /// Ends the turn together with what is still buffered. `false`: there is an unread instruction, so go on.
    pub(crate) async fn finish(&mut self, outcome: &Outcome) -> Result<bool, Interrupted> {
        let (work, progress, token) =
            (std::mem::take(&mut self.pending), std::mem::take(&mut self.progress), self.token);
        let (seen, outcome) = (self.seen_instruction, outcome.clone());
        self.write(Arc::new(move |row: &Row| {
            state::finish(row, token, seen, &outcome, work.clone(), progress.clone())
        }))
        .await?;
        Ok(self.row.lease.is_none())
    }

    /// Releases the lease without an outcome.
    pub(crate) async fn release(&self) -> Result<(), Interrupted> {
        let token = self.token;
        let release = Arc::new(move |row: &Row| state::release(row, token));
        match self.store.hold(self.row.id(), self.clock.now(), release).await {
            Err(WriteError::Store(error)) => Err(Interrupted::Store(error)),
            Err(_) => Err(Interrupted::Lost),
            Ok(_) => Ok(()),
        }
    }

    pub(crate) fn token(&self) -> u64 {
        self.token
    }

    pub(crate) fn row(&self) -> &Row {
        &self.row
    }

    /// Writes the row. Like an effect, a write that has begun comes to its end before the worker is stopped: whoever ends
    /// the job by it is not told that the job was lost.
    pub(crate) async fn write(&mut self, decide: Decision) -> Result<(), Interrupted> {
        let _effect = Arc::clone(&self.effects).lock_owned().await;
        let guards = WriteGuards { now: self.clock.now(), quota: None, key: None };
        match self.store.change(self.row.id(), guards, decide).await {
            Ok(written) => {
                if let Some(row) = written.row {
                    self.row = row;
                }
                self.watchers.notify_written(self.row.id());
                Ok(())
            }
            Err(WriteError::Store(error)) => Err(Interrupted::Store(error)),
            Err(_) => {
                self.stop.cancel();
                Err(Interrupted::Lost)
            }
        }
    }
}

/// Sends live events of one job to those who watch it at the moment.
#[derive(Debug, Clone)]
pub struct LiveEvents {
    watchers: Arc<Watchers>,
    id: JobId,
    after: Option<u64>,
}

impl LiveEvents {
    pub fn send(&self, event: &JobEvent) {
        if let Some(after) = self.after {
            self.watchers.live(self.id, after, event);
        }
    }
}
