//! The source of the docs to index, and the progress and the summary of an update.

use std::time::Duration;

use docent_site::SkipReason;
use docent_types::BoxError;
use serde::{Deserialize, Serialize};

/// A docs tree at one commit. Several threads read from it at the same time.
pub trait Source: Sync {
    /// The commit's id.
    fn commit(&self) -> &str;
    /// Every file inside the docs root, whether a page or not.
    fn files(&self) -> Result<Vec<SourceFile>, BoxError>;
    /// Every file of the repository outside of the docs root, with a path that begins with `../`: the configuration of
    /// a site and what its pages include may be there.
    fn files_outside(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(Vec::new())
    }
    /// The path of the docs root in its repository, `""` when it is the whole repository.
    fn root(&self) -> &str {
        ""
    }
    /// A file's bytes.
    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError>;
    /// The bytes of a file if they are at most `most`; `None` for a larger file, which an implementation need not read,
    /// and for one that [is absent](Self::is_absent).
    fn read_within(&self, file: &SourceFile, most: usize) -> Result<Option<Vec<u8>>, BoxError> {
        self.read(file).map(|bytes| Some(bytes).filter(|bytes| bytes.len() <= most))
    }
    /// Whether a file is listed and has no content: a copy of a repository may lack it.
    fn is_absent(&self, _file: &SourceFile) -> bool {
        false
    }
    /// The bytes of a file that may be outside of the docs; `path` is relative to the root of the repository. `None`
    /// when there is no such file, or when the source has nothing but the docs.
    fn beside(&self, _path: &str) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(None)
    }
    /// Whether the update is still wanted; called before each file is read. Once it returns `false`, the update ends
    /// with [`SearchError::Unwanted`](crate::SearchError::Unwanted) and the index is unchanged.
    fn is_wanted(&self) -> bool {
        true
    }
}

/// One file of a docs tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Relative to the docs root, `/`-separated, without a leading slash.
    pub path: String,
    /// Identifies the content: two files with the same blob id have the same bytes.
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
    /// Computing the vectors of sections; `done` and `total` count sections, not files.
    Embedding,
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The commit that is indexed now.
    pub commit: String,
    /// Pages in the index now, those excluded from search not counted.
    pub pages: usize,
    /// Sections in the index now.
    pub sections: usize,
    /// Files that were new.
    pub added: usize,
    /// Files whose content, included content or place in the navigation changed.
    pub changed: usize,
    /// Files that were removed.
    pub removed: usize,
    /// The first problems in the docs, in order of file and line, and the number of all problems. Both describe all
    /// docs as they are now, whichever files this update has read.
    pub odd: Vec<Oddity>,
    pub odd_in_all: usize,
    /// Files written in the format of docs that are not searchable, by reason; of all docs as they are now.
    pub skipped: Vec<Skipped>,
    /// The generator of the site, detected from its configuration, and the folders its pages are taken from: `""` for
    /// all.
    pub generator: &'static str,
    pub folders: Vec<String>,
    /// Whether a new state was published; `false` when nothing changed.
    pub published: bool,
    /// How long the update took, waiting for another one included.
    pub took: Duration,
}

/// The files skipped for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub reason: SkipReason,
    /// At least 1.
    pub count: usize,
    /// A few of them, relative to the docs root.
    pub examples: Vec<String>,
}

/// Something in a file that could not be parsed as intended. The text around it is searched all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oddity {
    /// Relative to the docs root.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, in a sentence for the author.
    pub message: String,
}
