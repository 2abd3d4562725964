//! The lock by which the processes that share a database take turns to write.
//!
//! SQLite waits by polling: beside a process that commits one group after another, a second process would find the lock
//! free only by luck. So a writer first takes this lock, an advisory lock on a file beside the database, then SQLite's
//! write lock, then releases this one. While one process commits, the next waits for SQLite's lock with this one held,
//! and the first must queue behind it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::NotCommitted;

/// Maximum time that a writer waits for another process.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct ProcessLock(File);

impl ProcessLock {
    /// The lock of this database: a lock file with the name of the database and `-turn` appended.
    pub(crate) fn of(database: &Path) -> std::io::Result<Self> {
        let mut name = database.as_os_str().to_owned();
        name.push("-turn");
        OpenOptions::new().create(true).append(true).open(name).map(Self)
    }

    /// Runs `work` with the lock held.
    pub(crate) fn hold<T>(&self, work: impl FnOnce() -> T) -> Result<T, NotCommitted> {
        let begun = Instant::now();
        loop {
            match self.0.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_TIMEOUT => std::thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(NotCommitted::Busy),
                Err(TryLockError::Error(error)) => return Err(NotCommitted::ProcessLock(Arc::new(error))),
            }
        }
        let result = work();
        self.0.unlock().map_err(|error| NotCommitted::ProcessLock(Arc::new(error)))?;
        Ok(result)
    }
}

/// SQLite's busy handler: retries every millisecond, up to [`LOCK_TIMEOUT`].
pub(crate) fn retry_lock(times: i32) -> bool {
    std::thread::sleep(RETRY_INTERVAL);
    Duration::from_millis(u64::try_from(times).unwrap_or(0)) < LOCK_TIMEOUT
}
