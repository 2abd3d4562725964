//! The data folder: where it is, which files are its own, and the server that works on it.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use docent_store::is_same_file;
use docent_types::without_os_number;

use crate::config::Config;
use crate::failure::Failure;

/// The folders in a data folder that are Docent's: the caches, and the repository of the demo.
const OWN_FOLDERS: [&str; 3] = ["mirrors", "index", "larkspur.git"];
/// Files that lie beside the database in each folder where it was opened.
const SIGNS: [&str; 4] = ["docent.db-turn", "docent.db-use", "docent.db-wal", "serve.lock"];
/// Maximum number of folders beside a missing data folder that are looked into.
const MOST_NEIGHBOURS: usize = 1000;
/// How often, and at which interval, a server tries to lock its data folder. A command that asks whether there is a
/// server holds the lock for a moment.
const LOCK_ATTEMPTS: u32 = 25;
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// The path of the database in a data folder.
pub(crate) fn database(data: &Path) -> PathBuf {
    data.join("docent.db")
}

/// The size of all files below a folder, in bytes. Files that cannot be read or are deleted meanwhile count as 0.
pub(crate) fn weight(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => weight(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Why a command cannot work on the data folder, and what to do.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Self {
        Self::plain(format!("{}; {}", missing.what, missing.remedy))
    }
}

/// Checks that there is a database in the configured data folder; otherwise names the data folder that was probably
/// meant.
pub(crate) fn require(config: &Config) -> Result<(), Missing> {
    let data = &config.data;
    let what = match std::fs::metadata(database(data)) {
        Ok(found) if found.is_file() => return Ok(()),
        Ok(_) => format!("{} is not a file", database(data).display()),
        Err(error) if is_absent(&error) => format!("there is no data folder of docent at {}", data.display()),
        Err(error) => {
            let why = without_os_number(&error.to_string());
            let what = format!("cannot look into the data folder {}: {why}", data.display());
            return Err(Missing { what, remedy: "run this as the user that runs docent".to_owned() });
        }
    };
    let remedy = match nearest(data, &config.configured_data) {
        Some(other) => format!("there is one at {}: name it with --data", other.display()),
        None => "name another with --data, or make one with `docent serve` or `docent project add`".to_owned(),
    };
    Err(Missing { what, remedy })
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The data folder that was probably meant: around the missing one, the configured one, one around the current folder,
/// or a neighbour of the missing one.
fn nearest(missing: &Path, configured: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(missing).ok()?;
    let here = std::env::current_dir().unwrap_or_default();
    let around = absolute.ancestors().skip(1).map(Path::to_owned);
    let usual = here.ancestors().flat_map(|folder| [folder.join("docent-data"), folder.to_owned()]);
    let neighbours = absolute.parent().into_iter().flat_map(|parent| {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten().take(MOST_NEIGHBOURS);
        let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        folders
    });
    let mut candidates = std::iter::once(absolute.join("docent-data"))
        .chain(around)
        .chain(std::iter::once(configured.to_owned()))
        .chain(usual)
        .chain(neighbours);
    let found = candidates.find(|folder| database(folder).is_file())?;
    Some(std::fs::canonicalize(&found).unwrap_or(found))
}

/// The data folder among whose own files a path leads, also through links; `None` if it leads elsewhere. `data` is the
/// data folder in use; others are known by the files in them.
pub(crate) fn owner_of(path: &Path, data: &Path) -> Option<PathBuf> {
    let as_written = path.file_name().and_then(|name| Some(existing(path.parent()?)?.join(name)));
    let led_to = std::fs::canonicalize(path).ok();
    let by_place = [as_written, led_to]
        .into_iter()
        .flatten()
        .find_map(|path| path.ancestors().skip(1).find(|folder| is_own(folder, &path, data)).map(Path::to_owned));
    by_place.or_else(|| is_linked_into(data, path).then(|| data.to_owned()))
}

/// A folder without links. Of one that is not there, the part that is, with the rest behind it.
fn existing(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let (there, found) = folder.ancestors().find_map(|part| Some((part, std::fs::canonicalize(part).ok()?)))?;
    Some(found.join(folder.strip_prefix(there).ok()?))
}

/// Whether `folder` is a data folder, and the path below it is one of its own files.
fn is_own(folder: &Path, path: &Path, data: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(folder) else { return false };
    let mut parts = inside.components();
    let is_place = match (parts.next(), parts.next()) {
        (Some(_), None) => true,
        (Some(Component::Normal(first)), Some(_)) => OWN_FOLDERS.iter().any(|own| first == *own),
        _ => false,
    };
    let is_data = || is_same_file(folder, data) || SIGNS.iter().any(|sign| folder.join(sign).is_file());
    is_place && is_data()
}

/// Whether the path is one more name of a file in the data folder or in its own folders.
fn is_linked_into(data: &Path, path: &Path) -> bool {
    fn holds(folder: &Path, path: &Path) -> bool {
        std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => holds(&entry.path(), path),
            _ => is_same_file(&entry.path(), path),
        })
    }
    let files = std::fs::read_dir(data).into_iter().flatten().flatten().map(|entry| entry.path());
    has_more_names(path)
        && (files.into_iter().any(|file| file.is_file() && is_same_file(&file, path))
            || OWN_FOLDERS.iter().any(|own| holds(&data.join(own), path)))
}

