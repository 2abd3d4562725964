//! The store's errors, and how work inside a transaction reports that it must be undone.

use std::path::PathBuf;
use std::sync::Arc;

use docent_types::{BoxError, StoreError};
use thiserror::Error;

/// Why a database could not be opened. Each sentence says what to do.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("could not make the database `{}`: check that its folder can be written to", path.display())]
    Create { path: PathBuf, source: std::io::Error },
    #[error("could not open the database `{}`: check that it is a Docent database and that this user may write to it", path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` is the database of another program: choose another path", path.display())]
    Foreign { path: PathBuf },
    #[error(
        "the database `{}` was written by a newer version of Docent (schema {found}, this version knows {known}): use \
         that version, or restore the copy made before the upgrade",
        path.display()
    )]
    Newer { path: PathBuf, found: usize, known: usize },
    #[error("the database `{}` is being replaced by a backup: try again when that is done", path.display())]
    Replaced { path: PathBuf },
    #[error("could not start a thread for the database: check the limits of this machine or container")]
    Thread { source: std::io::Error },
}

/// Why work inside a transaction must be undone.
#[derive(Debug)]
pub(crate) enum Abort<E> {
    /// Refused by a rule.
    Refused(E),
    /// Storage failed.
    Failed(BoxError),
}

impl<E: From<StoreError>> Abort<E> {
    /// The caller's error; `doing` completes "could not …".
    pub(crate) fn explain(self, doing: &'static str) -> E {
        match self {
            Self::Refused(answer) => answer,
            Self::Failed(source) => StoreError::new(doing, source).into(),
        }
    }
}

impl<E> From<rusqlite::Error> for Abort<E> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<E> From<serde_json::Error> for Abort<E> {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<E> From<BoxError> for Abort<E> {
    fn from(error: BoxError) -> Self {
        Self::Failed(error)
    }
}

/// Why a group of commands was not committed.
#[derive(Debug, Clone, Error)]
pub(crate) enum NotCommitted {
    #[error("another process has held the database for too long")]
    Busy,
    #[error("the lock file beside the database could not be used")]
    ProcessLock(#[source] Arc<std::io::Error>),
    #[error("the transaction could not begin")]
    Begin(#[source] Arc<rusqlite::Error>),
    /// SQLite rolls back the whole transaction on some errors, such as a full disk; the writer does when a write fails
    /// without a savepoint.
    #[error("the transaction was rolled back when one of its writes failed")]
    RolledBack,
    #[error("the transaction could not be committed")]
    Commit(#[source] Arc<rusqlite::Error>),
}

/// The store was closed, or its thread is gone.
#[derive(Debug, Error)]
#[error("the store is closed")]
pub(crate) struct Closed;

/// A command or a read panicked; what it wrote was undone.
#[derive(Debug, Error)]
#[error("the decision panicked")]
pub(crate) struct Panicked;
