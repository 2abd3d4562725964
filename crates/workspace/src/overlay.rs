//! A job's edits: a base, and the files replaced or deleted on top of it. No work tree, no index, nothing on disk.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use docent_types::hex;
use sha2::{Digest, Sha256};

use crate::base::{Base, Node, check_readable};
use crate::error::{GitError, PathRefused};
use crate::id::{BlobId, CommitId};
use crate::name;
use crate::tree_file::{FileMode, TreeFile};

/// An edit of one path.
#[derive(Clone, PartialEq, Eq)]
pub enum PathEdit {
    /// The file is new, or has other content than in the base.
    Replaced { bytes: Arc<[u8]>, blob: BlobId, mode: FileMode },
    /// The file of the base is gone.
    Deleted,
}

impl fmt::Debug for PathEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { bytes, blob, mode } => write!(f, "Replaced({} bytes, {blob}, {mode:?})", bytes.len()),
            Self::Deleted => f.write_str("Deleted"),
        }
    }
}

/// The files of a base with edits on top.
///
/// Only real differences are stored: writing the content of the base removes the edit. So equal final contents have
/// equal [`digest`](Self::digest)s, independent of the order of edits.
#[derive(Debug, Clone)]
pub struct Overlay {
    base: Base,
    changes: BTreeMap<String, PathEdit>,
}

impl Overlay {
    pub(crate) fn new(base: Base) -> Self {
        Self { base, changes: BTreeMap::new() }
    }

    pub const fn base(&self) -> &Base {
        &self.base
    }

    /// The commit the edits are made on.
    pub const fn commit(&self) -> CommitId {
        self.base.commit()
    }

    /// Every file below the folder `root` (`""` for all) with the edits applied, in the order of the paths' bytes.
    ///
    /// # Errors
    /// As [`Base::files`].
    pub fn files(&self, root: &str) -> Result<Vec<TreeFile>, GitError> {
        let root = name::folder(root)?;
        let listed = self.base.files(root)?;
        let mut edits = self.below(root).peekable();
        let mut files = Vec::with_capacity(listed.len());
        for file in listed.iter() {
            while let Some((path, change)) = edits.next_if(|(path, _)| path.as_str() < file.path.as_str()) {
                files.extend(replaced(path, change));
            }
            match edits.next_if(|(path, _)| **path == file.path) {
                Some((path, change)) => files.extend(replaced(path, change)),
                None => files.push(file.clone()),
            }
        }
        files.extend(edits.filter_map(|(path, change)| replaced(path, change)));
        Ok(files)
    }

    /// The entry at `path`, `None` when there is none.
    ///
    /// # Errors
    /// As [`Base::node`].
    pub fn node(&self, path: &str) -> Result<Option<Node>, GitError> {
        name::check_path(path)?;
        match self.changes.get(path) {
            Some(PathEdit::Replaced { blob, mode, .. }) => {
                return Ok(Some(Node::File(TreeFile { path: path.to_owned(), blob: *blob, mode: *mode })));
            }
            Some(PathEdit::Deleted) => return Ok(self.holds_files(path)?.then_some(Node::Folder)),
            None => {}
        }
        match self.base.node(path)? {
            Some(Node::File(file)) => Ok(Some(Node::File(file))),
            Some(Node::Folder) | None => Ok(self.holds_files(path)?.then_some(Node::Folder)),
        }
    }

