//! How large the database is, and what it is.

use docent_types::{BoxError, StoreError};

use crate::postgres::PostgresStore;
use crate::transaction::Transaction;

/// The size of the database and the number of records in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    pub database_bytes: u64,
    pub jobs: u64,
    /// Jobs that are active, and ended jobs whose journal was pruned to its last entry.
    pub active_jobs: u64,
    pub pruned_jobs: u64,
    /// Entries of all journals.
    pub entries: u64,
    pub threads: u64,
    /// Questions and answers of all threads.
    pub turns: u64,
}

/// What is said of the server of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// Such as `15.14 (Debian 15.14-0+deb12u1)`.
    pub version: String,
    /// Connections that the server takes, and those that are in use by everybody.
    pub max_connections: u64,
    pub connections: u64,
    /// Standbys that a commit may wait for and that follow at the moment.
    pub synchronous_standbys: u64,
}

impl PostgresStore {
    /// The size of the database. Counts its records, which takes a moment in a large one.
    pub async fn sizes(&self) -> Result<Sizes, StoreError> {
        self.read("measure the database", |transaction| async move { count(&transaction).await }).await
    }

    /// Asks the server what it is.
    pub async fn server_facts(&self) -> Result<ServerFacts, StoreError> {
        self.read("ask the database what it is", |transaction| async move {
            let version = transaction.query_one("SELECT current_setting('server_version')", &[]).await?.try_get(0)?;
            let connections = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
            let standbys = "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
            Ok(ServerFacts {
                version,
                max_connections: number(&transaction, "SELECT current_setting('max_connections')::bigint").await?,
                connections: number(&transaction, connections).await?,
                synchronous_standbys: number(&transaction, standbys).await?,
            })
        })
        .await
    }
}

async fn count(transaction: &Transaction) -> Result<Sizes, BoxError> {
    let number = async |sql| number(transaction, sql).await;
    Ok(Sizes {
        database_bytes: number("SELECT pg_database_size(current_database())").await?,
        jobs: number("SELECT count(*) FROM jobs").await?,
        active_jobs: number("SELECT count(*) FROM jobs WHERE status = 0").await?,
        pruned_jobs: number("SELECT count(*) FROM jobs WHERE NOT kept AND ended_at IS NOT NULL").await?,
        entries: number("SELECT coalesce(sum(count), 0)::bigint FROM entries").await?,
        threads: number("SELECT count(*) FROM threads").await?,
        turns: number("SELECT count(*) FROM thread_turns").await?,
    })
}

async fn number(transaction: &Transaction, sql: &str) -> Result<u64, BoxError> {
    Ok(transaction.query_one(sql, &[]).await?.try_get::<_, i64>(0)?.unsigned_abs())
}
