//! Objects and references, through gix.
//!
//! Other modules of this crate use gix's ids and its repository handle. The crate's public interface has only paths,
//! bytes, [`CommitId`] and [`BlobId`](crate::BlobId).

pub(crate) mod graph;
mod http_transport;
pub(crate) mod pack;
pub(crate) mod refs;
pub(crate) mod sent_pack;
pub(crate) mod transfer;
pub(crate) mod tree;
pub(crate) mod upload_pack;

use std::path::{Path, PathBuf};

use docent_types::{error_chain_of, is_out_of_files};
use gix::ObjectId;
use gix::objs::Kind;

use crate::error::{ErrorDetail, GitError};
use crate::id::CommitId;

/// A repository on this disk, shared by threads. Each thread reads through its own [`gix::Repository`].
pub(crate) struct Repo {
    inner: gix::ThreadSafeRepository,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Repo").field(&self.inner.path()).finish()
    }
}

/// A repository is opened with its own configuration alone, whoever owns the files. That is safe because nothing in
/// that configuration is executed: no hooks, no helpers, no filters, no includes.
fn options() -> gix::open::Options {
    gix::open::Options::isolated().with(gix::sec::Trust::Full).config_overrides([
        "core.logAllRefUpdates=false",
        "gitoxide.userAgent=docent",
        // Largest object in bytes. The sender of a pack decides how much is allocated, up to here.
        "gitoxide.objects.allocLimit=1073741824",
    ])
}

/// Slots for packs. A server runs long, and each fetch and large push adds a pack: a handle without free slots cannot
/// read packs added after it was opened.
const PACK_SLOTS: gix::odb::store::init::Slots =
    gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 512 };

impl Repo {
    /// Opens a mirror of ours.
    pub(crate) fn mirror(dir: &Path) -> gix::Result<Self> {
        let inner = options().object_store_slots(PACK_SLOTS).open_path_as_is(true).open(dir)?;
        Ok(Self { inner })
    }

    /// Opens another owner's repository: bare, or with a work tree.
    pub(crate) fn foreign(dir: &Path) -> gix::Result<Self> {
        Ok(Self { inner: options().object_store_slots(PACK_SLOTS).open(dir)? })
    }

    /// Makes an empty bare repository in the existing, empty folder `dir`.
    pub(crate) fn create(dir: &Path) -> gix::Result<Self> {
        let inner = gix::ThreadSafeRepository::init_opts(
            dir,
            gix::create::Kind::Bare,
            gix::create::Options::default(),
            options(),
        )?;
        Ok(Self { inner })
    }

    pub(crate) fn local(&self) -> gix::Repository {
        self.inner.to_thread_local()
    }

    pub(crate) fn objects_dir(&self) -> PathBuf {
        self.inner.objects_dir().to_owned()
    }
}

/// An object that is not yet in a repository.
#[derive(Debug, Clone)]
pub(crate) struct NewObject {
    pub(crate) id: ObjectId,
    pub(crate) kind: Kind,
    pub(crate) data: Vec<u8>,
}

impl NewObject {
    pub(crate) fn new(kind: Kind, data: Vec<u8>) -> Self {
        Self { id: hash(kind, &data), kind, data }
    }
}

/// The id of an object with this content.
pub(crate) fn hash(kind: Kind, data: &[u8]) -> ObjectId {
    // Fails only for content crafted to collide, which must not get an id at all.
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, data).expect("content that is no SHA-1 collision attack")
}

/// A failure of gix on our own disk, by category.
pub(crate) fn local_error(doing: &'static str, error: &gix::Error) -> GitError {
    let io_error = error.downcast_any_ref::<std::io::Error>();
    if io_error.is_some_and(|io| is_out_of_files(io)) {
        return GitError::OutOfFiles { doing };
    }
    let source = why(error);
    if error.is_corrupted() || error.is_not_found() {
        return GitError::Corrupt { doing, source };
    }
    match io_error {
        Some(io) => GitError::Io { doing, kind: io.kind(), source },
        None => GitError::Failed { doing, source },
    }
}

/// The whole chain of causes of an error, as one line.
pub(crate) fn why(error: &(dyn std::error::Error + 'static)) -> ErrorDetail {
    ErrorDetail::new(error_chain_of(error, |text| text.replace('\n', " ")))
}

/// The tree of a commit. A commit that the mirror lacks is the caller's error ([`GitError::NoSuchCommit`]); a damaged
/// one is the mirror's.
pub(crate) fn commit_tree(repo: &gix::Repository, commit: CommitId) -> Result<ObjectId, GitError> {
    const DOING: &str = "read a commit";
    let object = repo.try_find_object(commit.object()).map_err(|error| local_error(DOING, &error))?;
    let object = object.ok_or(GitError::NoSuchCommit { commit })?;
    if object.kind != Kind::Commit {
        return Err(GitError::NoSuchCommit { commit });
    }
    object.into_commit().tree_id().map(gix::Id::detach).map_err(|error| local_error(DOING, &error))
}

/// The size of a blob in bytes, without reading it. [`GitError::Absent`] when the repository lacks it.
pub(crate) fn blob_size(repo: &gix::Repository, id: ObjectId) -> Result<usize, GitError> {
    let header = repo.try_find_header(id).map_err(|error| local_error("read a file from the mirror", &error))?;
    let header = header.ok_or_else(|| GitError::Absent { object: id.to_string() })?;
    Ok(usize::try_from(header.size()).unwrap_or(usize::MAX))
}

/// The content of a blob. [`GitError::Absent`] when the repository lacks it.
pub(crate) fn blob(repo: &gix::Repository, id: ObjectId) -> Result<Vec<u8>, GitError> {
    let object = repo.try_find_object(id).map_err(|error| local_error("read a file from the mirror", &error))?;
    let mut object = object.ok_or_else(|| GitError::Absent { object: id.to_string() })?;
    Ok(std::mem::take(&mut object.data))
}
