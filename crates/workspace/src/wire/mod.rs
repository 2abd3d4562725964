//! Conversations with a remote, as bytes, independent of their meaning to git.
//!
//! Over http a conversation is a few requests ([`http`]), over ssh and for a folder on this machine a child process
//! ([`child`]). In both cases a [`WireSession`] has its limits in time and bytes, and stores the failure that ended it,
//! so that the caller, who sits above three libraries, need not parse their error texts.

pub(crate) mod child;
pub(crate) mod http;
pub(crate) mod pkt;
pub(crate) mod receive;

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use thiserror::Error;

use crate::error::{ErrorDetail, GitError};
use crate::remote::Remote;

/// Limit before content follows, in bytes: branches, reports, error pages. About half a million branches.
pub(crate) const CONTROL_LIMIT: u64 = 32 << 20;
/// Limit of a fetch's content, in bytes. It is written to the disk as it arrives.
pub(crate) const CONTENT_LIMIT: u64 = 16 << 30;

/// Why a conversation failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum WireFailure {
    #[error("the server answered {status}{}{message}", if message.is_empty() { "" } else { ": " })]
    Status { status: u16, after: Option<Duration>, message: String },
    #[error("it redirects to {to}")]
    Redirected { to: String },
    #[error("time limit exceeded")]
    TimedOut,
    #[error("it sent more than {limit} bytes")]
    TooMuch { limit: u64 },
    /// The limit of this process, not the server's.
    #[error("too many files are open")]
    OutOfFiles,
    #[error("{0}")]
    Network(String),
    #[error("{0}")]
    Certificate(String),
    /// The bytes are not what git servers send.
    #[error("{0}")]
    Garbled(String),
    /// An error message that the server sent.
    #[error("the server said: {0}")]
    ServerMessage(String),
}

/// One conversation: its limits, and the failure that ended it.
#[derive(Debug, Clone)]
pub(crate) struct WireSession(Arc<SessionState>);

#[derive(Debug)]
struct SessionState {
    deadline: Instant,
    limit: Duration,
    allowed: AtomicU64,
    received: AtomicU64,
    failure: Mutex<Option<WireFailure>>,
}

impl WireSession {
    /// A conversation with a time limit, and at first with the size limit [`CONTROL_LIMIT`].
    pub(crate) fn new(limit: Duration) -> Self {
        Self(Arc::new(SessionState {
            deadline: Instant::now() + limit,
            limit,
            allowed: AtomicU64::new(CONTROL_LIMIT),
            received: AtomicU64::new(0),
            failure: Mutex::default(),
        }))
    }

    /// Raises the size limit for the content of a fetch to [`CONTENT_LIMIT`].
    pub(crate) fn allow_content(&self) {
        self.0.allowed.store(CONTENT_LIMIT, Ordering::Relaxed);
    }

    /// The remaining time.
    pub(crate) fn left(&self) -> Result<Duration, WireFailure> {
        let left = self.0.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(WireFailure::TimedOut) } else { Ok(left) }
    }

    pub(crate) fn limit(&self) -> Duration {
        self.0.limit
    }

    /// Stores why the conversation failed. Only the first failure is kept, because later ones follow from it.
    pub(crate) fn fail(&self, failure: WireFailure) -> io::Error {
        let mut first = self.0.failure.lock();
        io::Error::other(first.get_or_insert(failure).clone())
    }

    pub(crate) fn failure(&self) -> Option<WireFailure> {
        self.0.failure.lock().clone()
    }

    /// Reads `inner` within the limits of this conversation.
    pub(crate) fn limited<R: Read>(&self, inner: R) -> LimitedReader<R> {
        LimitedReader { inner, session: self.clone() }
    }

    fn count(&self, bytes: usize) -> Result<(), WireFailure> {
        let limit = self.0.allowed.load(Ordering::Relaxed);
        let received = self.0.received.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if received > limit { Err(WireFailure::TooMuch { limit }) } else { self.left().map(drop) }
    }
}

/// A reader that fails when its conversation exceeds its limits.
#[derive(Debug)]
pub(crate) struct LimitedReader<R> {
    inner: R,
    session: WireSession,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        let read = read.map_err(|error| self.session.fail(broken(&error)))?;
        self.session.count(read).map_err(|failure| self.session.fail(failure))?;
        Ok(read)
    }
}

fn broken(error: &io::Error) -> WireFailure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) {
        Some(inner) => http::classify(inner),
        None => WireFailure::Network(error.to_string()),
    }
}

impl WireFailure {
    /// The error for a caller who was `doing` something with `remote`.
    pub(crate) fn into_git_error(self, remote: &Remote, doing: &'static str, session: &WireSession) -> GitError {
        let repository = remote.redacted();
        let source = ErrorDetail::new(remote.scrub(&self.to_string()));
        match self {
            Self::Status { status: 401 | 403, after: None, .. } => {
                GitError::Auth { repository, tried: remote.tried(), source }
            }
            Self::Status { status: 404 | 410, .. } => GitError::NotFound { repository, tried: remote.tried(), source },
            // A rate-limiting forge answers 403 as well as 429, with a delay.
            Self::Status { status: 403 | 408 | 429 | 500.., after, .. } => {
                GitError::Unreachable { repository, after, source }
            }
            Self::Status { .. } | Self::ServerMessage(_) => GitError::Failed { doing, source },
            Self::Redirected { to } => GitError::RedirectedToOtherHost { repository, to: remote.scrub(&to) },
            Self::OutOfFiles => GitError::OutOfFiles { doing },
            Self::TimedOut => GitError::Timeout { doing, after: session.limit() },
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
        let session = WireSession::new(Duration::from_secs(600));
        let mut endless = session.limited(io::repeat(7));
        let read = io::copy(&mut endless, &mut io::sink());
        assert!(read.is_err());
        assert_eq!(session.failure(), Some(WireFailure::TooMuch { limit: CONTROL_LIMIT }));
    }

    #[test]
    fn a_slow_stream_ends_when_the_time_is_over() {
        let session = WireSession::new(Duration::ZERO);
        assert!(session.limited(io::repeat(7)).read(&mut [0; 16]).is_err());
        assert_eq!(session.failure(), Some(WireFailure::TimedOut));
    }

    #[test]
    fn the_first_failure_of_a_session_is_kept() {
        let session = WireSession::new(Duration::from_secs(600));
        let _ = session.fail(WireFailure::Network("cut".to_owned()));
        let _ = session.fail(WireFailure::Garbled("half a line".to_owned()));
        assert_eq!(session.failure(), Some(WireFailure::Network("cut".to_owned())));
    }

    #[test]
    fn a_status_is_sorted_by_what_to_do_about_it() {
        let remote = Remote::new("https://git.example.com/docs");
        let session = WireSession::new(Duration::from_secs(1));
        let sorted = |status, after: Option<u64>| {
            let after = after.map(Duration::from_secs);
            WireFailure::Status { status, after, message: String::new() }.into_git_error(&remote, "fetch", &session)
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
