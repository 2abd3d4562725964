//! Files that reach the disk before they count.

use std::fs::File;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::error::SearchError;

/// A file on its way to the disk, while who wrote it has other things to do.
#[derive(Debug)]
pub(crate) struct Syncing {
    /// Nothing once somebody has waited for it.
    thread: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl Syncing {
    /// What has been written of a file so far, and what was on its way `before`.
    pub(crate) fn start(file: &File, before: Option<Self>) -> io::Result<Self> {
        let file = file.try_clone()?;
        let work = move || {
            before.map_or(Ok(()), |before| before.wait())?;
            file.sync_all()
        };
        let thread = Builder::new().name("search-sync".to_owned()).spawn(work)?;
        Ok(Self { thread: Mutex::new(Some(thread)) })
    }

    /// Returns once it is on the disk.
    pub(crate) fn wait(&self) -> io::Result<()> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let joined = thread.take().map(JoinHandle::join);
        joined.map_or(Ok(()), |joined| joined.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), SearchError> {
    let mut file = File::create(path).map_err(disk("create", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(disk("write", path))
}

/// A name in a folder survives a power cut once the folder is written too.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), SearchError> {
    if cfg!(unix) { File::open(dir).and_then(|dir| dir.sync_all()).map_err(disk("write", dir)) } else { Ok(()) }
}

pub(crate) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Disk { doing, path, source }
}
