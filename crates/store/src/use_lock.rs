//! Who has the database open: each process that does holds a lock, shared; one that replaces the file holds it alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use crate::schema::private;

/// Released when dropped, and when the process ends.
#[derive(Debug)]
pub(crate) struct UseLock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl UseLock {
    /// `None` while another process replaces the database.
    pub(crate) fn shared(database: &Path) -> io::Result<Option<Self>> {
        Self::of(database, File::try_lock_shared)
    }

    /// `None` while a process has the database open.
    pub(crate) fn alone(database: &Path) -> io::Result<Option<Self>> {
        Self::of(database, File::try_lock)
    }

    fn of(database: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> io::Result<Option<Self>> {
        let mut name = database.as_os_str().to_owned();
        name.push("-use");
        let file = private(OpenOptions::new().create(true).append(true)).open(name)?;
        match lock(&file) {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
