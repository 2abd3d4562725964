//! `POST /discovery/v1/assistant/{domain}/message`: a question, answered by a stream.

use docent_access::Principal;
use docent_discovery::LARGEST_BODY;
use docent_ui_stream::DataStream;
use docent_web::{HttpError, Request, Response};

use crate::api::Api;
use crate::ask_body::AskBody;

pub(crate) async fn ask(api: &Api, request: &mut Request, principal: &Principal) -> Result<Response, HttpError> {
    let body: AskBody = request.json(LARGEST_BODY).await?.parse()?;
    api.answering.answer(body.question()?, principal, request, DataStream::new()).await
}
