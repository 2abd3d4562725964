//! `POST /discovery/v2/assistant/{domain}/message`: a question, answered by a stream.

use std::time::Duration;

use bytes::Bytes;
use docent_assistant::{Ask, Reply};
use docent_types::Project;
use docent_ui_stream::{FinishStyle, UiMessageStream};
use docent_web::{Request, Response, respond, with_keep_alive};
use http::header::{ORIGIN, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::ask_body::{AskBody, Question};
use crate::face::{ASSISTANT_BODY, Face};
use crate::failure::Failure;
use crate::reply::ReplyBytes;

/// Silence that is broken by a sign of life.
const SILENCE: Duration = Duration::from_secs(15);
const THREAD_ID: HeaderName = HeaderName::from_static("x-thread-id");
const THREAD_KEY: HeaderName = HeaderName::from_static("x-thread-key");

pub(crate) async fn ask(face: &Face, request: &mut Request, project: Project) -> Result<Response, Failure> {
    let body: AskBody = request.json(ASSISTANT_BODY).await?.parse()?;
    let question = body.question()?;
    let finish = finish_style(request, &question);
    let docs = face.docs.snapshot(&project).await?;
    let reply = face
        .assistant
        .answer(Ask {
            domain: project.domain,
            docs,
            fp: question.fp,
            said: question.said,
            thread: question.thread,
            thread_key: question.thread_key,
            passages: question.passages,
            filter: question.filter.into(),
            context: question.context,
            current_path: question.current_path,
        })
        .await?;
    Ok(present(reply, finish))
}

/// The SDK and browsers get what SDK releases of any age take, everybody else the values at the top level too.
fn finish_style(request: &Request, question: &Question) -> FinishStyle {
    let by_agent = request
        .headers()
        .get_all(USER_AGENT)
        .iter()
        .any(|agent| agent.as_bytes().windows(7).any(|window| window.eq_ignore_ascii_case(b"ai-sdk/")));
    let asked_for = request.query("sdk").is_some_and(|sdk| sdk == "strict");
    if question.by_sdk || by_agent || asked_for || request.headers().contains_key(ORIGIN) {
        FinishStyle::Strict
    } else {
        FinishStyle::Open
    }
}

fn present(reply: Reply, finish: FinishStyle) -> Response {
    let bytes = ReplyBytes::new(reply.events, UiMessageStream::new(finish));
    let keep_alive = Bytes::from_static(UiMessageStream::KEEP_ALIVE);
    let mut response = respond::stream(UiMessageStream::CONTENT_TYPE, with_keep_alive(bytes, keep_alive, SILENCE));
    let headers = response.headers_mut();
    let (name, version) = UiMessageStream::PROTOCOL_HEADER;
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(version));
    insert(headers, THREAD_ID, &reply.thread.to_string());
    if let Some(key) = &reply.new_key {
        insert(headers, THREAD_KEY, key);
    }
    response
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // Ids and keys of threads are letters, digits and hyphens.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
