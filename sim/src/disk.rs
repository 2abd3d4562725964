//! The disk that all processes share, and the part of it that survives a power failure.
//!
//! The disk is an in-memory store, which all processes see, and a log of the commands in the order in which they were
//! carried out, with the position up to which the log is flushed. A power failure cuts the log at a random place behind
//! that position, and the commands before the cut are carried out again on an empty store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docent_jobs::memory::MemoryStore;
use docent_jobs::{
    ClaimRequest, Decision, Entry, EntryBody, JobQuery, Row, Store, WriteError, WriteGuards, WriteOutcome,
};
use docent_types::{AgentJob, JobId, ProjectId, StoreError, Timestamp};
use futures::FutureExt;
use parking_lot::Mutex;

use crate::chance::Chance;

#[derive(Debug, Default)]
pub(crate) struct Disk(Mutex<State>);

#[derive(Default)]
struct State {
    memory: Arc<MemoryStore>,
    log: Vec<Command>,
    /// The length of the log that survives a power failure.
    flushed: usize,
    /// The newest entry of each job's journal that is flushed.
    lasting: BTreeMap<JobId, u64>,
    /// Jobs written to since the last flush.
    touched: BTreeSet<JobId>,
    /// The number of commands carried out so far, by process.
    writes: BTreeMap<String, u64>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("log", &self.log.len()).field("flushed", &self.flushed).finish_non_exhaustive()
    }
}

#[derive(Clone)]
enum Command {
    Create(Box<(Row, Vec<EntryBody>, WriteGuards)>),
    Change(JobId, WriteGuards, Decision),
    Hold(JobId, Timestamp, Decision),
    Claim(ClaimRequest, Decision),
}

/// The in-memory store never waits.
fn at_once<T>(answer: impl Future<Output = T>) -> T {
    answer.now_or_never().expect("memory answers at once")
}

impl Disk {
    pub(crate) fn create(
        &self,
        by: &str,
        row: Row,
        entries: Vec<EntryBody>,
        gate: WriteGuards,
    ) -> Result<WriteOutcome, WriteError> {
        let mut state = self.0.lock();
        let id = row.id();
        let command = Command::Create(Box::new((row.clone(), entries.clone(), gate.clone())));
        let written = at_once(state.memory.create(row, entries, gate))?;
        if !written.repeat {
            state.logged(by, command, [id]);
        }
        Ok(written)
    }

    pub(crate) fn change(
        &self,
        by: &str,
        id: JobId,
        gate: WriteGuards,
        decide: Decision,
    ) -> Result<WriteOutcome, WriteError> {
        let mut state = self.0.lock();
        let written = at_once(state.memory.change(id, gate.clone(), Arc::clone(&decide)))?;
        if !written.repeat {
            state.logged(by, Command::Change(id, gate, decide), [id]);
        }
        Ok(written)
    }

    pub(crate) fn hold(&self, by: &str, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        let mut state = self.0.lock();
        let row = at_once(state.memory.hold(id, now, Arc::clone(&decide)))?;
        state.logged(by, Command::Hold(id, now, decide), [id]);
        Ok(row)
    }

    pub(crate) fn claim(&self, by: &str, claiming: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        let mut state = self.0.lock();
        let rows = at_once(state.memory.claim(claiming, Arc::clone(&decide)))?;
        if !rows.is_empty() {
            state.logged(by, Command::Claim(claiming, decide), rows.iter().map(Row::id));
        }
        Ok(rows)
    }

    /// The store as all processes see it.
    pub(crate) fn seen(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.0.lock().memory)
    }

    /// Flushes everything written so far.
    pub(crate) fn flush(&self) {
        self.0.lock().flush();
    }

    /// Simulates a power failure. Returns the number of commands lost.
    pub(crate) fn loses_power(&self, chance: &mut Chance) -> usize {
        let mut state = self.0.lock();
        let at_risk = state.log.len() - state.flushed;
        let kept = state.flushed + chance.place(at_risk + 1);
        let lost = state.log.len() - kept;
        state.log.truncate(kept);
        state.memory = Arc::default();
        for command in state.log.clone() {
            state.repeat(command);
        }
        state.touched = state.rows().iter().map(Row::id).collect();
        state.flush();
        lost
    }

    /// The number of commands by other processes.
    pub(crate) fn writes_of_others(&self, than: &str) -> u64 {
        self.0.lock().writes.iter().filter(|(by, _)| *by != than).map(|(_, writes)| writes).sum()
    }

    /// Rows of all jobs, oldest first.
    pub(crate) fn rows(&self) -> Vec<Row> {
        self.0.lock().rows()
    }

    pub(crate) fn journal(&self, id: JobId) -> Vec<Entry> {
        at_once(self.seen().entries(id, 0, u32::MAX)).expect("memory answers")
    }

    /// The flushed part of a journal.
    pub(crate) fn lasting_journal(&self, id: JobId) -> Vec<Entry> {
        let lasting = self.0.lock().lasting.get(&id).copied().unwrap_or(0);
        self.journal(id).into_iter().filter(|entry| entry.seq <= lasting).collect()
    }
}

impl State {
    fn logged(&mut self, by: &str, command: Command, touched: impl IntoIterator<Item = JobId>) {
        self.log.push(command);
        self.touched.extend(touched);
        *self.writes.entry(by.to_owned()).or_default() += 1;
    }

    fn flush(&mut self) {
        self.flushed = self.log.len();
        for id in std::mem::take(&mut self.touched) {
            let row = at_once(self.memory.row(id)).expect("memory answers");
            self.lasting.insert(id, row.map_or(0, |row| row.last_seq));
        }
    }

    /// Carries out the commands of the log again.
    fn repeat(&self, command: Command) {
        let memory = &self.memory;
        let repeated = match command {
            Command::Create(new) => {
                let (row, entries, gate) = *new;
                at_once(memory.create(row, entries, gate)).is_ok()
            }
            Command::Change(id, gate, decide) => at_once(memory.change(id, gate, decide)).is_ok(),
            Command::Hold(id, now, decide) => at_once(memory.hold(id, now, decide)).is_ok(),
            Command::Claim(claiming, decide) => at_once(memory.claim(claiming, decide)).is_ok(),
        };
        assert!(repeated, "a decision is pure: it comes out again as it did before");
    }

    fn rows(&self) -> Vec<Row> {
        let ids = (0..3).flat_map(|number| {
            let project = ProjectId::parse(&format!("project-{number}")).expect("a name");
            let query = JobQuery { project, status: None, after: None, skip: 0, limit: u32::MAX };
            at_once(self.memory.list(query)).expect("memory answers")
        });
        let mut ids: Vec<JobId> = ids.map(|job: AgentJob| job.id).collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| at_once(self.memory.row(id)).expect("memory answers")).collect()
    }
}
