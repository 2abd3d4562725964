//! Puts a backup in the place of a database.
//!
//! ```text
//!   check the backup ─▶ copy it beside the database, check and flush the copy
//!     ─▶ move the old database's log into its file ─▶ link the old file to another name ─▶ rename the copy over it
//! ```
//!
//! A process that is killed leaves the old database or the restored one in place, each whole, and never a log beside a
//! database that it does not belong to. Restoring again finishes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use docent_types::{BoxError, Timestamp};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use thiserror::Error;

use crate::backup::{damage, damage_in, is_same_file, write};
use crate::error::OpenError;
use crate::schema::{make_folder, open_for_copying, private, read_backup_version, sync_folder};
use crate::use_lock::UseLock;

/// The endings of the files in which SQLite keeps what is not in the database's file yet.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// How long a program that has the old database open is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub bytes: u64,
    /// Where the database is that was there before.
    pub replaced: Option<PathBuf>,
}

/// Why nothing was restored. The database that was there is still in its place.
#[derive(Debug, Error)]
pub enum RestoreError {
    #[error("`{}` cannot be read", path.display())]
    Read { path: PathBuf, source: BoxError },
    #[error("`{}` is not a backup of Docent", path.display())]
    NotDocent { path: PathBuf },
    #[error(transparent)]
    Unusable(#[from] OpenError),
    #[error("`{}` is damaged ({found}): choose another backup", path.display())]
    Damaged { path: PathBuf, found: String },
    #[error("`{}` is the database itself", path.display())]
    Same { path: PathBuf },
    #[error("another process has the database `{}` open: stop it first", path.display())]
    InUse { path: PathBuf },
    #[error("could not write `{}`: check that its folder can be written to and has room", path.display())]
    Write { path: PathBuf, source: BoxError },
}

/// A file that was found to be a whole database of this version of Docent, or of one before it.
#[derive(Debug)]
pub struct CheckedBackup {
    path: PathBuf,
    connection: Connection,
}

impl CheckedBackup {
    /// Checks all of the file. It is not changed. Blocks on disk I/O.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, RestoreError> {
        let path = path.into();
        let unreadable = |source: BoxError| RestoreError::Read { path: path.clone(), source };
        // SQLite says less about why it cannot open a file.
        let is_file = File::open(&path).and_then(|file| file.metadata()).map_err(|error| unreadable(error.into()))?;
        if !is_file.is_file() {
            return Err(RestoreError::NotDocent { path });
        }
        let connection = open_backup(&path).map_err(unreadable)?;
        match read_backup_version(&connection, &path) {
            Ok(0) | Err(OpenError::Foreign { .. }) => return Err(RestoreError::NotDocent { path }),
            Err(OpenError::Open { source, .. }) => {
                return Err(match source.sqlite_error_code() {
                    Some(ErrorCode::NotADatabase) => RestoreError::NotDocent { path },
                    Some(ErrorCode::DatabaseCorrupt) => RestoreError::Damaged { path, found: source.to_string() },
                    _ => unreadable(source.into()),
                });
            }
            Err(other) => return Err(other.into()),
            Ok(_) => {}
        }
        match damage_in(&connection) {
            Ok(None) => Ok(Self { path, connection }),
            Ok(Some(found)) => Err(RestoreError::Damaged { path, found }),
            Err(error) => Err(RestoreError::Damaged { path, found: error.to_string() }),
        }
    }

    /// Makes the backup the database at this path, in a new folder if needed. A database that is there is kept under
    /// another name, which has the time `now`. Blocks on disk I/O.
    pub fn restore_to(self, database: &Path, now: Timestamp) -> Result<Restored, RestoreError> {
        let failed = |source: BoxError| RestoreError::Write { path: database.to_owned(), source };
        let in_use = || RestoreError::InUse { path: database.to_owned() };
        if is_same_file(&self.path, database) {
            return Err(RestoreError::Same { path: self.path });
        }
        make_folder(database).map_err(|error| failed(error.into()))?;
        let _alone = UseLock::alone(database).map_err(|error| failed(error.into()))?.ok_or_else(in_use)?;
        let draft = with_ending(database, ".restoring");
        let bytes = self.write_draft(&draft).map_err(failed)?;
        if let Some(found) = damage(&draft).map_err(failed)? {
            return Err(RestoreError::Damaged { path: draft, found });
        }
        match fold_log(database) {
            Ok(mode) if mode != "delete" => return Err(in_use()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => return Err(in_use()),
            // A damaged database is kept with what SQLite leaves of its log.
            _ => {}
        }
        let replaced = keep(database, now).map_err(|error| failed(error.into()))?;
        let place = || {
            fs::rename(&draft, database)?;
            sync_folder(database)
        };
        place().map_err(|error| failed(error.into()))?;
        Ok(Restored { bytes, replaced })
    }

    /// Writes the draft and flushes it; returns its size in bytes.
    fn write_draft(&self, draft: &Path) -> Result<u64, BoxError> {
        // Left behind by a process that died.
        absent(fs::remove_file(with_ending(draft, "-journal")))?;
        absent(fs::remove_file(draft))?;
        let file = private(OpenOptions::new().write(true).create_new(true)).open(draft)?;
        write(&self.connection, draft)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    }
}

/// Opens a backup to read it. Without a log beside it no process has it open, and SQLite is told so: then it makes no
/// files beside it either.
fn open_backup(path: &Path) -> Result<Connection, BoxError> {
    if LOGS.iter().any(|log| with_ending(path, log).exists()) {
        return Ok(open_for_copying(path)?);
    }
    let path = fs::canonicalize(path)?;
    let mut uri = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(uri, flags)?)
}

/// Moves the log of a database into its file, and removes the log. Returns `delete`, or another mode of the journal if a
/// program that does not know our lock has the database open.
fn fold_log(database: &Path) -> rusqlite::Result<String> {
    let connection =
        Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))
}

/// Gives the database a second name, and takes its log away from the first; returns the second name.
fn keep(database: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let logs = || LOGS.into_iter().filter(|ending| with_ending(database, ending).exists());
    let mut kept = None;
    if database.exists() || logs().next().is_some() {
        let name = with_ending(database, &format!(".replaced-{}", now.to_string().replace([':', '.'], "-")));
        let names = (1..).map(|n| if n == 1 { name.clone() } else { with_ending(&name, &format!("-{n}")) });
        for name in names {
            match absent(fs::hard_link(database, &name)) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                linked => linked?,
            }
            for log in logs() {
                fs::hard_link(with_ending(database, log), with_ending(&name, log))?;
            }
            kept = Some(name);
            break;
        }
        sync_folder(database)?;
    }
    for ending in LOGS.into_iter().chain(["-shm"]) {
        absent(fs::remove_file(with_ending(database, ending)))?;
    }
    sync_folder(database)?;
    Ok(kept)
}

/// Success if the file is not there.
fn absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
