//! Transactions: a group of commands, all or nothing.
//!
//! ```text
//!   BEGIN IMMEDIATE
//!     command 1                                        (decides, then writes)
//!     SAVEPOINT · command 2 · RELEASE                  (decides as it writes)
//!     SAVEPOINT · command 3 · ROLLBACK TO, RELEASE     (refused)
//!     …all that is queued
//!   COMMIT
//! ```
//!
//! A savepoint costs a copy of every page written under it, so it is omitted for a command that decides before its
//! first write, and for one that is alone in its group. If storage fails in the middle of such a command's writes, its
//! whole group is rolled back.

use std::sync::Arc;
use std::time::Instant;

use docent_types::WorkDurations;
use rusqlite::Connection;
use rusqlite::hooks::Wal;

use crate::change_tracker::ChangeTracker;
use crate::checkpoint::LogLength;
use crate::error::NotCommitted;
use crate::process_lock::ProcessLock;
use crate::write_connection::WriteConnection;

/// What a command guarantees after a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Durability {
    /// Durable with the next flushed commit: the log is written in order, and a flush covers all of it.
    Ordered,
    /// Durable before it is answered.
    Flushed,
}

/// When a command may refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decides {
    /// Before its first write. A later error is one of the storage.
    BeforeWriting,
    /// At any time.
    WhileWriting,
}

/// The work of a caller that waits for its result.
pub(crate) trait Command: Send {
    fn durability(&self) -> Durability;
    fn decides(&self) -> Decides;
    /// Runs the work; returns whether its writes are to be kept.
    fn run(&mut self, connection: &WriteConnection) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), NotCommitted>);
}

/// How much of a command's writes is in the transaction after the command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Applied {
    /// All of the command's writes, or none.
    Whole,
    /// A part of the command's writes.
    Partial,
}

/// The writing connection, and its state between two transactions.
#[derive(Debug)]
pub(crate) struct Transactions {
    connection: WriteConnection,
    lock: ProcessLock,
    /// The durability of the next commit.
    durability: Durability,
    version: Option<i64>,
    log: Arc<LogLength>,
    commits: Arc<WorkDurations>,
}

impl Transactions {
    /// `connection` must be set to flush.
    pub(crate) fn new(
        mut connection: Connection,
        lock: ProcessLock,
        changes: Arc<ChangeTracker>,
        commits: Arc<WorkDurations>,
    ) -> rusqlite::Result<Self> {
        let log = Arc::new(LogLength::new());
        let hook_log = Arc::clone(&log);
        let committed = move |_: &mut Wal, pages| {
            hook_log.set_length(pages);
            Ok(())
        };
        connection.wal_hook(Some(committed))?;
        Ok(Self {
            connection: WriteConnection::new(connection, changes),
            lock,
            durability: Durability::Flushed,
            version: None,
            log,
            commits,
        })
    }

    /// Runs one transaction.
    pub(crate) fn write(&mut self, durability: Durability, group: &mut [Box<dyn Command>]) -> Result<(), NotCommitted> {
        let failed = |error| NotCommitted::Begin(Arc::new(error));
        self.set_durability(durability).map_err(failed)?;
        self.lock.hold(|| self.run("BEGIN IMMEDIATE"))?.map_err(failed)?;
        self.finish(group)
    }

    /// Ends the transaction; its commands have been answered.
    pub(crate) fn end_transaction(&self) {
        self.connection.end_transaction();
    }

    /// Checkpoints the log when it is long. A failed checkpoint is tried again.
    pub(crate) fn checkpoint_if_long(&self) {
        if self.log.is_long() {
            let _ = self.checkpoint();
        }
    }

    /// Checkpoints the log. Passive: it does not wait for other users of the file.
    pub(crate) fn checkpoint(&self) -> rusqlite::Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }

    /// Runs the commands of a transaction, and commits it.
    fn finish(&mut self, group: &mut [Box<dyn Command>]) -> Result<(), NotCommitted> {
        let failed = |error| NotCommitted::Begin(Arc::new(error));
        // No other process writes from here on, so this check is valid until the commit.
        let begun = self.check_other_processes().map_err(failed);
        let committed =
            begun.and_then(|()| self.commit(group).unwrap_or_else(|error| Err(NotCommitted::Commit(Arc::new(error)))));
        if committed.is_err() {
            self.connection.mark_undone();
        }
        if !self.connection.is_autocommit() {
            // If even this fails, the next BEGIN fails and reports it.
            let _ = self.run("ROLLBACK");
        }
        committed
    }

    /// Sets the durability of the next commits. Must be called between two transactions, because SQLite refuses it
    /// inside one, and is prepared each time, because the pragma takes effect when it is prepared.
    fn set_durability(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if durability != self.durability {
            self.connection.execute_batch(match durability {
                Durability::Flushed => "PRAGMA synchronous = FULL",
                Durability::Ordered => "PRAGMA synchronous = NORMAL",
            })?;
            self.durability = durability;
        }
        Ok(())
    }

    /// Checks whether other processes have written.
    pub(crate) fn check_other_processes(&mut self) -> rusqlite::Result<()> {
        self.connection.check_other_processes(&mut self.version)
    }

    fn commit(&self, group: &mut [Box<dyn Command>]) -> rusqlite::Result<Result<(), NotCommitted>> {
        if let [command] = group {
            return self.commit_alone(&mut **command);
        }
        for command in group {
            let applied = match command.decides() {
                Decides::BeforeWriting => self.carry_out(&mut **command),
                Decides::WhileWriting => self.carry_out_or_undo(&mut **command)?,
            };
            if self.connection.is_autocommit() || applied == Applied::Partial {
                return Ok(Err(NotCommitted::RolledBack));
            }
        }
        self.run_commit().map(Ok)
    }

    /// For a group of one command, which undoes its writes by rolling back the transaction.
    fn commit_alone(&self, command: &mut dyn Command) -> rusqlite::Result<Result<(), NotCommitted>> {
        let before = self.connection.total_changes();
        let keep = command.run(&self.connection);
        if self.connection.is_autocommit() {
            return Ok(Err(NotCommitted::RolledBack));
        }
        let is_unchanged = self.connection.total_changes() == before;
        if command.decides() == Decides::BeforeWriting && is_unchanged {
            return self.run("COMMIT").map(Ok);
        }
        if keep {
            return self.run_commit().map(Ok);
        }
        self.connection.mark_undone();
        self.run("ROLLBACK").map(Ok)
    }

    fn carry_out(&self, command: &mut dyn Command) -> Applied {
        let before = self.connection.total_changes();
        let keep = command.run(&self.connection);
        if keep || self.connection.total_changes() == before { Applied::Whole } else { Applied::Partial }
    }

    fn carry_out_or_undo(&self, command: &mut dyn Command) -> rusqlite::Result<Applied> {
        self.run("SAVEPOINT command")?;
        let keep = command.run(&self.connection);
        if self.connection.is_autocommit() {
            return Ok(Applied::Partial);
        }
        if !keep {
            self.run("ROLLBACK TO command")?;
            self.connection.mark_undone();
        }
        self.run("RELEASE command")?;
        Ok(Applied::Whole)
    }

    fn run_commit(&self) -> rusqlite::Result<()> {
        let begun = Instant::now();
        self.commits.record(begun, self.run("COMMIT"))
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}
