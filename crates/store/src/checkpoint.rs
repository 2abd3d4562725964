//! Moving the log into the database, beside the writer, and seeing to it that the disk has what nobody waited for.
//!
//! Whoever commits when the log is long has to move all of it, and everybody behind waits. So a thread of its own moves
//! what has gathered every now and then, which is in nobody's way; what is left for the writer is the little that was
//! written meanwhile, and after that the log begins anew. A reader that is at work on an old state only delays this.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::error::OpenError;

/// How often the length of the log is looked at.
const PAUSE: Duration = Duration::from_millis(250);
/// Pages in the log that are worth the two flushes it takes to move them.
const WORTHWHILE: i64 = 1000;

#[derive(Debug)]
pub(crate) struct Checkpoints {
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub(crate) fn start(connection: Connection, database: &Path) -> Result<Self, OpenError> {
        let (stop, stopped) = channel();
        let log = log_of(database);
        let thread = std::thread::Builder::new().name("store-checkpoint".to_owned());
        let thread = thread.spawn(move || serve(&connection, &log, &stopped));
        Ok(Self { stop, thread: Some(thread.map_err(|source| OpenError::Thread { source })?) })
    }
}

impl Checkpoints {
    /// Stops the thread once it is done with what it is at.
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

fn serve(connection: &Connection, log: &Path, stopped: &Receiver<()>) {
    let mut flushed = None;
    while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
        let look = connection
            .prepare_cached("PRAGMA wal_checkpoint(NOOP)")
            .and_then(|mut look| look.query_row([], |row| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))));
        let Ok((written, moved)) = look else { continue };
        if written - moved >= WORTHWHILE {
            // One that fails is tried again, and the writer moves the log itself when it grows too long.
            let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
        // Whoever waits for the disk has flushed it all already, and then this costs nothing.
        if flushed != Some(written) && File::open(log).and_then(|log| log.sync_data()).is_ok() {
            flushed = Some(written);
        }
    }
}

fn log_of(database: &Path) -> PathBuf {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}
