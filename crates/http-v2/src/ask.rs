//! `POST /discovery/v2/assistant/{domain}/message`: a question, answered by a stream.

use docent_access::Principal;
use docent_discovery::LARGEST_BODY;
use docent_web::{HttpError, Request, Response};

use crate::api::Api;
use crate::ask_body::AskBody;
use crate::reply_stream::reply_stream;

pub(crate) async fn ask(api: &Api, request: &mut Request, principal: &Principal) -> Result<Response, HttpError> {
    let body: AskBody = request.json(LARGEST_BODY).await?.parse()?;
    let question = body.question()?;
    let stream = reply_stream(request, question.by_sdk)?;
    api.answering.answer(question, principal, request, stream).await
}
