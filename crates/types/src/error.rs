//! What a caller is told when the answer is no, and what a port says when its storage fails.

use std::time::Duration;

use thiserror::Error;

use crate::quota::Standing;

/// A source of an error, of whatever kind.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// A refusal the caller can act on: one sentence that says what was wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{sentence}")]
pub struct Refusal {
    pub kind: RefusalKind,
    pub sentence: String,
}

/// Why a request was refused. Callers match on this, never on the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalKind {
    /// The request itself is wrong; the same request will be refused again.
    Invalid,
    /// Nobody we know.
    Unauthenticated,
    /// Known, but not allowed.
    Forbidden,
    NotFound,
    /// At odds with the state of the thing; a changed request or a changed state may pass.
    Conflict,
    TooLarge,
    /// A quota is used up.
    Limited(Standing),
    /// Draining or overloaded; the same request may pass after this long.
    Unavailable(Duration),
}

impl Refusal {
    pub fn new(kind: RefusalKind, sentence: impl Into<String>) -> Self {
        Self { kind, sentence: sentence.into() }
    }

    pub fn invalid(sentence: impl Into<String>) -> Self {
        Self::new(RefusalKind::Invalid, sentence)
    }

    pub fn not_found(sentence: impl Into<String>) -> Self {
        Self::new(RefusalKind::NotFound, sentence)
    }

    pub fn conflict(sentence: impl Into<String>) -> Self {
        Self::new(RefusalKind::Conflict, sentence)
    }
}

/// Why a core did not do what it was asked: it said no, or its storage failed.
#[derive(Debug, Error)]
pub enum CallError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A store could not do its work. Says what was tried; the source says why it failed.
#[derive(Debug, Error)]
#[error("could not {doing}")]
pub struct StoreError {
    doing: &'static str,
    #[source]
    source: BoxError,
}

impl StoreError {
    /// `doing` completes the sentence "could not …", for example `"append to the journal"`.
    pub fn new(doing: &'static str, source: impl Into<BoxError>) -> Self {
        Self { doing, source: source.into() }
    }
}
