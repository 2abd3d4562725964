//! Why a forge's response could not be used, for the log.

use http::StatusCode;
use thiserror::Error;

/// Why a forge's response could not be used.
#[derive(Debug, Error)]
pub(crate) enum UnusableReply {
    #[error("{forge} answered {status}{words}")]
    Status { forge: String, status: StatusCode, words: String },
    #[error("{forge} limits the rate of requests")]
    Limited { forge: String },
    #[error("{forge} answered with {what}")]
    Unreadable { forge: String, what: &'static str },
    #[error("{forge} has a pull request for the branch but does not list it")]
    Unlisted { forge: String },
}
