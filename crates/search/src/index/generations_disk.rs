//! Durable writes: files are synced to disk before they count; and locks.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use crate::error::SearchError;

pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), SearchError> {
    let mut file = File::create(path).map_err(disk("create", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(disk("write", path))
}

/// Syncs a folder: a file name in it survives a power cut only after that. Does nothing on systems other than Unix.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), SearchError> {
    if cfg!(unix) { File::open(dir).and_then(|dir| dir.sync_all()).map_err(disk("write", dir)) } else { Ok(()) }
}

/// Opens the file of a lock, which is created if it does not exist.
pub(crate) fn lock_file(path: &Path) -> Result<File, SearchError> {
    File::options().create(true).truncate(false).write(true).open(path).map_err(disk("open", path))
}

/// Takes a lock, which is released when the file is dropped; `None` while another process or thread has it.
pub(crate) fn try_lock(path: &Path) -> Result<Option<File>, SearchError> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(disk("lock", path)(error)),
    }
}

pub(crate) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Disk { doing, path, source }
}
