//! Jobs in a file of JSON lines.
//!
//! The file is the truth and memory is what replaying it gives: every write is decided in memory, appended to the file,
//! flushed to the disk, and only then answered. One lock is held for all of that, so that nobody reads what is not on
//! the disk yet, and the lines are in the order in which the writes happened.
//!
//! It is a toy: the file only grows, one process may have it open, and each write waits for a flush of its own.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use docent_jobs::memory::MemoryStore;
use docent_jobs::{
    Change, ClaimRequest, Decision, Entry, EntryBody, FoundJobs, JobQuery, JobSearch, Pruned, Pruning, Row, Store,
    WriteError, WriteGuards, WriteOutcome,
};
use docent_types::{AgentJob, JobId, StoreError, Timestamp};
use parking_lot::Mutex as Cell;
use tokio::fs::File;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use tokio::sync::{Mutex, MutexGuard};

use crate::BoxError;
use crate::line::Line;

#[derive(Debug)]
pub(crate) struct LinesStore(Mutex<State>);

#[derive(Debug)]
struct State {
    memory: MemoryStore,
    file: File,
    /// Whether memory knows of a write that did not reach the disk. Nothing may be told from then on: a restart, which
    /// reads the file, mends it.
    ahead: bool,
}

impl LinesStore {
    /// Opens the file, or makes it, and replays what it holds. A last line without an end was never answered for: it is
    /// cut off.
    pub(crate) async fn open(path: &Path) -> Result<Self, BoxError> {
        let mut file = File::options().create(true).truncate(false).write(true).open(path).await?;
        let text = tokio::fs::read(path).await?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let memory = MemoryStore::new();
        for line in text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            serde_json::from_slice::<Line>(line)?.replay(&memory).await?;
        }
        file.set_len(whole as u64).await?;
        file.seek(std::io::SeekFrom::End(0)).await?;
        Ok(Self(Mutex::new(State { memory, file, ahead: false })))
    }

    async fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.0.lock().await;
        if state.ahead {
            return Err(StoreError::new("use the store", "an earlier write did not reach the disk; restart to go on"));
        }
        Ok(state)
    }
}

impl State {
    /// Appends a line. When this returns, it survives the loss of power.
    async fn append(&mut self, line: &Line) -> Result<(), StoreError> {
        // Whoever drops this future in the middle leaves memory ahead of the disk, as an error does.
        self.ahead = true;
        let written = async {
            let mut bytes = serde_json::to_vec(line)?;
            bytes.push(b'\n');
            self.file.write_all(&bytes).await?;
            self.file.flush().await?;
            self.file.sync_data().await?;
            Ok::<_, BoxError>(())
        };
        written.await.map_err(|error| StoreError::new("append to the file of jobs", error))?;
        self.ahead = false;
        Ok(())
    }
}

/// A decision that can be asked afterwards what it came to, each time.
fn remembering(decide: Decision) -> (Decision, Arc<Cell<Vec<Change>>>) {
    let seen = Arc::new(Cell::new(Vec::new()));
    let remember = Arc::clone(&seen);
    let decide = move |row: &Row| {
        let change = decide(row)?;
        remember.lock().push(change.clone());
        Ok(change)
    };
    (Arc::new(decide), seen)
}

fn taken(seen: &Cell<Vec<Change>>) -> Vec<Change> {
    std::mem::take(&mut *seen.lock())
}

#[async_trait]
impl Store for LinesStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, gate: WriteGuards) -> Result<WriteOutcome, WriteError> {
        let mut state = self.state().await?;
        let written = state.memory.create(row.clone(), entries.clone(), gate.clone()).await?;
        // A repeat is an answer given before: nothing was written.
        if !written.repeat {
            state.append(&Line::Create { row, entries, gate: gate.into() }).await?;
        }
        Ok(written)
    }

    async fn change(&self, id: JobId, gate: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError> {
        let mut state = self.state().await?;
        let (decide, seen) = remembering(decide);
        let written = state.memory.change(id, gate.clone(), decide).await?;
        for Change { next, entries } in taken(&seen) {
            state.append(&Line::Change { id, next, entries, gate: gate.clone().into() }).await?;
        }
        Ok(written)
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        let mut state = self.state().await?;
        let (decide, seen) = remembering(decide);
        let held = state.memory.hold(id, now, decide).await?;
        for Change { next, entries } in taken(&seen) {
            state.append(&Line::Hold { id, next, entries, now }).await?;
        }
        Ok(held)
    }

    async fn claim(&self, claiming: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        let mut state = self.state().await?;
        let (decide, seen) = remembering(decide);
        let claimed = state.memory.claim(claiming, decide).await?;
        let now = claiming.now;
        for Change { next, entries } in taken(&seen) {
            // Which jobs were chosen is in the outcome, so a claim is replayed as the changes that it is. Whose turn it is
            // begins anew with a restart.
            state.append(&Line::Hold { id: next.id(), next, entries, now }).await?;
        }
        Ok(claimed)
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        self.state().await?.memory.row(id).await
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.state().await?.memory.entries(id, after, limit).await
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        self.state().await?.memory.list(query).await
    }

    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError> {
        self.state().await?.memory.search(search).await
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.state().await?.memory.next_due(now).await
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        self.state().await?.memory.leased().await
    }

    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError> {
        let mut state = self.state().await?;
        let pruned = state.memory.prune(pruning).await?;
        let Pruning { now, journals_before, jobs_before, limit } = pruning;
        state.append(&Line::Prune { now, journals_before, jobs_before, limit }).await?;
        Ok(pruned)
    }

    /// One process has the file open, so nobody else writes.
    fn changes(&self) -> Option<u64> {
        Some(0)
    }
}
