//! Where the docs to index come from, and what bringing them in says of itself.

use std::time::Duration;

use docent_site::SkipReason;
use docent_types::BoxError;

/// A docs tree at one commit. Several threads read from it at a time.
pub trait Source: Sync {
    /// The commit's id.
    fn commit(&self) -> &str;
    /// Every file inside the docs root, pages and not.
    fn files(&self) -> Result<Vec<SourceFile>, BoxError>;
    /// Every file of the repository outside of the docs root, with a path that begins with `../`: sites are configured there.
    fn files_outside(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(Vec::new())
    }
    /// The docs root's own path in its repository, `""` when it is all of it.
    fn root(&self) -> &str {
        ""
    }
    /// A file's bytes.
    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError>;
    /// The same for a file of at most so many bytes; `None` for a larger one, which need not be read for it.
    fn read_within(&self, file: &SourceFile, most: usize) -> Result<Option<Vec<u8>>, BoxError> {
        self.read(file).map(|bytes| Some(bytes).filter(|bytes| bytes.len() <= most))
    }
    /// A file that need not be one of the docs; `path` goes from the root of the repository. `None` when there is none,
    /// or nothing but docs.
    fn beside(&self, _path: &str) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(None)
    }
    /// Whether the update is still wanted; asked before each file. Once it is not, the update ends with
    /// [`SearchError::Unwanted`](crate::SearchError::Unwanted) and the index is as it was.
    fn is_wanted(&self) -> bool {
        true
    }
}

/// One file of a docs tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Relative to the docs root, `/`-separated, without a leading slash.
    pub path: String,
    /// What identifies the content: two files with the same blob id have the same bytes.
    pub blob: String,
}

/// How far an update has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub stage: Stage,
    /// Files read so far in this update.
    pub done: usize,
    /// Files this update has to read.
    pub total: usize,
}

/// What an update is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the files that changed.
    Reading,
    /// Writing the index to disk.
    Writing,
    /// Giving sections vectors; it is sections that are counted.
    Embedding,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The commit the index now stands for.
    pub commit: String,
    /// Pages in the index now, those left out of search not counted.
    pub pages: usize,
    /// Sections in the index now.
    pub sections: usize,
    /// Files that were new.
    pub added: usize,
    /// Files whose content, or what is put into it, or whose place in the navigation changed.
    pub changed: usize,
    /// Files that are no more.
    pub removed: usize,
    /// What of the docs could not be read as it was meant, in order of file and line: the first of it, and how much
    /// there is in all. It is said of the docs as they are now, whichever files this update has read.
    pub odd: Vec<Oddity>,
    pub odd_in_all: usize,
    /// What is written as docs are and is not found, by reason; said of the docs as they are now.
    pub skipped: Vec<Skipped>,
    /// What the site is built with, as its configuration tells, and the folders its pages are taken from: `""` for all.
    pub generator: &'static str,
    pub folders: Vec<String>,
    /// Whether a new state was published. `false` when everything was as it was.
    pub published: bool,
    /// How long the update took, waiting for another one included.
    pub took: Duration,
}

/// Files that are skipped for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub reason: SkipReason,
    /// At least 1.
    pub count: usize,
    /// A few of them, relative to the docs root.
    pub examples: Vec<String>,
}

/// Something that could not be read as it was meant. What it stands in is searched all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// Relative to the docs root.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, in a sentence for the author.
    pub message: String,
}