#[cfg(unix)]
fn has_more_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.nlink() > 1)
}

#[cfg(not(unix))]
fn has_more_names(path: &Path) -> bool {
    path.exists()
}

/// The right to serve a data folder, which one process has at a time. It ends with the process, even if that is killed.
/// The file holds the URL of the server while one is running.
#[derive(Debug)]
pub(crate) struct ServeLock(File);

impl ServeLock {
    /// Refuses if a server works on the data folder, or a backup is being restored to it.
    pub(crate) async fn take(data: &Path) -> Result<Self, Failure> {
        let path = lock_file(data);
        let failed = |error| Failure::new(format!("cannot lock {}", path.display()), error);
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < LOCK_ATTEMPTS => tokio::time::sleep(LOCK_INTERVAL).await,
                Err(TryLockError::WouldBlock) => {
                    return Err(Failure::plain(format!(
                        "another docent server is running on {}; stop it, or choose another folder with --data",
                        data.display()
                    )));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        let lock = Self(file);
        lock.write("").map_err(failed)?;
        Ok(lock)
    }

    /// Records the URL of the server for commands beside it.
    pub(crate) fn announce(&self, url: &str) -> Result<(), Failure> {
        self.write(url).map_err(|error| Failure::new("cannot record the server's address in the data folder", error))
    }

    /// Replaces the text of the file.
    fn write(&self, text: &str) -> std::io::Result<()> {
        let mut file = &self.0;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(text.as_bytes())
    }
}

impl Drop for ServeLock {
    fn drop(&mut self) {
        // What is left there by a killed process is not believed without the lock.
        let _ = self.write("");
    }
}

/// Whether a server works on a data folder, and its URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Serving {
    /// The URL is unknown while the server starts.
    Yes(Option<String>),
    No,
}

pub(crate) fn serving(data: &Path) -> Serving {
    let Ok(mut file) = File::open(lock_file(data)) else { return Serving::No };
    if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return Serving::No;
    }
    let mut url = String::new();
    let read = file.read_to_string(&mut url);
    Serving::Yes(read.ok().map(|_| url).filter(|url| !url.is_empty()))
}

