//! Durable writes: files are synced to disk before they count.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::error::SearchError;

pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), SearchError> {
    let mut file = File::create(path).map_err(disk("create", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(disk("write", path))
}

/// Syncs a folder: a file name in it survives a power cut only after that. Does nothing on systems other than Unix.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), SearchError> {
    if cfg!(unix) { File::open(dir).and_then(|dir| dir.sync_all()).map_err(disk("write", dir)) } else { Ok(()) }
}

pub(crate) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Disk { doing, path, source }
}
