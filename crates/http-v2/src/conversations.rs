//! `GET /v1/analytics/{projectId}/assistant`: what readers asked and what they were answered, newest conversation first, a
//! page at a time.
//!
//! A conversation is given with what was asked here. What a client says was said before is its word alone, and a public key
//! is enough to send it, so it is not shown as something the assistant answered.

use docent_assistant::{Conversation, ExportQuery, Feedback, Rating, Turn};
use docent_types::{Project, Timestamp};
use docent_web::{HttpError, Request, Response, respond};
use http::header::CACHE_CONTROL;
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::face::Face;
use crate::parameter::given;
use crate::period::Period;

const MOST: u32 = 100;
const USUAL: u32 = 50;
/// How much a page holds, unless one conversation is more.
const MOST_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversationsBody<'a> {
    conversations: Vec<ConversationBody<'a>>,
    /// What to send as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// Every key is there always; what has no value is null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversationBody<'a> {
    thread_id: String,
    fp: &'a str,
    started_at: Timestamp,
    last_message_at: Timestamp,
    turns: Vec<TurnBody<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TurnBody<'a> {
    message_id: &'a str,
    question: &'a str,
    answer: Option<&'a str>,
    answered: bool,
    sources: &'a [String],
    asked_at: Timestamp,
    feedback: Option<FeedbackBody<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FeedbackBody<'a> {
    rating: Rating,
    comment: Option<&'a str>,
    rated_at: Timestamp,
}

pub(crate) async fn conversations(face: &Face, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let period = Period::of(given(request, "dateFrom").as_deref(), given(request, "dateTo").as_deref())?;
    let limit = request.query_number("limit", 1..=MOST, USUAL)?;
    let after = given(request, "cursor").map(|cursor| period.place(&cursor)).transpose()?;
    let query = ExportQuery {
        domain: project.domain.clone(),
        from: period.from,
        to: period.to,
        after,
        limit,
        most_bytes: MOST_BYTES,
    };
    let found = face.answering.assistant.export(query).await?;
    let body = ConversationsBody {
        conversations: found.conversations.iter().map(ConversationBody::from).collect(),
        next_cursor: found.next.map(|place| period.cursor(place)),
    };
    let mut response = respond::json(StatusCode::OK, &body);
    // What readers wrote is nothing for a cache on the way.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

impl<'a> From<&'a Conversation> for ConversationBody<'a> {
    fn from(conversation: &'a Conversation) -> Self {
        let asked_here = || conversation.turns.iter().filter(|turn| !turn.is_told());
        Self {
            thread_id: conversation.id.to_string(),
            fp: &conversation.fp,
            started_at: conversation.began_at,
            last_message_at: asked_here().map(|turn| turn.asked_at).max().unwrap_or(conversation.began_at),
            turns: asked_here().map(TurnBody::from).collect(),
        }
    }
}

impl<'a> From<&'a Turn> for TurnBody<'a> {
    fn from(turn: &'a Turn) -> Self {
        Self {
            message_id: &turn.answer_id,
            question: &turn.question,
            answer: turn.answer.as_deref(),
            answered: turn.answered,
            sources: &turn.sources,
            asked_at: turn.asked_at,
            feedback: turn.feedback.as_ref().map(FeedbackBody::from),
        }
    }
}

impl<'a> From<&'a Feedback> for FeedbackBody<'a> {
    fn from(feedback: &'a Feedback) -> Self {
        Self { rating: feedback.rating, comment: feedback.comment.as_deref(), rated_at: feedback.at }
    }
}
