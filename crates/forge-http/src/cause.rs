//! Why a forge could not be asked, for the log.

use http::StatusCode;
use thiserror::Error;

/// Why a forge's answer could not be used this time.
#[derive(Debug, Error)]
pub(crate) enum Cause {
    #[error("{forge} answered {status}{words}")]
    Status { forge: String, status: StatusCode, words: String },
    #[error("{forge} takes no more requests of this caller for now")]
    Limited { forge: String },
    #[error("{forge} gave an answer that is not its own, but {what}")]
    Unreadable { forge: String, what: &'static str },
    #[error("{forge} has a pull request for the branch but does not show it")]
    Unseen { forge: String },
}
