//! The store as a process sees it: a command may be lost on its way to the disk, refused, or carried out without an
//! answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use docent_jobs::{
    Change, ClaimRequest, Decision, Entry, EntryBody, FoundJobs, JobQuery, JobSearch, Pruned, Pruning, Row, Store,
    WriteError, WriteGuards, WriteOutcome,
};
use docent_types::{AgentJob, JobId, JobStatus, StoreError, Timestamp};
use parking_lot::Mutex;

use crate::broken::{self, BrokenEngine};
use crate::process::{Process, RequestKind};
use crate::world::World;

#[derive(Debug)]
pub(crate) struct NodeStore(pub(crate) Arc<Process>);

impl NodeStore {
    async fn write<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Process) -> Result<T, WriteError> + Send + 'static,
    ) -> Result<T, WriteError> {
        let (process, odds) = (&self.0, &self.0.world.plan.odds);
        process.sends(RequestKind::Write).await;
        if process.world.is_disk_full() {
            process.world.count("no room on the disk");
            return Err(StoreError::new("write", "no space is left on the disk").into());
        }
        if process.world.goes_wrong("write fails", odds.write_fails) {
            return Err(StoreError::new("write", "the disk failed").into());
        }
        // A command that was sent is carried out even if its caller is dropped, while the process lives.
        let writer = Arc::clone(process);
        let written = tokio::spawn(async move {
            let pause = writer.world.chance().millis(0..=3);
            tokio::time::sleep(pause).await;
            tokio::select! {
                biased;
                () = writer.dead.cancelled() => return None,
                () = writer.moves() => {}
            }
            Some(act(&writer))
        });
        let written = match written.await {
            Ok(Some(written)) => written,
            // The command was lost with the process.
            Ok(None) | Err(_) => std::future::pending().await,
        };
        process.receives(RequestKind::Write).await;
        if written.is_ok() && process.world.goes_wrong("write is unconfirmed", odds.write_unconfirmed) {
            return Err(StoreError::new("write", "the answer was lost").into());
        }
        written
    }

    async fn read<T>(&self, read: impl Future<Output = T>) -> Result<T, StoreError> {
        let process = &self.0;
        process.sends(RequestKind::Read).await;
        if process.world.goes_wrong("read fails", process.world.plan.odds.read_fails) {
            return Err(StoreError::new("read", "the disk failed"));
        }
        let answer = read.await;
        process.receives(RequestKind::Read).await;
        Ok(answer)
    }
}

/// Flushes the writes. With [`BrokenEngine::ActsBeforeItIsWritten`], this happens some time after they were confirmed.
fn flush(world: &Arc<World>) {
    if world.broken != Some(BrokenEngine::ActsBeforeItIsWritten) {
        return world.disk.flush();
    }
    let (world, pause) = (Arc::clone(world), world.chance().millis(1..=20_000));
    tokio::spawn(async move {
        tokio::time::sleep(pause).await;
        world.disk.flush();
    });
}

/// The row before and after a decision.
#[derive(Default)]
struct Witness(Mutex<Option<(Row, Change)>>);

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}

impl Witness {
    fn watches(self: &Arc<Self>, decide: Decision) -> Decision {
        let witness = Arc::clone(self);
        Arc::new(move |row: &Row| {
            let change = decide(row)?;
            *witness.0.lock() = Some((row.clone(), change.clone()));
            Ok(change)
        })
    }

    /// Whether a lease is taken over from a process that died.
    fn sees_a_takeover(&self, by: &Process) -> bool {
        let is_retry = |entry: &EntryBody| matches!(entry, EntryBody::Retry { .. });
        let of_another = |row: &Row| row.lease.as_ref().is_some_and(|lease| lease.holder != by.name);
        let seen = self.0.lock();
        seen.as_ref().is_some_and(|(row, change)| {
            by.is_alone() && of_another(row) && change.next.lease.is_none() && change.entries.iter().any(is_retry)
        })
    }

    /// Traces the decision, and checks that only the holder of a lease writes under it.
    fn testifies(&self, by: &Process) {
        let is_takeover = self.sees_a_takeover(by);
        let Some((before, Change { entries, next })) = self.0.lock().take() else { return };
        let (world, holder) = (&by.world, before.lease.as_ref().map(|lease| lease.holder.as_str()));
        let kinds: Vec<&str> = entries.iter().map(kind).collect();
        if !kinds.is_empty() || before.lease.is_some() != next.lease.is_some() {
            world.note(format_args!("{} writes {} {}", by.name, short(before.id()), kinds.join(", ")));
        }
        let takes_a_lease = entries.iter().any(|entry| match entry {
            EntryBody::Work { .. } | EntryBody::Retry { .. } => true,
            EntryBody::Transition { to, .. } => matches!(to, JobStatus::Completed | JobStatus::Failed),
            EntryBody::Instruction(_) | EntryBody::Leased { .. } => false,
        });
        if takes_a_lease && !is_takeover && holder != Some(&by.name) {
            world.violated(format_args!(
                "fencing: {} wrote {} to {}, whose lease is held by {}",
                by.name,
                kinds.join(", "),
                short(before.id()),
                holder.unwrap_or("nobody")
            ));
        }
    }
}

fn kind(entry: &EntryBody) -> &str {
    match entry {
        EntryBody::Instruction(_) => "instruction",
        EntryBody::Transition { to, .. } => to.as_str(),
        EntryBody::Leased { .. } => "leased",
        EntryBody::Retry { .. } => "retry",
        EntryBody::Work { kind, .. } => kind,
    }
}

