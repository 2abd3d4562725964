//! Storage on SQLite: the ports of `docent-jobs`, `docent-access`, `docent-forge` and `docent-assistant`.
//!
//! One database file, in write-ahead mode with `synchronous=FULL`. One thread writes: it takes every command that is
//! waiting and commits them together, so that one flush to the disk serves many callers. A refused command undoes nothing
//! but itself: it decides before it writes, or has a savepoint of its own. A caller has its answer only after the commit.
//! Commands that ask only for order (who holds a job, what is pruned) are committed without a flush when nobody beside them
//! wants one. What is said in conversations asks for no more either, and is written by whoever asks while nobody writes and
//! nothing waits. A few threads read, each on its own read-only connection; the jobs and journals that this process wrote last
//! are known without reading, to the writer too. One thread moves the log into the database beside the writer.
//!
//! Any number of processes may have the file open. Those that write take turns, so that a short command beside a busy
//! server waits for one commit and not for a lull.
//!
//! What is asked for by value has a column; the rest of a thing is JSON. This crate knows no rule about jobs: it
//! applies the decisions it is handed.

mod backup;
mod change_tracker;
mod checkpoint;
mod concurrency_key;
mod error;
mod jobs;
mod journal;
mod keys;
mod process_lock;
mod projects;
mod prune;
mod pulls;
mod queue;
mod queue_state;
mod readers;
mod removed_projects;
mod rows;
mod schema;
mod sizes;
mod sqlite;
mod threads;
mod transaction;
mod write_connection;
mod write_guards;
mod writer;

#[cfg(test)]
mod tests;

pub use backup::{Backup, BackupError, Existing};
pub use error::OpenError;
pub use sizes::Sizes;
pub use sqlite::SqliteStore;
pub use writer::WriteCounts;
