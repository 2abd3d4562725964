//! File permissions of the data folder: only the user that runs docent may read it, because it contains the docs and
//! conversations of all projects.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use docent_types::without_os_number;

/// Subfolders whose files have default permissions, so that the folders themselves must be private.
const FOLDERS: [&str; 2] = ["mirrors", "index"];
const FILES: [&str; 5] = ["docent.db", "docent.db-wal", "docent.db-shm", "docent.db-turn", "serve.lock"];

/// A path that other users could read.
#[derive(Debug)]
pub(crate) struct ReadableByOthers {
    path: PathBuf,
    /// The reason why other users still can; `None` if that was fixed.
    still: Option<io::Error>,
}

impl ReadableByOthers {
    /// Whether the operator has to act.
    pub(crate) const fn is_still(&self) -> bool {
        self.still.is_some()
    }
}

impl fmt::Display for ReadableByOthers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.still {
            None => write!(f, "others could read {path}; its rights were taken away from them"),
            Some(error) => {
                let why = without_os_number(&error.to_string());
                write!(f, "others can read {path}, and that could not be changed ({why}): `chmod -R go= {path}`")
            }
        }
    }
}

/// Creates the data folder if it is missing, and removes other users' permissions. Returns the paths that they could
/// read.
pub(crate) fn secure(folder: &Path) -> Result<Vec<ReadableByOthers>, Failure> {
    for path in std::iter::once(folder.to_owned()).chain(FOLDERS.map(|name| folder.join(name))) {
        let made = private_folder().create(&path);
        made.map_err(|error| Failure::new(format!("cannot make the folder {}", path.display()), error))?;
    }
    let parts = FOLDERS.iter().chain(&FILES).map(|name| folder.join(name));
    Ok(std::iter::once(folder.to_owned()).chain(parts).filter_map(closed).collect())
}

/// Makes a folder that other users cannot read, unless there is one.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    private_folder().create(folder)
}

fn private_folder() -> std::fs::DirBuilder {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(unix)]
fn closed(path: PathBuf) -> Option<ReadableByOthers> {
    use std::os::unix::fs::PermissionsExt as _;
    let found = std::fs::metadata(&path).ok()?;
    let mode = found.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        let rights = std::fs::Permissions::from_mode(mode & !0o077);
        ReadableByOthers { still: std::fs::set_permissions(&path, rights).err(), path }
    })
}

#[cfg(not(unix))]
fn closed(_: PathBuf) -> Option<ReadableByOthers> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn readable_files_are_closed_and_reported() {
        let home = tempfile::tempdir().expect("a folder");
        let data = home.path().join("a/data");
        assert!(secure(&data).expect("made").is_empty(), "what is new is private");
        assert_eq!([mode(&data), mode(&data.join("mirrors")), mode(&data.join("index"))], [0o700; 3]);
        let database = data.join("docent.db");
        std::fs::write(&database, "").expect("written");
        for (path, open) in [(&data, 0o755), (&database, 0o644), (&data.join("mirrors"), 0o750)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(open)).expect("opened");
        }
        let told: Vec<String> = secure(&data).expect("closed").iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told.iter().all(|sentence| sentence.starts_with("others could read")), "{told:?}");
        assert_eq!([mode(&data), mode(&database), mode(&data.join("mirrors"))], [0o700, 0o600, 0o700]);
        assert!(secure(&data).expect("looked at").is_empty());
    }
}
