//! Which paths must not get a copy: those of the database itself, and those that SQLite would take for a part of a
//! database.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::BackupError;

/// The endings of the files that SQLite keeps beside a database.
const LOGS: [&str; 3] = ["-wal", "-journal", "-shm"];

/// Refuses a target that would damage a database: the one that is copied, or one beside the target.
pub(super) fn check(database: &Path, to: &Path) -> Result<(), BackupError> {
    let own = || BackupError::Own { path: to.to_owned(), database: database.to_owned() };
    let beside = |file: PathBuf| BackupError::Beside { path: to.to_owned(), file };
    if files_of(database).any(|file| is_same_file(&file, to)) {
        return Err(own());
    }
    // A folder that is not there yet holds nothing.
    let Some((folder, name)) = resolved(to) else { return Ok(()) };
    if let Some((own_folder, own_name)) = resolved(database)
        && own_folder == folder
        && is_of(&own_name, &name)
    {
        return Err(own());
    }
    // SQLite would apply a log that is left there to the copy.
    let is_log = |file: &PathBuf| fs::metadata(file).is_ok_and(|found| found.len() > 0);
    if let Some(log) = LOGS[..2].iter().map(|ending| folder.join(with_ending(&name, ending))).find(is_log) {
        return Err(beside(log));
    }
    let base = LOGS.iter().find_map(|ending| name.to_str()?.strip_suffix(ending));
    match base.map(|base| folder.join(base)).filter(|base| base.is_file()) {
        Some(base) => Err(beside(base)),
        None => Ok(()),
    }
}

/// The database and the files beside it that belong to it: its log, its locks.
fn files_of(database: &Path) -> impl Iterator<Item = PathBuf> {
    let (folder, name) = (super::folder_of(database), database.file_name().unwrap_or_default().to_owned());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(move |entry| is_of(&name, &entry.file_name())).map(|entry| entry.path())
}

/// Whether a file of this name belongs to the database of that name in the same folder.
fn is_of(database: &OsStr, name: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(database.as_encoded_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'-')
}

/// The folder of a path without links, and the name in it.
fn resolved(path: &Path) -> Option<(PathBuf, OsString)> {
    Some((fs::canonicalize(super::folder_of(path)).ok()?, path.file_name()?.to_owned()))
}

fn with_ending(name: &OsStr, ending: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(ending);
    name
}

/// Whether two paths lead to one file, also through links.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    let same = {
        use std::os::unix::fs::MetadataExt as _;
        let place = |path| fs::metadata(path).map(|found: fs::Metadata| (found.dev(), found.ino())).ok();
        (place(one), place(other))
    };
    #[cfg(not(unix))]
    let same = (fs::canonicalize(one).ok(), fs::canonicalize(other).ok());
    same.0.is_some() && same.0 == same.1
}