    /// The bytes of the file at `path`, `None` when there is nothing there.
    ///
    /// # Errors
    /// As [`Base::read`].
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        name::check_path(path)?;
        if let Some(PathEdit::Replaced { bytes, .. }) = self.changes.get(path) {
            return Ok(Some(bytes.to_vec()));
        }
        match self.node(path)? {
            None => Ok(None),
            Some(Node::Folder) => Err(GitError::path(path, PathRefused::Folder)),
            Some(Node::File(file)) => {
                check_readable(&file)?;
                self.base.blob(file.blob).map(Some)
            }
        }
    }

    /// Writes a file at `path`, new or replacing the existing one; an executable file stays executable.
    ///
    /// # Errors
    /// [`GitError::Path`] when `path` is not a valid path, is a folder, a symbolic link or a submodule, or leads
    /// through a file or a link; [`GitError::Corrupt`] when the mirror is damaged.
    pub fn write(&mut self, path: &str, bytes: impl Into<Arc<[u8]>>) -> Result<(), GitError> {
        name::check_path(path)?;
        self.check_parent_folders(path)?;
        let mode = match self.node(path)? {
            Some(Node::Folder) => return Err(GitError::path(path, PathRefused::Folder)),
            Some(Node::File(file)) => {
                check_readable(&file)?;
                file.mode
            }
            // A file that was executable in the base stays executable.
            None => match self.base.node(path)? {
                Some(Node::File(file)) if file.mode.is_file() => file.mode,
                _ => FileMode::File,
            },
        };
        let bytes = bytes.into();
        let blob = BlobId::of(&bytes);
        if self.base_file(path)?.is_some_and(|file| file.blob == blob && file.mode == mode) {
            self.changes.remove(path);
        } else {
            self.changes.insert(path.to_owned(), PathEdit::Replaced { bytes, blob, mode });
        }
        Ok(())
    }

    /// Makes the written file at `to` executable if the one at `from` is, as what it was moved from.
    ///
    /// # Errors
    /// [`GitError::Corrupt`] when the mirror is damaged.
    pub fn keep_mode(&mut self, from: &str, to: &str) -> Result<(), GitError> {
        let Some(file) = self.base_file(from)?.filter(|file| file.mode.is_file()) else { return Ok(()) };
        if let Some(PathEdit::Replaced { mode, .. }) = self.changes.get_mut(to) {
            *mode = file.mode;
        }
        Ok(())
    }

    /// Removes the file or symbolic link at `path`.
    ///
    /// # Errors
    /// [`GitError::Path`] when `path` is not a valid path, does not exist, or is a folder or a submodule.
    pub fn delete(&mut self, path: &str) -> Result<(), GitError> {
        match self.node(path)? {
            None => return Err(GitError::path(path, PathRefused::Missing)),
            Some(Node::Folder) => return Err(GitError::path(path, PathRefused::Folder)),
            Some(Node::File(file)) if file.mode == FileMode::Submodule => {
                return Err(GitError::path(path, PathRefused::Submodule));
            }
            Some(Node::File(_)) => {}
        }
        if self.base_file(path)?.is_some() {
            self.changes.insert(path.to_owned(), PathEdit::Deleted);
        } else {
            self.changes.remove(path);
        }
        Ok(())
    }

    /// The edits, in the order of their paths' bytes.
    pub fn changed(&self) -> impl ExactSizeIterator<Item = (&str, &PathEdit)> {
        self.changes.iter().map(|(path, change)| (path.as_str(), change))
    }

    pub fn is_unchanged(&self) -> bool {
        self.changes.is_empty()
    }

    /// A stable hash of the base and the edits, in hexadecimal: equal overlays, and only they, have equal digests.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.commit().as_bytes());
        for (path, change) in &self.changes {
            hash.update((path.len() as u64).to_be_bytes());
            hash.update(path.as_bytes());
            match change {
                PathEdit::Deleted => hash.update([0]),
                PathEdit::Replaced { blob, mode, .. } => {
                    hash.update([1]);
                    hash.update(mode.octal().as_bytes());
                    hash.update(blob.as_bytes());
                }
            }
        }
        hex(&hash.finalize())
    }

    fn base_file(&self, path: &str) -> Result<Option<TreeFile>, GitError> {
        Ok(match self.base.node(path)? {
            Some(Node::File(file)) => Some(file),
            Some(Node::Folder) | None => None,
        })
    }

    fn below<'a>(&'a self, root: &str) -> impl Iterator<Item = (&'a String, &'a PathEdit)> + use<'a> {
        let prefix = if root.is_empty() { String::new() } else { format!("{root}/") };
        let from =
            self.changes.range::<str, _>((std::ops::Bound::Included(prefix.as_str()), std::ops::Bound::Unbounded));
        from.take_while(move |(path, _)| path.starts_with(&prefix))
    }

    /// Whether any file remains below the folder `path`.
    fn holds_files(&self, path: &str) -> Result<bool, GitError> {
        if self.below(path).any(|(_, change)| matches!(change, PathEdit::Replaced { .. })) {
            return Ok(true);
        }
        if self.base.node(path)? != Some(Node::Folder) {
            return Ok(false);
        }
        let deleted = self.below(path).count();
        Ok(self.base.files(path)?.len() > deleted)
    }

    /// Refuses a path that leads through a file, a link or a submodule.
    fn check_parent_folders(&self, path: &str) -> Result<(), GitError> {
        for (end, _) in path.match_indices('/') {
            let parent = &path[..end];
            match self.changes.get(parent) {
                Some(PathEdit::Replaced { .. }) => return Err(GitError::path(path, PathRefused::BelowFile)),
                Some(PathEdit::Deleted) => continue,
                None => {}
            }
            match self.base.node(parent)? {
                Some(Node::Folder) => {}
                // The base has nothing further down either.
                None => {}
                Some(Node::File(file)) => {
                    let reason = match file.mode {
                        FileMode::File | FileMode::Executable => PathRefused::BelowFile,
                        FileMode::Symlink => PathRefused::Symlink,
                        FileMode::Submodule => PathRefused::Submodule,
                    };
                    return Err(GitError::path(path, reason));
                }
            }
        }
        Ok(())
    }
}

fn replaced(path: &str, change: &PathEdit) -> Option<TreeFile> {
    match change {
        PathEdit::Replaced { blob, mode, .. } => Some(TreeFile { path: path.to_owned(), blob: *blob, mode: *mode }),
        PathEdit::Deleted => None,
    }
}
