//! `GET /discovery/v1/assistant/{domain}/message?chatId=`: go on with a reply that was cut off.
//!
//! Replies of this version are not kept for that. The protocol has no word for it: its clients take 204 for an error and
//! read an empty stream as nothing to add.

use docent_types::Refusal;
use docent_ui_stream::{DataStream, Encoder};
use docent_web::{HttpError, Request, Response, respond};
use http::{HeaderName, HeaderValue, StatusCode};

pub(crate) fn resume(request: &Request) -> Result<Response, HttpError> {
    if request.query("chatId").is_none() {
        let sentence = "chatId: the query must name the chat to go on with; to ask a question, send it with POST";
        return Err(Refusal::invalid(sentence).into());
    }
    let mut response = respond::bytes_of(StatusCode::OK, DataStream::CONTENT_TYPE, "");
    let (name, version) = DataStream::PROTOCOL_HEADER;
    response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(version));
    Ok(response)
}
