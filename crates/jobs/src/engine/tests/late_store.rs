//! A store whose answers to changes come late, or that fails for a while.

use tokio::time::Instant;

use super::*;
use crate::search::{FoundJobs, JobSearch};
use crate::store::{JobQuery, Pruned, Pruning, WriteOutcome};

/// Every change is visible at once, and its caller hears of it later.
#[derive(Debug)]
pub(super) struct LateStore {
    pub(super) store: MemoryStore,
    pub(super) late: Duration,
    /// Changes fail until then, without an effect.
    pub(super) away_until: Instant,
}

#[async_trait]
impl Store for LateStore {
    async fn create(&self, row: Row, entries: Vec<EntryBody>, guards: WriteGuards) -> Result<WriteOutcome, WriteError> {
        self.store.create(row, entries, guards).await
    }

    async fn change(&self, id: JobId, guards: WriteGuards, decide: Decision) -> Result<WriteOutcome, WriteError> {
        if Instant::now() < self.away_until {
            return Err(WriteError::Store(StoreError::new("change", std::io::Error::other("away"))));
        }
        let written = self.store.change(id, guards, decide).await;
        tokio::time::sleep(self.late).await;
        written
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decision) -> Result<Row, WriteError> {
        self.store.hold(id, now, decide).await
    }

    async fn claim(&self, request: ClaimRequest, decide: Decision) -> Result<Vec<Row>, StoreError> {
        self.store.claim(request, decide).await
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        self.store.row(id).await
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.store.entries(id, after, limit).await
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        self.store.list(query).await
    }

    async fn search(&self, search: JobSearch) -> Result<FoundJobs, StoreError> {
        self.store.search(search).await
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.store.next_due(now).await
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        self.store.leased().await
    }

    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError> {
        self.store.prune(pruning).await
    }

    fn changes(&self) -> Option<u64> {
        self.store.changes()
    }
}
