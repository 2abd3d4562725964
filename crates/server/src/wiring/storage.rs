//! The store of a server: all ports to storage, and what the server asks of a store beside them.

use std::fmt;
use std::path::Path;

use async_trait::async_trait;
use docent_access::{Keys, Projects};
use docent_assistant::{Searches, Spends, Threads};
use docent_forge::PullRequests;
use docent_jobs::{Outbox, Store};
use docent_operators::OperatorStore;
use docent_store::SqliteStore;
use docent_types::{JobId, JobStatus, ProjectUid, StoreError};

use crate::data_folder::database;
use crate::failure::Failure;

/// A store of everything that Docent keeps.
#[async_trait]
pub(crate) trait Storage:
    Store + Outbox + Keys + Projects + OperatorStore + Threads + Searches + Spends + PullRequests + fmt::Debug
{
    /// Whether the store can be written and read.
    async fn ready(&self) -> Result<(), StoreError>;

    /// Checks everything that the store can check about itself, which may take long. Returns what it is, in words.
    async fn check(&self) -> Result<String, StoreError>;

    /// The number of jobs by status, for each status that occurs.
    async fn jobs_by_status(&self) -> Result<Vec<(JobStatus, u64)>, StoreError>;

    /// The jobs of a removed project whose workers have not said that they stopped.
    async fn jobs_not_stopped(&self, project: ProjectUid) -> Result<Vec<JobId>, StoreError>;

    /// The size of the store. Counts its records, which takes a moment in a large one.
    async fn sizes(&self) -> Result<StoreSizes, StoreError>;

    /// Carries out what is queued, and closes the store. Later calls fail.
    async fn close(&self) -> Result<(), StoreError>;
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

/// Opens the database in a data folder.
pub(crate) fn open_sqlite(data: &Path) -> Result<SqliteStore, Failure> {
    Ok(SqliteStore::open(database(data))?)
}

#[async_trait]
impl Storage for SqliteStore {
    async fn ready(&self) -> Result<(), StoreError> {
        SqliteStore::ready(self).await
    }

    async fn check(&self) -> Result<String, StoreError> {
        SqliteStore::check(self).await?;
        Ok("SQLite, sound".to_owned())
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
