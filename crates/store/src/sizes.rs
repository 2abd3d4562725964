//! How large the database is.

use docent_types::{BoxError, StoreError};
use rusqlite::Connection;

use crate::sqlite::SqliteStore;

/// The size of the database and the number of records in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Bytes of the database file, of its log, and of the reusable free pages in the file.
    pub file_bytes: u64,
    pub log_bytes: u64,
    pub free_bytes: u64,
    /// Whether the file returns free pages to the file system. One created by an older version does after `VACUUM`,
    /// with `PRAGMA auto_vacuum = INCREMENTAL` before it.
    pub shrinks: bool,
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

impl SqliteStore {
    /// The size of the database. Counts its records, which takes a moment in a large one.
    pub async fn sizes(&self) -> Result<Sizes, StoreError> {
        let length = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |data| data.len());
        let mut log = self.path().as_os_str().to_owned();
        log.push("-wal");
        let (file_bytes, log_bytes) = (length(self.path()), length(log.as_ref()));
        self.read("measure the database", move |connection| Ok(Sizes { file_bytes, log_bytes, ..count(connection)? }))
            .await
    }
}

fn count(connection: &Connection) -> Result<Sizes, BoxError> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u64>(0));
    Ok(Sizes {
        free_bytes: number("PRAGMA freelist_count")? * number("PRAGMA page_size")?,
        shrinks: number("PRAGMA auto_vacuum")? == 2,
        jobs: number("SELECT count(*) FROM jobs")?,
        active_jobs: number("SELECT count(*) FROM jobs WHERE place < 4")?,
        pruned_jobs: number("SELECT count(*) FROM jobs WHERE NOT kept AND ended_at IS NOT NULL")?,
        entries: number("SELECT coalesce(sum(count), 0) FROM entries")?
            + number("SELECT coalesce(sum(began), 0) FROM jobs")?,
        threads: number("SELECT count(*) FROM threads")?,
        turns: number("SELECT count(*) FROM turns")?,
        ..Sizes::default()
    })
}