/// A short form of an id, unique within a run.
pub(crate) fn short(id: JobId) -> String {
    id.to_string().split_off(28)
}

#[async_trait]
impl Store for NodeStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, gate: WriteGuards) -> Result<WriteOutcome, WriteError> {
        let act = move |by: &Process| {
            let id = row.id();
            let written = by.world.disk.create(&by.name, row, entries, gate);
            flush(&by.world);
            let came = match &written {
                Ok(written) if written.repeat => "again",
                Ok(_) => "anew",
                Err(_) => "in vain",
            };
            by.world.note(format_args!("{} creates {} {came}", by.name, short(id)));
            written
        };
        self.write(act).await
    }

    async fn change(&self, id: JobId, gate: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError> {
        let act = move |by: &Process| {
            let witness = Arc::new(Witness::default());
            let decide = witness.watches(broken::fenced(by, &gate, decide));
            let written = by.world.disk.change(&by.name, id, gate, decide);
            if by.world.broken != Some(BrokenEngine::TellsWhatMayBeLost) || !witness.sees_a_takeover(by) {
                flush(&by.world);
            }
            witness.testifies(by);
            written
        };
        self.write(act).await
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        let act = move |by: &Process| {
            let witness = Arc::new(Witness::default());
            let held = by.world.disk.hold(&by.name, id, now, witness.watches(decide));
            witness.testifies(by);
            held
        };
        self.write(act).await
    }

    async fn claim(&self, claiming: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        let act = move |by: &Process| {
            let before = by.world.disk.rows();
            let rows = by.world.disk.claim(&by.name, claiming, decide)?;
            for row in &rows {
                by.world.note(format_args!("{} claims {}", by.name, short(row.id())));
            }
            must_be_fair(&by.world, claiming, before, &rows);
            Ok(rows)
        };
        match self.write(act).await {
            Ok(rows) => Ok(rows),
            Err(WriteError::Store(error)) => Err(error),
            Err(other) => Err(StoreError::new("claim", other)),
        }
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        let world = &self.0.world;
        self.read(async { world.disk.ask(move |store| async move { store.row(id).await }) }).await?
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        let world = &self.0.world;
        self.read(async { world.disk.ask(move |store| async move { store.entries(id, after, limit).await }) }).await?
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        let world = &self.0.world;
        self.read(async { world.disk.ask(move |store| async move { store.list(query).await }) }).await?
    }

    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError> {
        let world = &self.0.world;
        self.read(async { world.disk.ask(move |store| async move { store.search(search).await }) }).await?
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let world = &self.0.world;
        self.read(async { world.disk.ask(move |store| async move { store.next_due(now).await }) }).await?
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        let world = &self.0.world;
        // In no order, so in one that is the same for all stores.
        let sorted = |mut leased: Vec<JobId>| {
            leased.sort_unstable();
            leased
        };
        self.read(async { world.disk.ask(|store| async move { store.leased().await }).map(sorted) }).await?
    }

    async fn prune(&self, _: Pruning) -> Result<Pruned, StoreError> {
        // A run is shorter than any retention.
        Ok(Pruned::default())
    }

    fn changes(&self) -> Option<u64> {
        Some(self.0.world.disk.writes_of_others(&self.0.name))
    }
}

/// Checks each claimed job against the rules: it was due and had no lease, it was the oldest of its project, the cap
/// was not reached, its concurrency key was free, and no project was passed over more often than there are other
/// projects.
fn must_be_fair(world: &World, claiming: ClaimRequest, rows: Vec<Row>, claimed: &[Row]) {
    let mut rows: BTreeMap<JobId, Row> = rows.into_iter().map(|row| (row.id(), row)).collect();
    for next in claimed {
        let mut oldest: BTreeMap<&str, JobId> = BTreeMap::new();
        for row in rows.values().filter(|row| may_be_claimed(row, claiming, &rows)) {
            oldest.entry(row.job.project.as_str()).or_insert(row.id());
        }
        let project = next.job.project.as_str();
        if oldest.get(project) != Some(&next.id()) {
            world
                .violated(format_args!("claims: {} is not the oldest free and due job of {project}", short(next.id())));
        }
        let mut ledger = world.ledger();
        ledger.passed_over.remove(project);
        for passed in oldest.keys().filter(|other| **other != project) {
            let times = ledger.passed_over.entry((*passed).to_owned()).or_default();
            *times += 1;
            if *times >= world.plan.projects {
                world.violated(format_args!("fairness: {passed} was passed over {times} times in a row"));
            }
        }
        drop(ledger);
        rows.insert(next.id(), next.clone());
    }
}

fn may_be_claimed(row: &Row, claiming: ClaimRequest, rows: &BTreeMap<JobId, Row>) -> bool {
    let is_living = |row: &&Row| row.lease.as_ref().is_some_and(|lease| lease.until > claiming.now);
    let keys: BTreeSet<_> = rows.values().filter(is_living).map(Row::concurrency_key).collect();
    let running = rows.values().filter(is_living).filter(|other| other.job.project == row.job.project).count();
    row.job.status == JobStatus::Active
        && row.attempt.not_before <= claiming.now
        && !keys.contains(&row.concurrency_key())
        && running < claiming.cap_per_project
}
