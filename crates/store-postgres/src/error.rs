//! The store's errors, and how work inside a transaction reports that it must be undone.

use std::error::Error;
use std::io;
use std::time::Duration;

use deadpool_postgres::PoolError;
use docent_types::{BoxError, StoreError};

/// Why a database could not be opened. Each sentence says what to do.
#[derive(Debug, thiserror::Error)]
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

impl OpenError {
    /// Whether the database cannot be reached or serves nobody at the moment. A later attempt may succeed.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Connect { source } | Self::Migrate { source } if is_unavailable(&**source))
    }
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
            Self::Failed(source) if is_unavailable(&*source) => StoreError::unavailable(doing, source).into(),
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

/// Whether an error says that the database cannot be reached or serves nobody at the moment, and not that something is
/// wrong with what was asked of it.
pub(crate) fn is_unavailable(error: &(dyn Error + 'static)) -> bool {
    if let Some(said) = error.downcast_ref::<Said>() {
        return UNAVAILABLE.iter().any(|code| said.code.starts_with(code));
    }
    error.is::<io::Error>()
        || error.is::<NotCommitted>()
        || error.downcast_ref::<tokio_postgres::Error>().is_some_and(tokio_postgres::Error::is_closed)
        || matches!(error.downcast_ref::<PoolError>(), Some(PoolError::Timeout(_)))
        || error.source().is_some_and(is_unavailable)
}

/// The codes with which a server that starts, ends, has no disk or connection left, or ended a transaction or a statement that took
/// too long says so, or their beginnings. Another is what a primary says that has become a standby.
const UNAVAILABLE: [&str; 7] = ["08", "53", "57P", "57014", "25P03", "25P04", "25006"];

/// What the server said.
#[derive(Debug, thiserror::Error)]
#[error("the database says: {sentence} ({code})")]
struct Said {
    code: String,
    sentence: String,
}

/// Why a transaction did not take place, or may not have.
#[derive(Debug, thiserror::Error)]
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
#[derive(Debug, thiserror::Error)]
#[error("the store is closed")]
pub(crate) struct Closed;

/// A write or a read panicked; what it wrote was undone.
#[derive(Debug, thiserror::Error)]
#[error("the decision panicked")]
pub(crate) struct Panicked;

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: &str) -> BoxError {
        Said { code: code.to_owned(), sentence: "no".to_owned() }.into()
    }

    #[test]
    fn a_server_that_starts_or_ends_is_unavailable_and_one_that_refuses_is_not() {
        for code in ["57P01", "57P03", "53300", "57014", "25P03", "08006", "25006"] {
            assert!(is_unavailable(&*said(code)), "{code}");
            assert!(is_unavailable(&NotCommitted::Lost(said(code))), "{code}");
        }
        for code in ["23505", "42P01", "28P01"] {
            assert!(!is_unavailable(&*said(code)), "{code}");
        }
        assert!(is_unavailable(&io::Error::from(io::ErrorKind::ConnectionRefused)));
        let error: StoreError = Abort::<StoreError>::Failed(said("57P03")).explain("read a job");
        assert!(error.is_unavailable());
    }
}
