//! Checks whether the server can store what it accepts: the state behind `/readyz`, apart from draining.
//!
//! Reading still works on a full disk, so the check writes a file to the data folder and flushes it. The endpoint needs
//! no key, so the check runs at most every few seconds.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};
use tracing::{info, warn};

use crate::failure::Failure;
use crate::wiring::storage::Storage;

/// How long a result is reused.
const FRESH: Duration = Duration::from_secs(3);
/// Timeout of the check.
const PATIENCE: Duration = Duration::from_secs(5);
/// The size of the probe file, in bytes: about what a small job writes before its first flush.
const ROOM: usize = 64 * 1024;
/// The probe file, which is written and removed.
const PROBE: &str = "ready.probe";

/// Checks the data folder and the store in it.
#[derive(Debug)]
pub(crate) struct Readiness {
    folder: PathBuf,
    store: Arc<dyn Storage>,
    fresh: Duration,
    last: Mutex<Option<(Instant, Verdict)>>,
    /// Locked while the file is written, even if the request is dropped meanwhile.
    writing: Arc<Mutex<()>>,
}

/// The error is a sentence for the caller; its cause is logged.
type Verdict = Result<(), &'static str>;

impl Readiness {
    pub(crate) fn new(folder: PathBuf, store: Arc<dyn Storage>) -> Self {
        Self { folder, store, fresh: FRESH, last: Mutex::default(), writing: Arc::default() }
    }

    /// # Errors
    /// The reason why nothing can be stored, and what to do about it.
    pub(crate) async fn check(&self) -> Verdict {
        // Concurrent requests wait for the same result.
        let mut last = self.last.lock().await;
        if let Some((at, verdict)) = *last
            && at.elapsed() < self.fresh
        {
            return verdict;
        }
        let verdict = match self.probe().await {
            Ok(()) => Ok(()),
            Err((sentence, failure)) => {
                if last.is_none_or(|(_, before)| before != Err(sentence)) {
                    warn!("not ready: {failure}");
                }
                Err(sentence)
            }
        };
        if verdict.is_ok() && last.is_some_and(|(_, before)| before.is_err()) {
            info!("ready again");
        }
        *last = Some((Instant::now(), verdict));
        verdict
    }

    async fn probe(&self) -> Result<(), (&'static str, Failure)> {
        let stuck = || {
            let failure = Failure::plain(format!("nothing was written within {} s", PATIENCE.as_secs()));
            ("the disk of the data folder does not answer; see to it", failure)
        };
        let Ok(turn) = Arc::clone(&self.writing).try_lock_owned() else { return Err(stuck()) };
        let folder = self.folder.clone();
        let write = spawn_blocking(move || {
            let _turn = turn;
            probe(&folder)
        });
        let written = timeout(PATIENCE, write).await.map_err(|_| stuck())?;
        if let Err(error) = written.unwrap_or_else(|stopped| Err(io::Error::other(stopped))) {
            let sentence = sentence(&error);
            return Err((sentence, Failure::new(format!("cannot write to {}", self.folder.display()), error)));
        }
        let ready = match timeout(PATIENCE, self.store.ready()).await {
            Ok(ready) => ready.map_err(Failure::from),
            Err(_) => Err(Failure::plain(format!("the store did not answer within {} s", PATIENCE.as_secs()))),
        };
        ready.map_err(|failure| ("the store does not answer; see the server's log", failure))
    }
}

/// Writes a file, flushes it to the disk, and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(PROBE);
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(&[0; ROOM])?;
        file.sync_all()
    });
    let removed = fs::remove_file(&path);
    written.and(removed)
}

fn sentence(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk of the data folder is full; make room on it",
        ErrorKind::ReadOnlyFilesystem => "the disk of the data folder can only be read; make it writable again",
        _ => "the data folder cannot be written to; see the server's log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::storage::open_sqlite;

    fn at(folder: &Path, fresh: Duration) -> Readiness {
        let store = open_sqlite(folder).expect("opens");
        Readiness { fresh, ..Readiness::new(folder.join("data"), Arc::new(store)) }
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_to_is_not_ready_until_it_can() {
        let home = tempfile::tempdir().expect("a folder");
        let readiness = at(home.path(), Duration::ZERO);
        assert_eq!(readiness.check().await, Err("the data folder cannot be written to; see the server's log"));
        fs::create_dir(home.path().join("data")).expect("a folder");
        assert_eq!(readiness.check().await, Ok(()));
        assert_eq!(fs::read_dir(home.path().join("data")).expect("reads").count(), 0, "nothing is left behind");
        readiness.store.close().await.expect("closes");
        assert_eq!(readiness.check().await, Err("the store does not answer; see the server's log"));
    }

    #[tokio::test]
    async fn an_answer_stands_for_a_while() {
        let home = tempfile::tempdir().expect("a folder");
        let readiness = at(home.path(), Duration::from_secs(3600));
        fs::create_dir(home.path().join("data")).expect("a folder");
        assert_eq!(readiness.check().await, Ok(()));
        fs::remove_dir(home.path().join("data")).expect("removed");
        assert_eq!(readiness.check().await, Ok(()), "nothing is written for each who asks");
    }

    #[tokio::test]
    async fn a_write_that_hangs_is_not_joined_by_a_second_one() {
        let home = tempfile::tempdir().expect("a folder");
        let readiness = at(home.path(), Duration::ZERO);
        fs::create_dir(home.path().join("data")).expect("a folder");
        let hanging = Arc::clone(&readiness.writing).try_lock_owned().expect("free");
        assert_eq!(readiness.check().await, Err("the disk of the data folder does not answer; see to it"));
        drop(hanging);
        assert_eq!(readiness.check().await, Ok(()));
    }

    #[test]
    fn a_full_disk_is_called_that() {
        let told = |kind| sentence(&io::Error::from(kind));
        assert!(told(ErrorKind::StorageFull).contains("full"));
        assert!(told(ErrorKind::QuotaExceeded).contains("full"));
        assert!(told(ErrorKind::ReadOnlyFilesystem).contains("only be read"));
        assert!(told(ErrorKind::PermissionDenied).contains("cannot be written"));
    }
}
