//! `GET /v1/analytics/{projectId}/assistant/threads/{threadId}`: a conversation, message by message.

use docent_assistant::{Thread, Turn};
use docent_types::{Project, Refusal, ThreadId, Timestamp};
use docent_web::{HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;

use crate::api::Api;
use crate::route::NamedResource;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThreadBody<'a> {
    thread_id: String,
    created_at: Timestamp,
    messages: Vec<MessageBody<'a>>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageBody<'a> {
    id: String,
    role: &'static str,
    content: &'a str,
    created_at: Timestamp,
}

pub(crate) async fn thread(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let given = NamedResource::Thread.by(request);
    let thread = match ThreadId::parse(given) {
        Some(id) => api.answering.assistant.thread(&project.domain, id).await?,
        None => None,
    };
    let Some(thread) = thread else {
        let shown: String = given.chars().take(80).collect();
        let sentence =
            format!("threadId: this project has no thread `{shown}`; list its conversations to learn their ids");
        return Err(Refusal::not_found(sentence).into());
    };
    let Thread { id, created_at, turns, .. } = &thread;
    let messages = turns.iter().filter(|turn| !turn.is_imported()).flat_map(messages).collect();
    let body = ThreadBody { thread_id: id.to_string(), created_at: *created_at, messages };
    Ok(respond::json(StatusCode::OK, &body))
}

/// The question, and the answer if there is one. The id of the question is derived from the reply's, because ids of
/// clients repeat.
fn messages(turn: &Turn) -> impl Iterator<Item = MessageBody<'_>> {
    let question = MessageBody {
        id: format!("{}-question", turn.answer_id),
        role: "user",
        content: &turn.question,
        created_at: turn.asked_at,
    };
    let answer = turn.answer.as_deref().map(|content| MessageBody {
        id: turn.answer_id.clone(),
        role: "assistant",
        content,
        created_at: turn.answered_at.unwrap_or(turn.asked_at),
    });
    [Some(question), answer].into_iter().flatten()
}
