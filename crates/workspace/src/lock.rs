//! The lock of a mirror: a file lock beside its folder, which the system releases when the process ends in any way.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::GitError;

const PAUSE: Duration = Duration::from_millis(5);

fn file(mirror: &Path) -> Result<File, GitError> {
    let path = mirror.with_extension("lock");
    let opened = File::options().create(true).truncate(false).write(true).open(path);
    opened.map_err(GitError::io("open the lock of a mirror"))
}

/// Takes the lock of the mirror in the folder `mirror`, waiting at most `limit` for others.
pub(crate) fn wait(mirror: &Path, limit: Duration) -> Result<File, GitError> {
    const DOING: &str = "wait for another fetch of the same repository";
    let file = file(mirror)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if started.elapsed() < limit => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(GitError::Timeout { doing: DOING, after: limit }),
            Err(TryLockError::Error(error)) => return Err(GitError::io(DOING)(error)),
        }
    }
}

/// Takes the lock if it is free.
pub(crate) fn at_once(mirror: &Path) -> Option<File> {
    let file = file(mirror).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Removes git's lock files from a mirror. Branches of a mirror are moved only under our own lock, which the caller
/// holds, so a lock file found here was left by a process that was killed.
pub(crate) fn sweep(mirror: &Path) {
    for name in ["HEAD.lock", "packed-refs.lock"] {
        let _ = fs::remove_file(mirror.join(name));
    }
    sweep_below(&mirror.join("refs"));
}

fn sweep_below(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path: PathBuf = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sweep_below(&path);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            let _ = fs::remove_file(path);
        }
    }
}
