//! The failures of a model, classified by how a caller should react.

use std::time::Duration;

use docent_types::BoxError;
use thiserror::Error;

/// A failed model call. The text says what was tried; the source, if there is one, why it failed.
#[derive(Debug, Error)]
#[error("{tried}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    tried: String,
    #[source]
    source: Option<BoxError>,
}

impl ModelError {
    /// `tried` is a sentence fit for the operator's log, for example `the model at api.example.com is overloaded`.
    pub fn new(kind: ModelErrorKind, tried: impl Into<String>) -> Self {
        Self { kind, tried: tried.into(), source: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// The category of a failure. Callers match on this, never on the sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Too many requests or tokens. The provider may name a delay.
    RateLimited { retry_after: Option<Duration> },
    /// The provider is overloaded or temporarily out of order.
    Overloaded { retry_after: Option<Duration> },
    /// No connection, or no answer in time.
    Unreachable,
    /// The transcript does not fit. The same request will never fit; a shorter one may.
    ContextTooLong,
    /// The model or its provider refuses to answer this.
    Refused,
    /// The key is missing, wrong or not permitted: the configuration has to change.
    Auth,
    /// The reply was cut after it began.
    Interrupted,
    /// Anything that will fail in the same way again.
    Fatal,
}

/// Whether to send the same request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Yes, after the usual delay.
    Soon,
    /// Yes, after at least this delay.
    After(Duration),
    /// No.
    Never,
}

impl ModelErrorKind {
    pub const fn retry(self) -> Retry {
        match self {
            Self::RateLimited { retry_after: Some(wait) } | Self::Overloaded { retry_after: Some(wait) } => {
                Retry::After(wait)
            }
            Self::RateLimited { retry_after: None }
            | Self::Overloaded { retry_after: None }
            | Self::Unreachable
            | Self::Interrupted => Retry::Soon,
            Self::ContextTooLong | Self::Refused | Self::Auth | Self::Fatal => Retry::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_category_decides_the_retry() {
        let wait = Duration::from_secs(7);
        assert_eq!(ModelErrorKind::RateLimited { retry_after: Some(wait) }.retry(), Retry::After(wait));
        assert_eq!(ModelErrorKind::Overloaded { retry_after: None }.retry(), Retry::Soon);
        for kind in [ModelErrorKind::Unreachable, ModelErrorKind::Interrupted] {
            assert_eq!(kind.retry(), Retry::Soon);
        }
        for kind in [ModelErrorKind::ContextTooLong, ModelErrorKind::Refused, ModelErrorKind::Auth] {
            assert_eq!(kind.retry(), Retry::Never);
        }
    }

    #[test]
    fn an_error_says_what_was_tried_and_its_source_why_it_failed() {
        let error = ModelError::new(ModelErrorKind::Fatal, "could not read the model's reply").because("not JSON");
        assert_eq!(error.to_string(), "could not read the model's reply");
        assert_eq!(std::error::Error::source(&error).expect("a source").to_string(), "not JSON");
    }
}
