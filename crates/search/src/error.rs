//! What can go wrong between a folder and an index.

use std::path::PathBuf;

use docent_types::BoxError;
use thiserror::Error;

/// Why an index could not be opened, read or brought up to date.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The operating system refused. Trying again helps once the disk or the permissions are in order.
    #[error("could not {doing} {}", path.display())]
    Disk {
        /// Completes "could not …", for example `"write"`.
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The index engine refused. The index can always be rebuilt by removing its folder and indexing again.
    #[error("could not {doing} the search index in {}", path.display())]
    Engine {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: BoxError,
    },
    /// The docs could not be read; the index is as it was.
    #[error("could not read {what} of the docs to index")]
    Source {
        /// A file's path, or `the list of files`.
        what: String,
        #[source]
        source: BoxError,
    },
    /// Sections could not be embedded. Questions are answered by words alone until they are; the next try goes on from
    /// where this one stopped.
    #[error("could not embed the sections of the docs")]
    Embedder {
        #[source]
        source: BoxError,
    },
    /// Nobody wants the update any more; the index is as it was.
    #[error("the docs were not indexed to the end: nobody waits for it")]
    Unwanted,
}
