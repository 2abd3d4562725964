//! Errors of opening, reading and updating an index.

use std::path::PathBuf;

use docent_types::BoxError;
use thiserror::Error;

/// Why an index could not be opened, read or brought up to date.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The operating system reported an error. Retrying helps once the disk or the permissions are in order.
    #[error("could not {doing} {}", path.display())]
    Disk {
        /// Completes "could not …", for example `"write"`.
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The index engine reported an error. The index can always be rebuilt by removing its folder and indexing again.
    #[error("could not {doing} the search index in {}", path.display())]
    Engine {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: BoxError,
    },
    /// The docs could not be read; the index is unchanged.
    #[error("could not read {what} of the docs to index")]
    Source {
        /// A file's path, or `the list of files`.
        what: String,
        #[source]
        source: BoxError,
    },
    /// Sections could not be embedded. Until they are, questions are answered by words alone; the next attempt resumes
    /// where this one stopped.
    #[error("could not embed the sections of the docs")]
    Embedder {
        #[source]
        source: BoxError,
    },
    /// The update was cancelled ([`Source::is_wanted`](crate::Source::is_wanted)); the index is unchanged.
    #[error("the docs were not indexed to the end: nobody waits for it")]
    Unwanted,
}
