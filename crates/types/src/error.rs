//! Refusals for callers, and the error of a port whose storage fails.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::quota::QuotaStatus;

/// The source of an error, of any type.
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
    /// The caller is unknown.
    Unauthenticated,
    /// Known, but not allowed.
    Forbidden,
    NotFound,
    /// In conflict with the current state; a changed request or a changed state may pass.
    Conflict,
    TooLarge,
    /// A quota is used up.
    Limited(QuotaStatus),
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

/// Why a call of a core failed: it was refused, or storage failed.
#[derive(Debug, Error)]
pub enum CallError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A storage failure. Names the action; the source is the cause.
#[derive(Debug, Error)]
#[error("could not {doing}")]
pub struct StoreError {
    doing: &'static str,
    is_unavailable: bool,
    #[source]
    source: BoxError,
}

impl StoreError {
    /// `doing` completes the sentence "could not …", for example `"append to the journal"`.
    pub fn new(doing: &'static str, source: impl Into<BoxError>) -> Self {
        Self { doing, is_unavailable: false, source: source.into() }
    }

    /// Like [`new`](Self::new), for a database that cannot be reached or serves nobody at the moment: the same may succeed
    /// in a moment.
    pub fn unavailable(doing: &'static str, source: impl Into<BoxError>) -> Self {
        Self { is_unavailable: true, ..Self::new(doing, source) }
    }

    /// Whether the same may succeed in a moment.
    pub fn is_unavailable(&self) -> bool {
        self.is_unavailable
    }
}

/// Whether an error was caused by too many open files, of this process or the machine: nothing else is wrong, and a
/// retry succeeds once files were closed.
pub fn is_out_of_files(error: &(dyn Error + 'static)) -> bool {
    // `ENFILE` and `EMFILE`, the same on all supported systems.
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    if let Some(io) = error.downcast_ref::<io::Error>() {
        if matches!(io.raw_os_error(), Some(ENFILE | EMFILE)) {
            return true;
        }
        // `io::Error` does not return its inner error as its source.
        if let Some(inner) = io.get_ref() {
            return is_out_of_files(inner);
        }
    }
    if let Some(shared) = error.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return is_out_of_files(&**shared);
    }
    error.source().is_some_and(is_out_of_files)
}

/// An error and its sources, outermost first, on one line: `open the store: Permission denied`. A source whose text is
/// already in the line is left out.
pub fn error_chain(error: &dyn Error) -> String {
    error_chain_of(error, str::to_owned)
}

/// As [`error_chain`], with each error's text passed through `map_text`.
pub fn error_chain_of(error: &dyn Error, map_text: impl Fn(&str) -> String) -> String {
    let mut chain = map_text(&error.to_string());
    let mut next = error.source();
    while let Some(source) = next {
        let text = map_text(&source.to_string());
        if !chain.contains(&text) {
            chain = format!("{chain}: {text}");
        }
        next = source.source();
    }
    chain
}

/// An error's text without the number of the operating system: `Permission denied (os error 13)` says no more than
/// `Permission denied`.
pub fn without_os_number(text: &str) -> String {
    const NUMBER_PREFIX: &str = " (os error ";
    let mut rest = text;
    let mut cleaned = String::with_capacity(text.len());
    while let Some(at) = rest.find(NUMBER_PREFIX) {
        let (before, after) = (&rest[..at], &rest[at + NUMBER_PREFIX.len()..]);
        let number = after.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'-').count();
        cleaned.push_str(before);
        match after[number..].strip_prefix(')') {
            Some(behind) if number > 0 => rest = behind,
            _ => {
                cleaned.push_str(NUMBER_PREFIX);
                rest = after;
            }
        }
    }
    cleaned + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_many_open_files_are_known_wherever_they_are_the_cause() {
        #[derive(Debug, thiserror::Error)]
        #[error("could not connect")]
        struct Connect(#[source] Arc<dyn Error + Send + Sync>);
        let os = io::Error::from_raw_os_error;
        for (error, out) in [
            (BoxError::from(os(24)), true),
            (os(23).into(), true),
            (os(2).into(), false),
            (io::Error::other(os(24)).into(), true),
            (Connect(Arc::new(os(24))).into(), true),
            (Connect(Arc::new(StoreError::new("open a file", os(24)))).into(), true),
            (Connect(Arc::new(os(111))).into(), false),
            ("Too many open files".into(), false),
        ] {
            assert_eq!(is_out_of_files(&*error), out, "{error:?}");
        }
    }

    #[test]
    fn the_number_of_an_error_is_left_out_wherever_it_stands() {
        for (told, words) in [
            ("Permission denied (os error 13)", "Permission denied"),
            ("a (os error 2): b (os error 24); c", "a: b; c"),
            ("a (os error )", "a (os error )"),
            ("a (os error 2", "a (os error 2"),
            ("nothing of the kind", "nothing of the kind"),
        ] {
            assert_eq!(without_os_number(told), words);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(told in ".{0,5}( \\(os error [0-9]{0,3}\\)?){0,3}.{0,5}") {
            prop_assert!(without_os_number(&told).len() <= told.len());
        }
    }

    #[derive(Debug, Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Layer>>);

    #[test]
    fn a_chain_of_errors_is_one_line_that_says_nothing_twice() {
        let chain = |texts: &[&'static str]| {
            texts.iter().rev().fold(None, |source, text| Some(Box::new(Layer(text, source)))).expect("one at least")
        };
        assert_eq!(error_chain(&*chain(&["open the store"])), "open the store");
        let error = chain(&["open the store", "read a.db: denied", "denied", "by the kernel (os error 13)"]);
        assert_eq!(error_chain(&*error), "open the store: read a.db: denied: by the kernel (os error 13)");
        assert_eq!(error_chain_of(&*error, without_os_number), "open the store: read a.db: denied: by the kernel");
    }
}
