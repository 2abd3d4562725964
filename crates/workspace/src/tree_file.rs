//! Files of a tree.

use gix::objs::tree::EntryKind;

use crate::id::BlobId;

/// The kind of an entry in a tree. Folders are not listed; the paths imply them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileMode {
    File,
    Executable,
    /// A symbolic link. Listed, and never followed.
    Symlink,
    /// A commit of another repository. Listed, and never entered.
    Submodule,
}

impl FileMode {
    /// The six octal digits git writes.
    pub const fn octal(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }

    /// Whether this is a regular file, whose content can be read and replaced.
    pub const fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }

    pub(crate) fn from_entry(mode: gix::objs::tree::EntryMode) -> Self {
        match mode.kind() {
            EntryKind::BlobExecutable => Self::Executable,
            EntryKind::Link => Self::Symlink,
            EntryKind::Commit => Self::Submodule,
            EntryKind::Blob | EntryKind::Tree => Self::File,
        }
    }

    pub(crate) const fn kind(self) -> EntryKind {
        match self {
            Self::File => EntryKind::Blob,
            Self::Executable => EntryKind::BlobExecutable,
            Self::Symlink => EntryKind::Link,
            Self::Submodule => EntryKind::Commit,
        }
    }
}

/// One file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// The path from the root of the repository, with `/` between its parts.
    pub path: String,
    /// The id of the content. For a submodule it is a commit id, which is not in this repository.
    pub blob: BlobId,
    pub mode: FileMode,
}
