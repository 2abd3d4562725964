//! Copies of the database, made while it is in use.

use std::fs::File;
use std::path::{Path, PathBuf};

use docent_types::BoxError;
use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use crate::schema::{make, open_for_copying, sync_folder};
use crate::sqlite::SqliteStore;

/// What to do when a file already exists at the copy's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Refuse,
    Replace,
}

/// A finished copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    pub path: PathBuf,
    pub bytes: u64,
}

/// Why no copy was made. An existing file is left unchanged.
#[derive(Debug, Error)]
pub enum BackupError {
    #[error("`{}` exists already: choose another name, or ask for it to be replaced", path.display())]
    Exists { path: PathBuf },
    #[error("could not write the copy `{}`: check that its folder exists, can be written to and has room", path.display())]
    Write { path: PathBuf, source: BoxError },
    #[error("the copy `{}` is damaged, and was thrown away: check the disk, and the database itself with `doctor`", path.display())]
    Damaged { path: PathBuf, found: String },
}

impl SqliteStore {
    /// Copies the database as of one moment, while it is read and written. The copy is one compacted file, checked for
    /// damage and flushed to the disk before it gets its name; until then it lies beside it with `.tmp` appended.
    pub async fn backup(&self, to: impl Into<PathBuf>, existing: Existing) -> Result<Backup, BackupError> {
        let (from, to) = (self.path().to_owned(), to.into());
        let path = to.clone();
        let copied = tokio::task::spawn_blocking(move || copy(&from, &to, existing)).await;
        copied.unwrap_or_else(|panic| Err(BackupError::Write { path, source: panic.into() }))
    }
}

fn copy(from: &Path, to: &Path, existing: Existing) -> Result<Backup, BackupError> {
    let refused = |path: &Path| BackupError::Exists { path: path.to_owned() };
    if existing == Existing::Refuse && to.exists() {
        return Err(refused(to));
    }
    let mut name = to.as_os_str().to_owned();
    name.push(".tmp");
    let draft = PathBuf::from(name);
    let done = write(from, &draft).and_then(|bytes| {
        let named = match existing {
            Existing::Replace => std::fs::rename(&draft, to),
            // Unlike a rename, a hard link does not replace a file created meanwhile.
            Existing::Refuse => std::fs::hard_link(&draft, to).and_then(|()| std::fs::remove_file(&draft)),
        };
        match named.and_then(|()| sync_folder(to)) {
            Ok(()) => Ok(Backup { path: to.to_owned(), bytes }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(refused(to)),
            Err(error) => Err(BackupError::Write { path: to.to_owned(), source: error.into() }),
        }
    });
    if done.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    done
}

/// Writes and checks the draft, and returns its size in bytes.
fn write(from: &Path, draft: &Path) -> Result<u64, BackupError> {
    let begin = || {
        // Removes the draft of an earlier copy that was interrupted.
        let _ = std::fs::remove_file(draft);
        make(draft)?;
        let source = open_for_copying(from)?;
        source.execute("VACUUM INTO ?1", [draft.to_str().ok_or("the name of the copy is not UTF-8")?])?;
        Ok::<_, BoxError>(())
    };
    let failed = |source| BackupError::Write { path: draft.to_owned(), source };
    begin().map_err(failed)?;
    let check = || {
        let copy = Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok::<_, BoxError>(copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))?)
    };
    let found = check().map_err(failed)?;
    if found != "ok" {
        return Err(BackupError::Damaged { path: draft.to_owned(), found });
    }
    let flush = || {
        let file = File::open(draft)?;
        file.sync_all()?;
        Ok::<_, BoxError>(file.metadata()?.len())
    };
    flush().map_err(failed)
}
