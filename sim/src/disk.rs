//! The disk that all processes share, and the part of it that survives a power failure.
//!
//! The disk is a store, which all processes see, and a log of the commands in the order in which they were carried out, with
//! the position up to which the log is flushed. A power failure cuts the log at a random place behind that position, and the
//! commands before the cut are carried out again on an empty store.
//!
//! The store is that in memory, or a real one. The world stands still while a store answers, so a real one may take its time,
//! and the world's clock is the only one that its leases know.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docent_jobs::memory::MemoryStore;
use docent_jobs::{
    ClaimRequest, Decision, Entry, EntryBody, JobQuery, Row, Store, WriteError, WriteGuards, WriteOutcome,
};
use docent_types::{AgentJob, JobId, ProjectId, StoreError, Timestamp};
use futures::FutureExt;
use futures::future::try_join_all;
use parking_lot::Mutex;
use tokio::runtime::Handle;

use crate::chance::Chance;

/// Rows that are read at a time.
const AT_ONCE: usize = 8;

/// Where the contents of a disk are.
#[derive(Clone)]
pub(crate) struct Stores {
    /// Makes a store that is empty.
    pub(crate) empty: Arc<dyn Fn() -> Arc<dyn Store> + Send + Sync>,
    /// Where the stores work; `None` for those that answer at once.
    pub(crate) runtime: Option<Handle>,
}

impl Stores {
    pub(crate) fn in_memory() -> Self {
        Self { empty: Arc::new(|| Arc::new(MemoryStore::new())), runtime: None }
    }

    /// The answer to a question. Nothing else happens in the world meanwhile.
    fn wait_for<T: Send + 'static>(&self, answer: impl Future<Output = T> + Send + 'static) -> T {
        let Some(runtime) = &self.runtime else { return answer.now_or_never().expect("memory answers at once") };
        let (reply, replied) = std::sync::mpsc::sync_channel(1);
        runtime.spawn(async move { reply.send(answer.await) });
        replied.recv().expect("a store answers")
    }
}

#[derive(Debug)]
pub(crate) struct Disk(Mutex<State>);

struct State {
    stores: Stores,
    store: Arc<dyn Store>,
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

impl Disk {
    pub(crate) fn of(stores: Stores) -> Self {
        let store = (stores.empty)();
        Self(Mutex::new(State {
            stores,
            store,
            log: Vec::new(),
            flushed: 0,
            lasting: BTreeMap::new(),
            touched: BTreeSet::new(),
            writes: BTreeMap::new(),
        }))
    }

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
        let written = state.ask(|store| async move { store.create(row, entries, gate).await })?;
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
        let written = {
            let (gate, decide) = (gate.clone(), Arc::clone(&decide));
            state.ask(move |store| async move { store.change(id, gate, decide).await })?
        };
        if !written.repeat {
            state.logged(by, Command::Change(id, gate, decide), [id]);
        }
        Ok(written)
    }

    pub(crate) fn hold(&self, by: &str, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        let mut state = self.0.lock();
        let row = {
            let decide = Arc::clone(&decide);
            state.ask(move |store| async move { store.hold(id, now, decide).await })?
        };
        state.logged(by, Command::Hold(id, now, decide), [id]);
        Ok(row)
    }

    pub(crate) fn claim(&self, by: &str, claiming: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        let mut state = self.0.lock();
        let rows = {
            let decide = Arc::clone(&decide);
            state.ask(move |store| async move { store.claim(claiming, decide).await })?
        };
        if !rows.is_empty() {
            state.logged(by, Command::Claim(claiming, decide), rows.iter().map(Row::id));
        }
        Ok(rows)
    }

    /// Asks the store, as all processes see it.
    pub(crate) fn ask<T, Answer>(&self, what: impl FnOnce(Arc<dyn Store>) -> Answer) -> T
    where
        T: Send + 'static,
        Answer: Future<Output = T> + Send + 'static,
    {
        self.0.lock().ask(what)
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
        state.store = (state.stores.empty)();
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
        self.ask(move |store| async move { store.entries(id, 0, u32::MAX).await }).expect("the store answers")
    }

    /// The flushed part of a journal.
    pub(crate) fn lasting_journal(&self, id: JobId) -> Vec<Entry> {
        let lasting = self.0.lock().lasting.get(&id).copied().unwrap_or(0);
        self.journal(id).into_iter().filter(|entry| entry.seq <= lasting).collect()
    }
}

impl State {
    fn ask<T, Answer>(&self, what: impl FnOnce(Arc<dyn Store>) -> Answer) -> T
    where
        T: Send + 'static,
        Answer: Future<Output = T> + Send + 'static,
    {
        self.stores.wait_for(what(Arc::clone(&self.store)))
    }

    fn row(&self, id: JobId) -> Option<Row> {
        self.ask(move |store| async move { store.row(id).await }).expect("the store answers")
    }

    fn logged(&mut self, by: &str, command: Command, touched: impl IntoIterator<Item = JobId>) {
        self.log.push(command);
        self.touched.extend(touched);
        *self.writes.entry(by.to_owned()).or_default() += 1;
    }

    fn flush(&mut self) {
        self.flushed = self.log.len();
        for id in std::mem::take(&mut self.touched) {
            let row = self.row(id);
            self.lasting.insert(id, row.map_or(0, |row| row.last_seq));
        }
    }

    /// Carries out the commands of the log again.
    fn repeat(&self, command: Command) {
        let repeated = self.ask(|store| async move {
            match command {
                Command::Create(new) => {
                    let (row, entries, gate) = *new;
                    store.create(row, entries, gate).await.is_ok()
                }
                Command::Change(id, gate, decide) => store.change(id, gate, decide).await.is_ok(),
                Command::Hold(id, now, decide) => store.hold(id, now, decide).await.is_ok(),
                Command::Claim(claiming, decide) => store.claim(claiming, decide).await.is_ok(),
            }
        });
        assert!(repeated, "a decision is pure: it comes out again as it did before");
    }

    fn rows(&self) -> Vec<Row> {
        let rows = self.ask(|store| async move {
            let mut ids = Vec::<JobId>::new();
            for number in 0..3 {
                let project = ProjectId::parse(&format!("project-{number}")).expect("a name");
                let query = JobQuery { project, status: None, after: None, skip: 0, limit: u32::MAX };
                ids.extend(store.list(query).await?.iter().map(|job: &AgentJob| job.id));
            }
            ids.sort_unstable();
            let mut rows = Vec::new();
            for some in ids.chunks(AT_ONCE) {
                rows.extend(try_join_all(some.iter().map(|id| store.row(*id))).await?.into_iter().flatten());
            }
            Ok::<_, StoreError>(rows)
        });
        rows.expect("the store answers")
    }
}
