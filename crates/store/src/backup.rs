//! Copies of the database, made while it is in use.

mod draft;
mod target;

use std::path::{Path, PathBuf};

use docent_types::BoxError;
use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use self::draft::Draft;
pub use self::target::is_same_file;
use crate::schema::{open_for_copying, sync_folder};
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
    #[error(
        "`{}` is a file of the database `{}`, or of a name that belongs to it: choose a file elsewhere",
        path.display(),
        database.display()
    )]
    Own { path: PathBuf, database: PathBuf },
    #[error(
        "`{}` cannot be replaced while `{}` lies beside it, because SQLite takes one for a part of the other: choose \
         another name",
        path.display(),
        file.display()
    )]
    Beside { path: PathBuf, file: PathBuf },
    #[error("could not write the copy `{}`: check that its folder exists, can be written to and has room", path.display())]
    Write { path: PathBuf, source: BoxError },
    #[error("the copy `{}` is damaged, and was thrown away: check the disk, and the database itself with `doctor`", path.display())]
    Damaged { path: PathBuf, found: String },
}

impl SqliteStore {
    /// Copies the database as of one moment, while it is read and written. The copy is one compacted file, checked for
    /// damage and flushed to the disk before it gets its name; until then it lies beside it under a temporary name. The
    /// next copy to the same folder removes what a process that died has left there.
    pub async fn backup(&self, to: impl Into<PathBuf>, existing: Existing) -> Result<Backup, BackupError> {
        let (from, to) = (self.path().to_owned(), to.into());
        let path = to.clone();
        let copied = tokio::task::spawn_blocking(move || copy(&from, &to, existing)).await;
        copied.unwrap_or_else(|panic| Err(BackupError::Write { path, source: panic.into() }))
    }
}

fn copy(from: &Path, to: &Path, existing: Existing) -> Result<Backup, BackupError> {
    let refused = || BackupError::Exists { path: to.to_owned() };
    let failed = |source| BackupError::Write { path: to.to_owned(), source };
    target::check(from, to)?;
    if existing == Existing::Refuse && to.exists() {
        return Err(refused());
    }
    let draft = Draft::beside(to).map_err(|error| failed(error.into()))?;
    let source = open_for_copying(from).map_err(|error| failed(error.into()))?;
    write(&source, draft.path()).map_err(failed)?;
    if let Some(found) = damage(draft.path()).map_err(failed)? {
        return Err(BackupError::Damaged { path: to.to_owned(), found });
    }
    let bytes = draft.sync().map_err(|error| failed(error.into()))?;
    let named = match existing {
        Existing::Replace => std::fs::rename(draft.path(), to),
        // Unlike a rename, a hard link does not replace a file created meanwhile.
        Existing::Refuse => std::fs::hard_link(draft.path(), to),
    };
    match named.and_then(|()| sync_folder(to)) {
        Ok(()) => Ok(Backup { path: to.to_owned(), bytes }),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(refused()),
        Err(error) => Err(failed(error.into())),
    }
}

/// Writes the database of a connection, as of one moment, to an empty file.
pub(crate) fn write(source: &Connection, to: &Path) -> Result<(), BoxError> {
    source.execute("VACUUM INTO ?1", [to.to_str().ok_or("the name of the copy is not UTF-8")?])?;
    Ok(())
}

/// The first damage in a database that no process uses; `None` if it is sound.
pub(crate) fn damage(path: &Path) -> Result<Option<String>, BoxError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    damage_in(&connection)
}

/// The first damage in the database of a connection; `None` if it is sound.
pub(crate) fn damage_in(connection: &Connection) -> Result<Option<String>, BoxError> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok(Some(found).filter(|found| found != "ok"))
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
