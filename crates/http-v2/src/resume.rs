//! `GET /discovery/v2/assistant/{domain}/message/{chatId}/stream`: resumes an interrupted reply from its beginning.
//!
//! DELETE on the same path ends the reply.
//!
//! If there is no reply to resume, the protocol requires 204. Chat clients that resume send this request on every page
//! load.

use docent_access::Principal;
use docent_web::{HttpError, Request, Response, respond};
use http::StatusCode;

use crate::api::Api;
use crate::reply_stream::reply_stream;
use crate::route::NamedResource;

pub(crate) fn resume(api: &Api, request: &Request, principal: &Principal) -> Result<Response, HttpError> {
    // A GET has no body that could show that the client is a chat SDK.
    let stream = reply_stream(request, false)?;
    let resumed = api.answering.resume(NamedResource::Chat.by(request), principal, request, stream);
    Ok(resumed.unwrap_or_else(|| respond::empty(StatusCode::NO_CONTENT)))
}

pub(crate) fn stop(api: &Api, request: &Request, principal: &Principal) -> Response {
    api.answering.stop(NamedResource::Chat.by(request), principal, request);
    respond::empty(StatusCode::NO_CONTENT)
}
