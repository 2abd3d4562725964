//! `POST /discovery/v1/assistant/{domain}/feedback`: a reader's rating of a reply.

use docent_assistant::Rating;
use docent_discovery::{LARGEST_BODY, LONGEST_ID};
use docent_types::{Project, Refusal, ThreadId};
use docent_web::{HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Deserialize;

use crate::api::Api;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FeedbackBody {
    thread_id: String,
    message_id: String,
    rating: Rating,
    comment: Option<String>,
}

pub(crate) async fn feedback(api: &Api, request: &mut Request, project: &Project) -> Result<Response, HttpError> {
    let FeedbackBody { thread_id, message_id, rating, comment } = request.json(LARGEST_BODY).await?.parse()?;
    for (name, id) in [("threadId", &thread_id), ("messageId", &message_id)] {
        if id.chars().nth(LONGEST_ID).is_some() {
            let sentence = format!("{name}: it is longer than {LONGEST_ID} characters; send it as the stream had it");
            return Err(Refusal::invalid(sentence).into());
        }
    }
    let thread = ThreadId::parse(&thread_id).ok_or_else(|| {
        let shown: String = thread_id.chars().take(80).collect();
        Refusal::not_found(format!("threadId: there is no thread `{shown}`; send the one that the reply came with"))
    })?;
    api.answering.assistant.rate(&project.domain, thread, &message_id, rating, comment).await?;
    Ok(respond::empty(StatusCode::NO_CONTENT))
}
