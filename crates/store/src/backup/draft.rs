//! The file in which a copy is written before it gets its name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::schema::{make_folder, private};

/// The ending of drafts.
const ENDING: &str = ".docent-copy";

/// A draft beside its target. It is locked for as long as it is written, so that one without a lock is known to be left
/// behind by a process that died. Removed when dropped, unless it got its name.
#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    lock: File,
}

impl Draft {
    /// Makes an empty draft readable by this user alone, and removes those in its folder that were left behind.
    pub(super) fn beside(to: &Path) -> io::Result<Self> {
        make_folder(to)?;
        remove_abandoned(super::folder_of(to));
        let mut name = to.as_os_str().to_owned();
        name.push(format!(".{}{ENDING}", std::process::id()));
        let path = PathBuf::from(name);
        loop {
            let lock = private(OpenOptions::new().write(true).create_new(true)).open(&path)?;
            match lock.try_lock() {
                // Another process may have taken it for abandoned before it was locked.
                Ok(()) if is_still_at(&lock, &path) => return Ok(Self { path, lock }),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes the draft, and returns its size in bytes.
    pub(super) fn sync(&self) -> io::Result<u64> {
        self.lock.sync_all()?;
        Ok(self.lock.metadata()?.len())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a draft, after the journal that SQLite may have left beside it. What cannot be removed costs room only.
fn remove(draft: &Path) {
    let mut journal = draft.as_os_str().to_owned();
    journal.push("-journal");
    let _ = fs::remove_file(journal);
    let _ = fs::remove_file(draft);
}

/// Removes the drafts that no process has locked.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_draft = entry.file_name().to_str().is_some_and(|name| name.ends_with(ENDING));
        // A link is not followed, because drafts are files.
        if is_draft
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            remove(&entry.path());
        }
    }
}

/// Whether the open file is the one at this path.
fn is_still_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let place = |found: fs::Metadata| (found.dev(), found.ino());
        file.metadata().map(place).is_ok_and(|open| fs::metadata(path).map(place).is_ok_and(|found| found == open))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
