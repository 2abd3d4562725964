//! Simulates a process that is killed at its n-th durable write ("the power cord is pulled"): earlier writes stay
//! durable and no later one gets through.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use docent_forge::{
    CommitRange, FoundPulls, NewPullRecord, PullComment, PullRecord, PullRequestSpec, PullRequests, PullSearch,
    PullState,
};
use docent_jobs::{
    ClaimRequest, Decision, Entry, EntryBody, FoundJobs, JobQuery, JobSearch, Pruned, Pruning, Row, Store, WriteError,
    WriteGuards, WriteOutcome,
};
use docent_types::{AgentJob, JobId, ProjectId, StoreError, Timestamp};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// When the cord is pulled, counted in durable writes of the process, to the store and to the forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pull {
    Never,
    /// Right before this write.
    Before(usize),
    /// Right after it, before its caller is answered.
    After(usize),
}

#[derive(Debug)]
pub(super) struct Cord {
    pull: Pull,
    writes: AtomicUsize,
    dead: CancellationToken,
}

impl Cord {
    pub(super) fn new(pull: Pull) -> Arc<Self> {
        Arc::new(Self { pull, writes: AtomicUsize::new(0), dead: CancellationToken::new() })
    }

    pub(super) fn safe() -> Arc<Self> {
        Self::new(Pull::Never)
    }

    /// Completes when the cord is pulled.
    pub(super) async fn pulled(&self) {
        self.dead.cancelled().await;
    }

    /// The number of writes.
    pub(super) fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    async fn write<T>(&self, write: impl Future<Output = T>) -> T {
        self.alive().await;
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        self.pull_at(Pull::Before(number)).await;
        let written = write.await;
        self.pull_at(Pull::After(number)).await;
        written
    }

    async fn read<T>(&self, read: impl Future<Output = T>) -> T {
        self.alive().await;
        read.await
    }

    async fn pull_at(&self, here: Pull) {
        if self.pull == here {
            self.dead.cancel();
        }
        self.alive().await;
    }

    /// Never completes once the cord is pulled.
    async fn alive(&self) {
        if self.dead.is_cancelled() {
            std::future::pending::<()>().await;
        }
    }
}

/// A store that stops once its process's cord is pulled.
pub(super) struct CordedStore {
    store: Arc<dyn Store>,
    cord: Arc<Cord>,
}

impl CordedStore {
    pub(super) fn new(store: Arc<dyn Store>, cord: Arc<Cord>) -> Self {
        Self { store, cord }
    }
}

impl fmt::Debug for CordedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cord.fmt(f)
    }
}

#[async_trait]
impl Store for CordedStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, gate: WriteGuards) -> Result<WriteOutcome, WriteError> {
        self.cord.write(self.store.create(row, entries, gate)).await
    }

    async fn change(&self, id: JobId, gate: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError> {
        self.cord.write(self.store.change(id, gate, decide)).await
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        self.cord.write(self.store.hold(id, now, decide)).await
    }

    async fn claim(&self, claiming: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        let rows = self.cord.read(self.store.claim(claiming, decide)).await;
        // A claim that finds nothing writes nothing.
        if rows.as_ref().is_ok_and(|rows| !rows.is_empty()) {
            self.cord.write(std::future::ready(())).await;
        }
        rows
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        self.cord.read(self.store.row(id)).await
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.cord.read(self.store.entries(id, after, limit)).await
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        self.cord.read(self.store.list(query)).await
    }

    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError> {
        self.cord.read(self.store.search(search)).await
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.cord.read(self.store.next_due(now)).await
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        self.cord.read(self.store.leased()).await
    }

    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError> {
        self.cord.write(self.store.prune(pruning)).await
    }

    fn changes(&self) -> Option<u64> {
        self.store.changes()
    }
}

/// Pull requests that stop once their process's cord is pulled.
#[derive(Debug)]
pub(super) struct CordedPulls {
    pulls: Arc<dyn PullRequests>,
    cord: Arc<Cord>,
}

impl CordedPulls {
    pub(super) fn new(pulls: Arc<dyn PullRequests>, cord: Arc<Cord>) -> Self {
        Self { pulls, cord }
    }
}

#[async_trait]
impl PullRequests for CordedPulls {
    async fn open(&self, new: NewPullRecord) -> Result<PullRecord, StoreError> {
        self.cord.write(self.pulls.open(new)).await
    }

    async fn update(
        &self,
        project: &ProjectId,
        id: Uuid,
        request: &PullRequestSpec,
    ) -> Result<Option<PullRecord>, StoreError> {
        self.cord.write(self.pulls.update(project, id, request)).await
    }

    async fn end(
        &self,
        project: &ProjectId,
        id: Uuid,
        state: PullState,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError> {
        self.cord.write(self.pulls.end(project, id, state, ending, at)).await
    }

    async fn reopen(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        self.cord.write(self.pulls.reopen(project, id)).await
    }

    async fn comment(&self, project: &ProjectId, id: Uuid, comment: PullComment) -> Result<bool, StoreError> {
        self.cord.write(self.pulls.comment(project, id, comment)).await
    }

    async fn comments(&self, project: &ProjectId, id: Uuid) -> Result<Vec<PullComment>, StoreError> {
        self.cord.read(self.pulls.comments(project, id)).await
    }

    async fn search(&self, search: PullSearch) -> Result<FoundPulls, StoreError> {
        self.cord.read(self.pulls.search(search)).await
    }

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        self.cord.read(self.pulls.get(project, id)).await
    }

    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError> {
        self.cord.read(self.pulls.by_head(project, head)).await
    }

    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError> {
        self.cord.read(self.pulls.list(project, limit)).await
    }
}
