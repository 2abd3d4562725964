//! Storage on SQLite: the ports of `docent-jobs`, `docent-access`, `docent-operators`, `docent-forge` and
//! `docent-assistant`.
//!
//! One database file, in write-ahead mode with `synchronous=FULL`. One thread writes: it takes every command that is
//! waiting and commits them together, so that one flush of the disk serves many callers. A refused command undoes only
//! itself: it decides before it writes, or has a savepoint of its own. A caller gets its answer after the commit.
//! Commands of `Durability::Ordered` (such as leases, pruning and turns of conversations) are committed without a flush
//! when no other command of the group needs one. A few threads read, each on its own read-only connection; the jobs and
//! journals that this process wrote last are cached, for the writer too. One thread checkpoints the log beside the
//! writer.
//!
//! Any number of processes may have the file open. Their writers take turns, so a short command beside a busy server
//! waits for one commit only. A backup takes the place of the file when none has.
//!
//! Values by which records are looked up have columns; the rest of a record is JSON. This crate knows no rule about
//! jobs: it applies the decisions it is given.

mod backup;
mod change_tracker;
mod checkpoint;
mod concurrency_key;
mod error;
mod job_search;
mod jobs;
mod journal;
mod keys;
mod operator_names;
mod operators;
mod outbox;
mod process_lock;
mod projects;
mod prune;
mod pulls;
mod questions;
mod queue;
mod queue_state;
mod readers;
mod removed_projects;
mod restore;
mod rows;
mod schema;
mod searches;
mod sizes;
mod spends;
mod sqlite;
mod threads;
mod transaction;
mod use_lock;
mod write_connection;
mod write_guards;
mod writer;

#[cfg(test)]
mod tests;

pub use backup::{Backup, BackupError, Existing, is_same_file};
pub use error::OpenError;
pub use restore::{CheckedBackup, RestoreError, Restored};
pub use sizes::Sizes;
pub use sqlite::SqliteStore;
pub use writer::WriteCounts;
