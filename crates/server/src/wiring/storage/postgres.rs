//! What the server asks of a store on PostgreSQL, in builds that have the feature `postgres`.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use docent_access::Throttle;
use docent_store_postgres::{PostgresStore, Sizes};
use docent_types::{Clock, JobId, JobStatus, ProjectUid, StoreError, WorkDurations};

use super::{Storage, StoreKind, StoreSizes};

#[async_trait]
impl Storage for PostgresStore {
    fn kind(&self) -> StoreKind<'_> {
        StoreKind::Postgres(self)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(PostgresStore::clock(self))
    }

    fn throttle(self: Arc<Self>) -> Arc<dyn Throttle> {
        self
    }

    async fn share_running_replies(
        &self,
        running: BTreeMap<ProjectUid, usize>,
    ) -> Result<BTreeMap<ProjectUid, usize>, StoreError> {
        PostgresStore::share_running_replies(self, running).await
    }

    fn commit_times(&self) -> &WorkDurations {
        PostgresStore::commit_times(self)
    }

    async fn ready(&self) -> Result<(), StoreError> {
        PostgresStore::ready(self).await
    }

    async fn jobs_by_status(&self) -> Result<Vec<(JobStatus, u64)>, StoreError> {
        PostgresStore::jobs_by_status(self).await
    }

    async fn jobs_not_stopped(&self, project: ProjectUid) -> Result<Vec<JobId>, StoreError> {
        PostgresStore::jobs_not_stopped(self, project).await
    }

    async fn sizes(&self) -> Result<StoreSizes, StoreError> {
        let Sizes { database_bytes, jobs, active_jobs, pruned_jobs, entries, threads, turns } =
            PostgresStore::sizes(self).await?;
        Ok(StoreSizes { database_bytes, file: None, jobs, active_jobs, pruned_jobs, entries, threads, turns })
    }

    async fn close(&self) -> Result<(), StoreError> {
        PostgresStore::close(self).await
    }
}
