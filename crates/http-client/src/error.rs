//! The errors that can occur between a request and the end of its answer.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

/// The error of the layer below.
pub(crate) type Cause = Arc<dyn StdError + Send + Sync>;

/// A request failed before the end of its answer. Of the URL only the host is named.
#[derive(Debug, Error)]
pub enum SendError {
    /// The request was not sent: its address, or a credential in plain text, is refused.
    #[error("could not ask {host}: {reason}")]
    Address { host: String, reason: &'static str },
    /// The connection could not be established. `host` names the proxy too, where there is one.
    #[error("could not connect to {host}")]
    Connect {
        host: String,
        #[source]
        source: Cause,
    },
    /// The server's certificate is not trusted, or it does not speak TLS.
    #[error("could not make a secure connection to {host}: {reason}")]
    Tls {
        host: String,
        reason: &'static str,
        #[source]
        source: Cause,
    },
    #[error("{host} was too slow: {what} took longer than {limit:?}")]
    Timeout { host: String, what: Wait, limit: Duration },
    /// The connection ended before the answer did.
    #[error("the connection to {host} was cut")]
    Cut {
        host: String,
        #[source]
        source: Cause,
    },
    #[error("the answer of {host} is longer than {limit} bytes")]
    TooLarge { host: String, limit: usize },
}

impl SendError {
    /// Whether the same request may succeed a little later. A request that is not idempotent may have had its effect,
    /// unless this is [`SendError::Connect`].
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Timeout { .. } | Self::Cut { .. } => true,
            Self::Address { .. } | Self::Tls { .. } | Self::TooLarge { .. } => false,
        }
    }
}

/// The wait that exceeded its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Name, proxy, connection and TLS handshake together.
    Connect,
    /// The head of the answer, from the beginning of the request.
    Head,
    /// The next bytes of the body.
    Chunk,
    /// The whole exchange.
    Total,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Head => "the beginning of the answer",
            Self::Chunk => "the next piece of the answer",
            Self::Total => "the whole answer",
        })
    }
}
