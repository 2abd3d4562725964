//! `GET /discovery/v1/assistant/{domain}/message?chatId=`: resumes an interrupted reply from its beginning.
//!
//! The protocol cannot express that there is no reply to resume: its clients treat 204 as an error, and an empty stream
//! as no addition.

use docent_access::Principal;
use docent_types::Refusal;
use docent_ui_stream::{DataStream, Encoder};
use docent_web::{HttpError, Request, Response, respond};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::api::Api;

pub(crate) fn resume(api: &Api, request: &Request, principal: &Principal) -> Result<Response, HttpError> {
    let Some(chat) = request.query("chatId") else {
        let sentence = "chatId: the query must name the chat to go on with; to ask a question, send it with POST";
        return Err(Refusal::invalid(sentence).into());
    };
    let resumed = api.answering.resume(&chat, principal, request, DataStream::new());
    Ok(resumed.unwrap_or_else(nothing_to_add))
}

fn nothing_to_add() -> Response {
    let mut response = respond::bytes_of(StatusCode::OK, DataStream::CONTENT_TYPE, "");
    let (name, version) = DataStream::PROTOCOL_HEADER;
    response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(version));
    response
}
