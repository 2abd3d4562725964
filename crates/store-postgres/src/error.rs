//! The store's errors, and how work inside a transaction reports that it must be undone.

use std::time::Duration;

use docent_types::{BoxError, StoreError};
use thiserror::Error;

/// Why a database could not be opened. Each sentence says what to do.
#[derive(Debug, Error)]
pub enum OpenError {
    #[error("the address of the database is not understood: write it as postgres://user:password@host:5432/database")]
    Address { source: BoxError },
    #[error("the database's address says `sslmode={mode}`: choose disable, prefer, require, verify-ca or verify-full")]
    SslMode { mode: String },
    #[error("the certificates of `sslrootcert` in the database's address could not be read from `{path}`")]
    RootCertificates { path: String, source: BoxError },
    #[error("could not connect to the database: check its address, that it runs, and that it lets this user in")]
    Connect { source: BoxError },
    #[error("the database runs PostgreSQL {found}: Docent needs version {needed} or later")]
    TooOld { found: i32, needed: i32 },
    #[error("the database's encoding is {encoding}: make one with `CREATE DATABASE … ENCODING 'UTF8'`")]
    Encoding { encoding: String },
    #[error("the database is that of another program: make an empty one for Docent")]
    Foreign,
    #[error(
        "the database was changed by a newer version of Docent (schema {found}, this version knows {known}): use that \
         version"
    )]
    Newer { found: usize, known: usize },
    #[error("the database could not be prepared: check that this user may create tables in it")]
    Migrate { source: BoxError },
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

impl<E> From<tokio_postgres::Error> for Abort<E> {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Failed(explained(error))
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

/// An error of the driver. Its own text leaves the server's sentence to its source, which it shows as well.
pub(crate) fn explained(error: tokio_postgres::Error) -> BoxError {
    match error.as_db_error() {
        Some(said) => Said { code: said.code().code().to_owned(), sentence: said.message().to_owned() }.into(),
        None => error.into(),
    }
}

/// What the server said.
#[derive(Debug, Error)]
#[error("the database says: {sentence} ({code})")]
struct Said {
    code: String,
    sentence: String,
}

/// Why a transaction did not take place, or may not have.
#[derive(Debug, Error)]
pub(crate) enum NotCommitted {
    #[error("the connection was lost before the transaction was committed, and nothing was written")]
    Lost(#[source] BoxError),
    #[error("the transaction took longer than {} s, and nothing was written", .0.as_secs())]
    TooLong(Duration),
    #[error(
        "the connection was lost during the commit, and the database could not be asked since whether it took place"
    )]
    Unknown(#[source] BoxError),
}

/// The store was closed.
#[derive(Debug, Error)]
#[error("the store is closed")]
pub(crate) struct Closed;

/// A write or a read panicked; what it wrote was undone.
#[derive(Debug, Error)]
#[error("the decision panicked")]
pub(crate) struct Panicked;
