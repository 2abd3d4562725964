//! Conversations with a remote: bytes in and out, before they mean anything to git.
//!
//! Over http it is a few requests ([`http`]), over ssh and to a folder on this machine a child process ([`child`]).
//! Either way a [`Talk`] holds what the conversation may take, in time and in bytes, and remembers what broke it off:
//! who reads at the end of three libraries is not to guess from their texts.

pub(crate) mod child;
pub(crate) mod http;
pub(crate) mod pkt;
pub(crate) mod receive;

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::error::{GitError, Why};
use crate::remote::Remote;

/// What a remote may say before content flows: branches, reports, error pages. About half a million branches.
pub(crate) const WORDS_AT_MOST: u64 = 32 << 20;
/// What a fetch may bring. It goes to the disk as it comes.
pub(crate) const CONTENT_AT_MOST: u64 = 16 << 30;

/// Why a conversation broke off.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Failure {
    #[error("the server answered {status}{}{said}", if said.is_empty() { "" } else { ": " })]
    Status { status: u16, after: Option<Duration>, said: String },
    #[error("it redirects to {to}")]
    Elsewhere { to: String },
    #[error("the time was over")]
    TimeOver,
    #[error("it sent more than {limit} bytes")]
    TooMuch { limit: u64 },
    /// On our side.
    #[error("too many files are open")]
    OutOfFiles,
    #[error("{0}")]
    Network(String),
    #[error("{0}")]
    Certificate(String),
    /// What came is not what git servers send.
    #[error("{0}")]
    Garbled(String),
    /// The server's own last word.
    #[error("the server said: {0}")]
    Said(String),
}

/// One conversation: its limits, and what broke it off.
#[derive(Debug, Clone)]
pub(crate) struct Talk(Arc<State>);

#[derive(Debug)]
struct State {
    deadline: Instant,
    limit: Duration,
    allowed: AtomicU64,
    heard: AtomicU64,
    failure: Mutex<Option<Failure>>,
}

impl Talk {
    /// A conversation that may take `limit` and, for now, [`WORDS_AT_MOST`].
    pub(crate) fn new(limit: Duration) -> Self {
        Self(Arc::new(State {
            deadline: Instant::now() + limit,
            limit,
            allowed: AtomicU64::new(WORDS_AT_MOST),
            heard: AtomicU64::new(0),
            failure: Mutex::default(),
        }))
    }

    /// The words are over; what comes next may be as large as [`CONTENT_AT_MOST`].
    pub(crate) fn content_follows(&self) {
        self.0.allowed.store(CONTENT_AT_MOST, Ordering::Relaxed);
    }

    /// The time that is left.
    pub(crate) fn left(&self) -> Result<Duration, Failure> {
        let left = self.0.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(Failure::TimeOver) } else { Ok(left) }
    }

    pub(crate) fn limit(&self) -> Duration {
        self.0.limit
    }

    /// Remembers what broke the conversation off. What is remembered first stays: the rest follows from it.
    pub(crate) fn fail(&self, failure: Failure) -> io::Error {
        let mut first = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner);
        io::Error::other(first.get_or_insert(failure).clone())
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `inner`, heard within the limits of this conversation.
    pub(crate) fn hear<R: Read>(&self, inner: R) -> Heard<R> {
        Heard { inner, talk: self.clone() }
    }

    fn count(&self, bytes: usize) -> Result<(), Failure> {
        let limit = self.0.allowed.load(Ordering::Relaxed);
        let heard = self.0.heard.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if heard > limit { Err(Failure::TooMuch { limit }) } else { self.left().map(drop) }
    }
}

/// A reader that ends with an error when its conversation has taken too much or too long.
#[derive(Debug)]
pub(crate) struct Heard<R> {
    inner: R,
    talk: Talk,
}

impl<R: Read> Read for Heard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        let read = read.map_err(|error| self.talk.fail(broken(&error)))?;
        self.talk.count(read).map_err(|failure| self.talk.fail(failure))?;
        Ok(read)
    }
}

fn broken(error: &io::Error) -> Failure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) {
        Some(inner) => http::sorted(inner),
        None => Failure::Network(error.to_string()),
    }
}

impl Failure {
    /// What it means for somebody who wanted something of `remote`.
    pub(crate) fn explained(self, remote: &Remote, doing: &'static str, talk: &Talk) -> GitError {
        let repository = remote.shown();
        let source = Why::new(remote.scrub(&self.to_string()));
        match self {
            Self::Status { status: 401 | 403, after: None, .. } => {
                GitError::Auth { repository, tried: remote.tried(), source }
            }
            Self::Status { status: 404 | 410, .. } => GitError::NotFound { repository, tried: remote.tried(), source },
            // A forge that is tired of us says 403 as well as 429, and when to come back.
            Self::Status { status: 403 | 408 | 429 | 500.., after, .. } => {
                GitError::Unreachable { repository, after, source }
            }
            Self::Status { .. } | Self::Said(_) => GitError::Failed { doing, source },
            Self::Elsewhere { to } => GitError::Elsewhere { repository, to: remote.scrub(&to) },
            Self::OutOfFiles => GitError::OutOfFiles { doing },
            Self::TimeOver => GitError::Timeout { doing, after: talk.limit() },
            Self::Network(_) => GitError::Unreachable { repository, after: None, source },
            Self::Certificate(_) => GitError::Certificate { repository, source },
            Self::Garbled(_) | Self::TooMuch { .. } => GitError::Garbled { repository, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_stream_ends() {
        let talk = Talk::new(Duration::from_secs(600));
        let mut endless = talk.hear(io::repeat(7));
        let read = io::copy(&mut endless, &mut io::sink());
        assert!(read.is_err());
        assert_eq!(talk.failure(), Some(Failure::TooMuch { limit: WORDS_AT_MOST }));
    }

    #[test]
    fn a_slow_stream_ends_when_the_time_is_over() {
        let talk = Talk::new(Duration::ZERO);
        assert!(talk.hear(io::repeat(7)).read(&mut [0; 16]).is_err());
        assert_eq!(talk.failure(), Some(Failure::TimeOver));
    }

    #[test]
    fn what_broke_first_is_what_counts() {
        let talk = Talk::new(Duration::from_secs(600));
        let _ = talk.fail(Failure::Network("cut".to_owned()));
        let _ = talk.fail(Failure::Garbled("half a line".to_owned()));
        assert_eq!(talk.failure(), Some(Failure::Network("cut".to_owned())));
    }

    #[test]
    fn a_status_is_sorted_by_what_to_do_about_it() {
        let remote = Remote::new("https://git.example.com/docs");
        let talk = Talk::new(Duration::from_secs(1));
        let sorted = |status, after: Option<u64>| {
            let after = after.map(Duration::from_secs);
            Failure::Status { status, after, said: String::new() }.explained(&remote, "fetch", &talk)
        };
        assert!(matches!(sorted(401, None), GitError::Auth { .. }));
        assert!(matches!(sorted(403, None), GitError::Auth { .. }));
        assert!(matches!(sorted(403, Some(9)), GitError::Unreachable { .. }));
        assert!(matches!(sorted(404, None), GitError::NotFound { .. }));
        assert!(matches!(sorted(400, None), GitError::Failed { .. }));
        for status in [408, 429, 500, 503, 599] {
            let error = sorted(status, Some(7));
            assert!(error.is_transient(), "{status}");
            assert_eq!(error.retry_after(), Some(Duration::from_secs(7)), "{status}");
        }
    }
}
