//! State shared by all handles of one mirror.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::blobs::Blobs;
use crate::error::{ErrorDetail, GitError};
use crate::listings::Listings;
use crate::odb::{self, Repo, refs, transfer};

/// Time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A fetch, a first clone included.
    pub fetch: Duration,
    /// A push to another machine, or through `git receive-pack` on this one.
    pub push: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { fetch: Duration::from_secs(600), push: Duration::from_secs(120) }
    }
}

/// State shared by all handles of one mirror.
#[derive(Debug)]
pub(crate) struct MirrorState {
    pub(crate) repo: Repo,
    pub(crate) dir: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) listings: Listings,
    blobs: Arc<Blobs>,
    /// The folder of a remote on this machine.
    origin: Option<PathBuf>,
    /// Damage was found: the next fetch recreates the mirror.
    suspect: AtomicBool,
}

impl MirrorState {
    pub(crate) fn new(repo: Repo, dir: PathBuf, limits: Limits, blobs: Arc<Blobs>, origin: Option<PathBuf>) -> Self {
        // A crash of the machine may have lost objects that had not reached the disk. Checked once, when the mirror is
        // opened.
        let local = repo.local();
        let is_intact =
            refs::state(&local).is_ok_and(|state| transfer::tips_are_readable(&local, state.branches.into_values()));
        Self { repo, dir, limits, listings: Listings::default(), blobs, origin, suspect: AtomicBool::new(!is_intact) }
    }

    /// The content with this id, from the cache if it is there.
    pub(crate) fn blob(&self, repo: impl FnOnce() -> gix::Repository, id: gix::ObjectId) -> Result<Vec<u8>, GitError> {
        if let Some(bytes) = self.blobs.get(id) {
            return Ok(bytes.to_vec());
        }
        let bytes = self.record_damage(odb::blob(&repo(), id))?;
        self.blobs.put(id, &bytes);
        Ok(bytes)
    }

    /// The content with this id; `None` if it has more than `max_bytes` bytes.
    pub(crate) fn blob_within(
        &self,
        repo: impl FnOnce() -> gix::Repository,
        id: gix::ObjectId,
        max_bytes: usize,
    ) -> Result<Option<Vec<u8>>, GitError> {
        if let Some(bytes) = self.blobs.get(id) {
            return Ok((bytes.len() <= max_bytes).then(|| bytes.to_vec()));
        }
        let repo = repo();
        if self.record_damage(odb::blob_size(&repo, id))? > max_bytes {
            return Ok(None);
        }
        self.blob(|| repo, id).map(Some)
    }

    /// Records damage of the mirror, so that the next fetch recreates it. An object that the remote lacks too is no
    /// damage: it would be missing again.
    pub(crate) fn record_damage<T>(&self, result: Result<T, GitError>) -> Result<T, GitError> {
        let result = result.map_err(|error| match error {
            GitError::Absent { object } if !self.origin_lacks(&object) => {
                GitError::Corrupt { doing: "read a file from the mirror", source: ErrorDetail::new("it is missing") }
            }
            error => error,
        });
        if matches!(result, Err(GitError::Corrupt { .. })) {
            self.suspect.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Whether the remote is on this machine and lacks an object. A git server with such a repository sends nothing.
    fn origin_lacks(&self, object: &str) -> bool {
        let origin = self.origin.as_deref().and_then(|path| Repo::foreign(path).ok());
        let id = object.parse::<gix::ObjectId>();
        origin.zip(id.ok()).is_some_and(|(origin, id)| matches!(origin.local().try_find_header(id), Ok(None)))
    }

    pub(crate) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Relaxed)
    }
}