fn lock_file(data: &Path) -> PathBuf {
    data.join("serve.lock")
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A data folder `data` with its files, and a folder `elsewhere` with links to them.
    fn folders() -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a folder");
        let file = |name: &str| home.path().join(name);
        for folder in ["data/mirrors/1f/objects", "data/index/u", "data/backups", "other", "elsewhere", "alone"] {
            fs::create_dir_all(file(folder)).expect("made");
        }
        for name in [
            "data/docent.db", "data/docent.db-turn", "data/mirrors/1f/HEAD", "data/backups/old.db", "other/docent.db",
            "other/docent.db-turn", "elsewhere/free.db", "alone/docent.db",
        ] {
            fs::write(file(name), name).expect("written");
        }
        symlink(file("data"), file("elsewhere/folder")).expect("linked");
        symlink(file("other/docent.db"), file("elsewhere/other.db")).expect("linked");
        fs::hard_link(file("data/mirrors/1f/HEAD"), file("elsewhere/head")).expect("linked");
        fs::hard_link(file("data/docent.db"), file("elsewhere/hard.db")).expect("linked");
        fs::hard_link(file("elsewhere/free.db"), file("elsewhere/twice.db")).expect("linked");
        home
    }

    #[test]
    fn files_of_a_data_folder_are_known_through_any_path() {
        let home = folders();
        let data = home.path().join("data");
        for (path, is_own) in [
            ("data/docent.db", true),
            ("data/docent.db-journal", true),
            ("data/new.db", true),
            ("data/../data/docent.db", true),
            ("data/mirrors/1f/HEAD", true),
            ("data/mirrors/new/deep/file", true),
            ("data/index/new.db", true),
            ("elsewhere/folder/docent.db", true),
            ("elsewhere/folder/index/u/new", true),
            ("elsewhere/head", true),
            ("elsewhere/hard.db", true),
            ("elsewhere/other.db", true),
            ("other/docent.db", true),
            ("other/mirrors/new.db", true),
            // A folder of somebody's own in a data folder, and backups that are called as the database is.
            ("data/backups/old.db", false),
            ("data/backups/new.db", false),
            ("elsewhere/twice.db", false),
            ("elsewhere/new/deep/file.db", false),
            ("alone/docent.db", false),
            ("data.db", false),
        ] {
            assert_eq!(owner_of(&home.path().join(path), &data).is_some(), is_own, "{path}");
        }
    }

    #[test]
    fn a_missing_data_folder_is_told_from_one_that_was_probably_meant() {
        let home = folders();
        let file = |name: &str| home.path().join(name);
        fs::create_dir_all(file("project/docent-data")).expect("made");
        fs::write(file("project/docent-data/docent.db"), "").expect("written");
        for (missing, configured, expected) in [
            ("data/mirrors", "none", "data"),
            ("project", "none", "project/docent-data"),
            ("none", "other", "other"),
            ("dtaa", "none", "alone"),
        ] {
            let found = nearest(&file(missing), &file(configured));
            assert_eq!(found, fs::canonicalize(file(expected)).ok(), "{missing}");
        }
        assert_eq!(nearest(&file("elsewhere/deep/none"), &file("none")), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_known_by_its_lock_and_its_url_by_the_file() {
        let home = folders();
        let data = home.path().join("data");
        assert_eq!(serving(&data), Serving::No);
        let lock = ServeLock::take(&data).await.expect("nobody serves");
        assert_eq!(serving(&data), Serving::Yes(None));
        lock.announce("http://127.0.0.1:41234").expect("written");
        lock.announce("http://127.0.0.1:4123").expect("written");
        assert_eq!(serving(&data), Serving::Yes(Some("http://127.0.0.1:4123".to_owned())));
        let refused = ServeLock::take(&data).await.expect_err("somebody serves");
        assert!(refused.to_string().contains("another docent server"), "{refused}");
        drop(lock);
        assert_eq!(serving(&data), Serving::No);
        assert_eq!(fs::read(lock_file(&data)).expect("there"), b"");
        fs::write(lock_file(&data), "http://127.0.0.1:9").expect("written");
        assert_eq!(serving(&data), Serving::No, "left behind by a process that was killed");
    }

    #[test]
    fn a_folder_weighs_what_its_files_do() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("a/b")).expect("folders");
        std::fs::write(folder.path().join("a/b/one"), [0; 1000]).expect("a file");
        std::fs::write(folder.path().join("two"), [0; 234]).expect("a file");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("a/again")).expect("a link");
        let link = std::fs::symlink_metadata(folder.path().join("a/again")).expect("a link").len();
        assert_eq!(weight(folder.path()), 1234 + link);
        assert_eq!(weight(&folder.path().join("none")), 0);
    }
}
