//! Files that reach the disk before they count.

use std::fs::File;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::error::SearchError;

/// A file on its way to the disk, while who wrote it has other things to do.
#[derive(Debug)]
pub(crate) struct Syncing {
    path: PathBuf,
    /// Nothing once somebody has waited for it.
    thread: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl Syncing {
    pub(crate) fn start(path: &Path) -> Result<Self, SearchError> {
        let file = File::open(path).map_err(disk("write", path))?;
        let thread = Builder::new().name("search-sync".to_owned()).spawn(move || file.sync_all());
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(_) => {
                sync(path)?;
                None
            }
        };
        Ok(Self { path: path.to_owned(), thread: Mutex::new(thread) })
    }

    /// Returns once the file is on the disk.
    pub(crate) fn wait(&self) -> Result<(), SearchError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let synced = thread.take().map(JoinHandle::join);
        let synced = synced.map_or(Ok(()), |joined| joined.unwrap_or_else(|panic| resume_unwind(panic)));
        synced.map_err(disk("write", &self.path))
    }
}

/// Returns once a file is on the disk.
pub(crate) fn sync(path: &Path) -> Result<(), SearchError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(disk("write", path))
}

pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), SearchError> {
    let mut file = File::create(path).map_err(disk("create", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(disk("write", path))
}

/// A name in a folder survives a power cut once the folder is written too.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), SearchError> {
    if cfg!(unix) { sync(dir) } else { Ok(()) }
}

pub(crate) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Disk { doing, path, source }
}
