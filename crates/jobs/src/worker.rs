//! What the engine runs, and what it hands to it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{AgentJob, Clock, Halt, JobEvent, JobId, StoreError, Timestamp};
use serde_json::Value;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::entry::{Entry, EntryBody};
use crate::row::Row;
use crate::state::{self, JobProgress, Outcome};
use crate::store::{Change, Decide, Store, WriteError, WriteGuards};
use crate::watch::Watchers;

/// Does one turn of a job.
///
/// `work` may be called for a job that earlier attempts have already worked on: it reads the journal and goes on from
/// there. It is dropped at any await when the lease is lost or the job is archived, and is asked to return between two
/// steps when the process drains.
#[async_trait]
pub trait Worker: Send + Sync + fmt::Debug + 'static {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure>;
}

/// Why a turn did not come to an outcome.
#[derive(Debug, Error)]
pub enum Failure {
    #[error(transparent)]
    Halted(#[from] Interrupted),
    /// Something outside failed in a way that may pass: the job is tried again after a while.
    #[error("{why}")]
    Retry {
        why: String,
        /// What it fails with when that has happened too often.
        halt: Halt,
        /// What was asked not to be tried again before so long.
        after: Option<Duration>,
        /// How many attempts it is worth; the engine's own number when nobody says.
        attempts: Option<u32>,
    },
    /// This process lacks something that every job needs, such as open files. The job waits for as long as that lasts, and
    /// no attempt is counted against it.
    #[error("{why}")]
    Wait { why: String },
}

/// The worker must not go on.
#[derive(Debug, Error)]
pub enum Interrupted {
    #[error("the lease on the job was lost")]
    Lost,
    #[error("the process is draining")]
    Draining,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A leased job in the hands of a worker.
///
/// Entries are buffered by [`Handle::record`] and become durable, all in one transaction, with [`Handle::sync`]. The
/// rule for a worker: sync before every effect outside the process, so that what the journal does not hold has not
/// happened as far as anybody can see.
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
    shown: JobProgress,
    read_to: u64,
    seen_instruction: u64,
}

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
        let shown = JobProgress::default();
        let pending = Vec::new();
        Self { store, clock, watchers, row, token, stop, draining, pending, shown, read_to: 0, seen_instruction: 0 }
    }

    /// The job as last written.
    pub fn job(&self) -> &AgentJob {
        &self.row.job
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Cancelled when the lease is lost or the job archived.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Between two steps: may the next one begin?
    pub fn may_go_on(&self) -> Result<(), Interrupted> {
        if self.stop.is_cancelled() {
            Err(Interrupted::Lost)
        } else if self.draining.is_cancelled() {
            Err(Interrupted::Draining)
        } else {
            Ok(())
        }
    }

    /// Begins to read the journal from its start again.
    pub(crate) fn rewind(&mut self) {
        self.read_to = 0;
    }

    /// Journal entries not read before in this turn. The first call gives the whole journal.
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

    /// Acknowledges the instructions up to this sequence number: they are being worked on. The job cannot end over a newer one.
    pub fn acknowledge(&mut self, seq: u64) {
        self.seen_instruction = self.seen_instruction.max(seq);
    }

    /// Whether an instruction newer than those acknowledged is known to have come in (as of the last write or renewal).
    pub fn has_new_instruction(&self) -> bool {
        self.row.last_instruction > self.seen_instruction
    }

    /// Buffers an entry.
    pub fn record(&mut self, kind: &str, data: Value) {
        self.pending.push(EntryBody::Work { kind: kind.to_owned(), data });
    }

    /// Buffers a change of what the job shows; it goes with the next write.
    pub fn show(&mut self, shown: JobProgress) {
        if shown.todos.is_some() {
            self.shown.todos = shown.todos;
        }
        if shown.pr_link.is_some() {
            self.shown.pr_link = shown.pr_link;
        }
    }

    /// A sender of live events, until the next entry is written. They reach only whoever watches at the moment,
    /// and not at all while entries wait for a [`sync`](Self::sync): what is live comes after them.
    pub fn live_events(&self) -> LiveEvents {
        let after = self.pending.is_empty().then_some(self.row.last_seq);
        LiveEvents { watchers: Arc::clone(&self.watchers), id: self.row.id(), after }
    }

    /// Makes everything recorded so far durable.
    pub async fn sync(&mut self) -> Result<(), Interrupted> {
        if self.pending.is_empty() && self.shown == JobProgress::default() {
            return Ok(());
        }
        let (work, shown, token) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.shown), self.token);
        self.write(Arc::new(move |row: &Row| state::append(row, token, work.clone(), shown.clone()))).await
    }

    /// Ends the turn together with what is still buffered. `false`: an unread instruction is there, go on.
    pub(crate) async fn finish(&mut self, outcome: &Outcome) -> Result<bool, Interrupted> {
        let (work, shown, token) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.shown), self.token);
        let (seen, outcome) = (self.seen_instruction, outcome.clone());
        self.write(Arc::new(move |row: &Row| state::finish(row, token, seen, &outcome, work.clone(), shown.clone())))
            .await?;
        Ok(self.row.lease.is_none())
    }

    pub(crate) async fn give_back(&mut self, decide: Decide) -> Result<(), Interrupted> {
        self.write(decide).await
    }

    /// Gives the job back untouched.
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

    async fn write(&mut self, decide: Decide) -> Result<(), Interrupted> {
        // The store applies the decision to the row it holds; what it came to is kept here as the row we know.
        let result = Arc::new(std::sync::Mutex::new(None));
        let kept = Arc::clone(&result);
        let watched: Decide = Arc::new(move |row: &Row| {
            let Change { next, entries } = decide(row)?;
            let mut known = next.clone();
            known.last_seq = row.last_seq + entries.len() as u64;
            *kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(known);
            Ok(Change { next, entries })
        });
        let guards = WriteGuards { now: self.clock.now(), quota: None, key: None };
        match self.store.change(self.row.id(), guards, watched).await {
            Ok(_) => {
                if let Some(row) = result.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
                    self.row = row;
                }
                self.watchers.wrote(self.row.id());
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
    /// Sends an event if anybody watches; `event` is not called otherwise.
    pub fn send(&self, event: impl FnOnce() -> JobEvent) {
        if let Some(after) = self.after {
            self.watchers.live(self.id, after, event);
        }
    }
}
