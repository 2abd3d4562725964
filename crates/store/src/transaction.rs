//! Transactions: a group of commands, all or nothing.
//!
//! ```text
//!   BEGIN IMMEDIATE
//!     command 1                                        (decides, then writes)
//!     SAVEPOINT · command 2 · RELEASE                  (decides as it writes)
//!     SAVEPOINT · command 3 · ROLLBACK TO, RELEASE     (refused)
//!     …all that was waiting
//!   COMMIT
//! ```
//!
//! A savepoint costs a copy of every page that is written under it, so a command that is refused before it has written
//! anything goes without, and so does one that is alone in its group. If the storage fails under one in the middle of its
//! writes, its whole group is undone.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use crate::change_tracker::ChangeTracker;
use crate::checkpoint::Log;
use crate::error::NotCommitted;
use crate::process_lock::ProcessLock;
use crate::write_connection::WriteConnection;

/// How a command outlives the loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Durability {
    /// With the next commit that is flushed: the log is written in order, and flushing it flushes all of it.
    Ordered,
    /// Before it is answered.
    Flushed,
}

/// When a command decides whether it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decides {
    /// Before its first write. What fails after that is the storage.
    BeforeWriting,
    /// At any time.
    WhileWriting,
}

/// A piece of work with somebody waiting for it.
pub(crate) trait Command: Send {
    fn durability(&self) -> Durability;
    fn decides(&self) -> Decides;
    /// Does the work; says whether what it wrote is to be kept.
    fn run(&mut self, connection: &WriteConnection) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), NotCommitted>);
}

/// What is in the transaction of a command that was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// All that it wrote, or nothing.
    Whole,
    /// A part.
    Torn,
}

/// What writes, and what it knows of the database between two transactions.
#[derive(Debug)]
pub(crate) struct Transactions {
    connection: WriteConnection,
    lock: ProcessLock,
    /// How the next commit is to last.
    durability: Durability,
    version: Option<i64>,
    log: Arc<Log>,
}

impl Transactions {
    /// `connection` was opened to flush.
    pub(crate) fn new(
        mut connection: Connection,
        lock: ProcessLock,
        changes: Arc<ChangeTracker>,
    ) -> rusqlite::Result<Self> {
        let log = Arc::new(Log::new());
        let grown = Arc::clone(&log);
        let committed = move |_: &mut Wal, pages| {
            grown.grew_to(pages);
            Ok(())
        };
        connection.wal_hook(Some(committed))?;
        Ok(Self {
            connection: WriteConnection::new(connection, changes),
            lock,
            durability: Durability::Flushed,
            version: None,
            log,
        })
    }

    /// One transaction.
    pub(crate) fn write(&mut self, durability: Durability, group: &mut [Box<dyn Command>]) -> Result<(), NotCommitted> {
        let failed = |error| NotCommitted::Begin(Arc::new(error));
        self.set_durability(durability).map_err(failed)?;
        self.lock.hold(|| self.run("BEGIN IMMEDIATE"))?.map_err(failed)?;
        self.finish(group)
    }

    /// The transaction is over, and whoever it was for is told.
    pub(crate) fn clean(&self) {
        self.connection.clean();
    }

    /// Moves the log into the database when it is long. One that fails is tried again.
    pub(crate) fn tidy(&self) {
        if self.log.is_long() {
            let _ = self.move_log();
        }
    }

    /// Moves the log into the database. Passive: it waits for nobody else who has the file open.
    pub(crate) fn move_log(&self) -> rusqlite::Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }

    /// Does what a transaction is for, and ends it.
    fn finish(&mut self, group: &mut [Box<dyn Command>]) -> Result<(), NotCommitted> {
        let failed = |error| NotCommitted::Begin(Arc::new(error));
        // Nobody else writes from here on, so this is what is known until the commit.
        let begun = self.look().map_err(failed);
        let committed =
            begun.and_then(|()| self.commit(group).unwrap_or_else(|error| Err(NotCommitted::Commit(Arc::new(error)))));
        if committed.is_err() {
            self.connection.undone();
        }
        if !self.connection.is_autocommit() {
            // If even this fails, the next BEGIN does, and says so.
            let _ = self.run("ROLLBACK");
        }
        committed
    }

    /// Says how the next commits are to last. Between two transactions, as SQLite refuses it inside one; and prepared
    /// anew each time, as it takes effect when it is prepared.
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

    /// Looks whether others have written.
    pub(crate) fn look(&mut self) -> rusqlite::Result<()> {
        self.connection.look(&mut self.version)
    }

    fn commit(&self, group: &mut [Box<dyn Command>]) -> rusqlite::Result<Result<(), NotCommitted>> {
        if let [command] = group {
            return self.commit_alone(&mut **command);
        }
        for command in group {
            let done = match command.decides() {
                Decides::BeforeWriting => self.carry_out(&mut **command),
                Decides::WhileWriting => self.carry_out_or_undo(&mut **command)?,
            };
            if self.connection.is_autocommit() || done == Done::Torn {
                return Ok(Err(NotCommitted::RolledBack));
            }
        }
        self.run("COMMIT").map(Ok)
    }

    /// What one command undoes is the whole transaction.
    fn commit_alone(&self, command: &mut dyn Command) -> rusqlite::Result<Result<(), NotCommitted>> {
        let before = self.connection.total_changes();
        let keep = command.run(&self.connection);
        if self.connection.is_autocommit() {
            return Ok(Err(NotCommitted::RolledBack));
        }
        if keep || (command.decides() == Decides::BeforeWriting && self.connection.total_changes() == before) {
            return self.run("COMMIT").map(Ok);
        }
        self.connection.undone();
        self.run("ROLLBACK").map(Ok)
    }

    fn carry_out(&self, command: &mut dyn Command) -> Done {
        let before = self.connection.total_changes();
        let keep = command.run(&self.connection);
        if keep || self.connection.total_changes() == before { Done::Whole } else { Done::Torn }
    }

    fn carry_out_or_undo(&self, command: &mut dyn Command) -> rusqlite::Result<Done> {
        self.run("SAVEPOINT command")?;
        let keep = command.run(&self.connection);
        if self.connection.is_autocommit() {
            return Ok(Done::Torn);
        }
        if !keep {
            self.run("ROLLBACK TO command")?;
            self.connection.undone();
        }
        self.run("RELEASE command")?;
        Ok(Done::Whole)
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}
