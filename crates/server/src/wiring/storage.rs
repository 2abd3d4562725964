//! The store of a server: all ports to storage, and what the server asks of a store beside them.

#[cfg(feature = "postgres")]
mod postgres;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_access::{Keys, MemoryThrottle, Projects, Throttle};
use docent_assistant::{Searches, Spends, Threads};
use docent_forge::PullRequests;
use docent_jobs::{Outbox, Store};
use docent_operators::OperatorStore;
use docent_store::SqliteStore;
use docent_types::{Clock, JobId, JobStatus, ProjectUid, StoreError, SystemClock, WorkDurations};

use crate::config::{Config, PostgresConfig, StoreConfig};
use crate::data_folder::database;
use crate::failure::Failure;

/// A store of everything that Docent keeps.
#[async_trait]
pub(crate) trait Storage:
    Store + Outbox + Keys + Projects + OperatorStore + Threads + Searches + Spends + PullRequests + fmt::Debug
{
    /// The store as what it is.
    fn kind(&self) -> StoreKind<'_>;

    /// The clock by which leases, quotas and expiry are measured.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Counts the requests and attempts that all servers on this store limit together.
    fn throttle(self: Arc<Self>) -> Arc<dyn Throttle>;

    /// Tells other servers on this store how many replies run on this one, by project, and returns how many run on all others.
    async fn share_running_replies(
        &self,
        running: BTreeMap<ProjectUid, usize>,
    ) -> Result<BTreeMap<ProjectUid, usize>, StoreError>;

    /// The time of each commit.
    fn commit_times(&self) -> &WorkDurations;

    /// Whether the store can be written and read.
    async fn ready(&self) -> Result<(), StoreError>;

    /// The number of jobs by status, for each status that occurs.
    async fn jobs_by_status(&self) -> Result<Vec<(JobStatus, u64)>, StoreError>;

    /// The jobs of a removed project whose workers have not said that they stopped.
    async fn jobs_not_stopped(&self, project: ProjectUid) -> Result<Vec<JobId>, StoreError>;

    /// The size of the store. Counts its records, which takes a moment in a large one.
    async fn sizes(&self) -> Result<StoreSizes, StoreError>;

    /// Carries out what is queued, and closes the store. Later calls fail.
    async fn close(&self) -> Result<(), StoreError>;
}

/// A store as what it is, for what only one kind of store has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StoreKind<'s> {
    /// One server at a time works on it.
    Sqlite(&'s SqliteStore),
    /// Any number of servers work on it.
    #[cfg(feature = "postgres")]
    Postgres(&'s docent_store_postgres::PostgresStore),
}

/// The size of a store and the number of records in it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoreSizes {
    pub(crate) database_bytes: u64,
    /// Of a database that is a file in the data folder.
    pub(crate) file: Option<FileSpace>,
    pub(crate) jobs: u64,
    pub(crate) active_jobs: u64,
    /// Ended jobs whose journal was pruned to its last entry.
    pub(crate) pruned_jobs: u64,
    /// Entries of all journals.
    pub(crate) entries: u64,
    pub(crate) threads: u64,
    /// Questions and answers of all threads.
    pub(crate) turns: u64,
}

/// The space of a database file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileSpace {
    pub(crate) log_bytes: u64,
    /// Reusable pages in the file.
    pub(crate) free_bytes: u64,
    /// Whether the file returns free pages to the file system.
    pub(crate) shrinks: bool,
}

/// Opens the configured store. A database elsewhere that serves nobody at the moment is asked again for this long.
pub(crate) async fn open(config: &Config, patience: Duration) -> Result<Arc<dyn Storage>, Failure> {
    match &config.store {
        StoreConfig::Sqlite => Ok(Arc::new(open_sqlite(&config.data)?)),
        StoreConfig::Postgres(config) => open_postgres(config, patience).await,
    }
}

#[cfg(feature = "postgres")]
async fn open_postgres(config: &PostgresConfig, patience: Duration) -> Result<Arc<dyn Storage>, Failure> {
    use docent_store_postgres::PostgresStore;
    use tracing::warn;

    let (url, started) = (config.url()?, std::time::Instant::now());
    let mut told = false;
    loop {
        let error = match PostgresStore::connect(&url, config.connections).await {
            Ok(store) => return Ok(Arc::new(store)),
            Err(error) => error,
        };
        if !error.is_unavailable() || started.elapsed() > patience {
            return Err(error.into());
        }
        if !told {
            warn!(
                error = &error as &dyn std::error::Error,
                "the database serves nobody yet; trying for {} seconds",
                patience.as_secs()
            );
            told = true;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[cfg(not(feature = "postgres"))]
async fn open_postgres(_: &PostgresConfig, _: Duration) -> Result<Arc<dyn Storage>, Failure> {
    Err(Failure::plain(
        "`store` names a PostgreSQL database, and this docent was built without the store on one; build it with `--features postgres`",
    ))
}

/// Opens the database in a data folder.
pub(crate) fn open_sqlite(data: &Path) -> Result<SqliteStore, Failure> {
    Ok(SqliteStore::open(database(data))?)
}

#[async_trait]
impl Storage for SqliteStore {
    fn kind(&self) -> StoreKind<'_> {
        StoreKind::Sqlite(self)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }

    /// One server at a time works on a data folder.
    fn throttle(self: Arc<Self>) -> Arc<dyn Throttle> {
        Arc::new(MemoryThrottle::new())
    }

    async fn share_running_replies(
        &self,
        _: BTreeMap<ProjectUid, usize>,
    ) -> Result<BTreeMap<ProjectUid, usize>, StoreError> {
        Ok(BTreeMap::new())
    }

    fn commit_times(&self) -> &WorkDurations {
        SqliteStore::commit_times(self)
    }

    async fn ready(&self) -> Result<(), StoreError> {
        SqliteStore::ready(self).await
    }

    async fn jobs_by_status(&self) -> Result<Vec<(JobStatus, u64)>, StoreError> {
        SqliteStore::jobs_by_status(self).await
    }

    async fn jobs_not_stopped(&self, project: ProjectUid) -> Result<Vec<JobId>, StoreError> {
        SqliteStore::jobs_not_stopped(self, project).await
    }

    async fn sizes(&self) -> Result<StoreSizes, StoreError> {
        let docent_store::Sizes {
            file_bytes,
            log_bytes,
            free_bytes,
            shrinks,
            jobs,
            active_jobs,
            pruned_jobs,
            entries,
            threads,
            turns,
        } = SqliteStore::sizes(self).await?;
        let file = Some(FileSpace { log_bytes, free_bytes, shrinks });
        Ok(StoreSizes { database_bytes: file_bytes, file, jobs, active_jobs, pruned_jobs, entries, threads, turns })
    }

    async fn close(&self) -> Result<(), StoreError> {
        SqliteStore::close(self).await
    }
}
