//! Where the docs to index come from, and what bringing them in says of itself.

use std::time::Duration;

use docent_types::BoxError;

/// A docs tree at one commit.
pub trait Source {
    /// The commit's id.
    fn commit(&self) -> &str;
    /// Every file inside the docs root, pages and not.
    fn files(&self) -> Result<Vec<SourceFile>, BoxError>;
    /// A file's bytes.
    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError>;
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
    /// Pages read so far in this update.
    pub done: usize,
    /// Pages this update has to read.
    pub total: usize,
}

/// What an update is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the pages that changed.
    Reading,
    /// Writing the index to disk.
    Writing,
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
    /// Pages that were new.
    pub added: usize,
    /// Pages whose content or place in the navigation changed.
    pub changed: usize,
    pub removed: usize,
    /// Whether a new state was published. `false` when everything was as it was.
    pub published: bool,
    /// How long the update took, waiting for another one included.
    pub took: Duration,
}
