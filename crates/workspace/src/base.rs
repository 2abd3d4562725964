//! A snapshot of the files at one commit.

use std::fmt;
use std::sync::Arc;

use gix::ObjectId;

use crate::error::{GitError, PathRefused};
use crate::id::{BlobId, CommitId};
use crate::listings::Listing;
use crate::mirror_state::MirrorState;
use crate::name;
use crate::odb::{self, tree};
use crate::tree_file::{FileMode, TreeFile};

/// The kind of entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Folder,
    File(TreeFile),
}

/// The files at one commit. Cheap to clone, shared by threads; the content is read from the mirror when asked for.
///
/// Paths that are not UTF-8 are not listed and cannot be read or changed; a commit leaves them as they are.
#[derive(Clone)]
pub struct Base {
    pub(crate) shared: Arc<MirrorState>,
    pub(crate) commit: CommitId,
    pub(crate) tree: ObjectId,
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base").field("commit", &self.commit).finish_non_exhaustive()
    }
}

impl Base {
    pub(crate) fn new(shared: Arc<MirrorState>, commit: CommitId) -> Result<Self, GitError> {
        let tree = shared.record_damage(odb::commit_tree(&shared.repo.local(), commit))?;
        Ok(Self { shared, commit, tree })
    }

    /// The commit this is a snapshot of.
    pub const fn commit(&self) -> CommitId {
        self.commit
    }

    pub(crate) const fn tree(&self) -> ObjectId {
        self.tree
    }

    /// Everything below the folder `root` (`""` for all), in the order of the paths' bytes. Empty for a folder that
    /// does not exist.
    ///
    /// # Errors
    /// [`GitError::Path`] when `root` is not a valid path; [`GitError::Corrupt`] when the mirror is damaged.
    pub fn files(&self, root: &str) -> Result<Listing, GitError> {
        let root = name::folder(root)?;
        self.shared.record_damage(self.listed(root))
    }

    fn listed(&self, root: &str) -> Result<Listing, GitError> {
        let repo = self.shared.repo.local();
        let Some(folder) = tree::at(&repo, self.tree, root)?.filter(|leaf| leaf.mode.is_tree()) else {
            return Ok(Listing::default());
        };
        self.shared.listings.list(&repo, folder.id, root)
    }

    /// The entry at `path`, `None` when there is none.
    ///
    /// # Errors
    /// [`GitError::Path`] when `path` is not a valid path; [`GitError::Corrupt`] when the mirror is damaged.
    pub fn node(&self, path: &str) -> Result<Option<Node>, GitError> {
        name::check_path(path)?;
        let leaf = self.shared.record_damage(tree::at(&self.shared.repo.local(), self.tree, path))?;
        Ok(leaf.map(|leaf| {
            if leaf.mode.is_tree() {
                Node::Folder
            } else {
                let mode = FileMode::from_entry(leaf.mode);
                Node::File(TreeFile { path: path.to_owned(), blob: leaf.id.into(), mode })
            }
        }))
    }

    /// The bytes of the file at `path`, `None` when there is nothing there.
    ///
    /// # Errors
    /// [`GitError::Path`] for a folder, a symbolic link, a submodule or an invalid path; [`GitError::Corrupt`] when the
    /// mirror is damaged.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        match self.node(path)? {
            None => Ok(None),
            Some(Node::Folder) => Err(GitError::path(path, PathRefused::Folder)),
            Some(Node::File(file)) => {
                check_readable(&file)?;
                self.blob(file.blob).map(Some)
            }
        }
    }

    /// The content with this id.
    ///
    /// # Errors
    /// [`GitError::Corrupt`] when the mirror lacks it, [`GitError::Absent`] when its remote does, too.
    pub fn blob(&self, id: BlobId) -> Result<Vec<u8>, GitError> {
        self.shared.blob(|| self.shared.repo.local(), id.object())
    }

    /// The content with this id if it has at most `max_bytes` bytes; `None` for a larger one, which is not unpacked.
    ///
    /// # Errors
    /// [`GitError::Corrupt`] when the mirror lacks it, [`GitError::Absent`] when its remote does, too.
    pub fn blob_within(&self, id: BlobId, max_bytes: usize) -> Result<Option<Vec<u8>>, GitError> {
        self.shared.blob_within(|| self.shared.repo.local(), id.object(), max_bytes)
    }
}

pub(crate) fn check_readable(file: &TreeFile) -> Result<(), GitError> {
    match file.mode {
        FileMode::File | FileMode::Executable => Ok(()),
        FileMode::Symlink => Err(GitError::path(&file.path, PathRefused::Symlink)),
        FileMode::Submodule => Err(GitError::path(&file.path, PathRefused::Submodule)),
    }
}
