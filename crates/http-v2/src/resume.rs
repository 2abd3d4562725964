//! `GET /discovery/v2/assistant/{domain}/message/{chatId}/stream`: go on with a reply that was cut off.
//!
//! Replies are not kept for that: hanging up cancels the model call, so there is never one to go on with, and 204 is how
//! the protocol says so. Chat clients ask on every page load.

use docent_web::{Response, respond};
use http::StatusCode;

pub(crate) fn resume() -> Response {
    respond::empty(StatusCode::NO_CONTENT)
}
