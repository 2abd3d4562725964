//! Checkpoints the write-ahead log beside the writer, and flushes commits that nobody waited for.
//!
//! A commit that finds the log too long must move all of it into the database, and every later commit waits. So a
//! separate thread checkpoints at intervals, which does not block the writer; the writer then has only the few pages
//! written meanwhile left to move before it can restart the log. A reader of an old snapshot merely delays this.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::error::OpenError;

/// Interval between two checks of the log's length.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Number of pages in the log that justify the two flushes of a checkpoint.
const CHECKPOINT_PAGES: i64 = 1000;
/// Number of pages in the log from which the writer checkpoints and restarts it.
const RESTART_PAGES: u32 = 8000;

/// The length of the log after the last commit, for the writer.
#[derive(Debug)]
pub(crate) struct LogLength(AtomicU32);

impl LogLength {
    /// The log of a database that was just opened.
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Records the length after a commit, in pages.
    pub(crate) fn set_length(&self, pages: i32) {
        self.0.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
    }

    /// Whether the writer should checkpoint.
    pub(crate) fn is_long(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= RESTART_PAGES
    }
}

#[derive(Debug)]
pub(crate) struct Checkpoints {
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(crate) fn start(connection: Connection, database: &Path) -> Result<Self, OpenError> {
        let (stop, stopped) = channel();
        let file = log_of(database);
        let thread = std::thread::Builder::new().name("store-checkpoint".to_owned());
        let thread = thread.spawn(move || serve(&connection, &file, &stopped));
        Ok(Self { stop, thread: Some(thread.map_err(|source| OpenError::Thread { source })?) })
    }
}

impl Checkpoints {
    /// Stops the thread after its current checkpoint.
    pub(crate) fn close(&self) {
        let _ = self.stop.send(());
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn serve(connection: &Connection, file: &Path, stopped: &Receiver<()>) {
    let mut flushed = None;
    while stopped.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let Ok((written, moved)) = pages(connection, "PRAGMA wal_checkpoint(NOOP)") else { continue };
        if written - moved >= CHECKPOINT_PAGES {
            // A failed checkpoint is tried again, and the writer checkpoints itself when the log grows too long.
            let _ = pages(connection, "PRAGMA wal_checkpoint(PASSIVE)");
        }
        // Costs nothing if a flushed commit has already covered everything written.
        if flushed != Some(written) && File::open(file).and_then(|file| file.sync_data()).is_ok() {
            flushed = Some(written);
        }
    }
}

/// The number of pages in the log, and of those already moved into the database.
fn pages(connection: &Connection, sql: &str) -> rusqlite::Result<(i64, i64)> {
    connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(1)?, row.get(2)?)))
}

fn log_of(database: &Path) -> PathBuf {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}
