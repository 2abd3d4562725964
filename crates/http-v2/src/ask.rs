//! `POST /discovery/v2/assistant/{domain}/message`: a question, answered by a stream.

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use docent_assistant::{Ask, Reply};
use docent_types::{Project, StreamEvent};
use docent_ui_stream::{FinishStyle, UiMessageStream};
use docent_web::{HttpError, Request, Response, framed, respond, with_keep_alive};
use futures::Stream;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::ask_body::AskBody;
use crate::face::{ASSISTANT_BODY, Face};

/// Silence that is broken by a sign of life.
const SILENCE: Duration = Duration::from_secs(15);
const BROKE_OFF: &str = "The answer broke off. Ask again.";
const THREAD_ID: HeaderName = HeaderName::from_static("x-thread-id");
const THREAD_KEY: HeaderName = HeaderName::from_static("x-thread-key");

pub(crate) async fn ask(face: &Face, request: &mut Request, project: Project) -> Result<Response, HttpError> {
    let body: AskBody = request.json(ASSISTANT_BODY).await?.parse()?;
    let question = body.question()?;
    let finish = FinishStyle::for_reader(request.headers(), request.query("sdk").as_deref(), question.by_sdk);
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

fn present(reply: Reply, finish: FinishStyle) -> Response {
    let bytes = frames(reply.events, finish);
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

fn frames(
    events: impl Stream<Item = StreamEvent> + Send + 'static,
    finish: FinishStyle,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let mut encoder = UiMessageStream::new(finish);
    framed(events, move |event, out| {
        // An end without a last word must not look like an answer.
        let event = event.unwrap_or_else(|| StreamEvent::Error { sentence: BROKE_OFF.to_owned() });
        encoder.encode(&event, out);
        if encoder.ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // Ids and keys of threads are letters, digits and hyphens.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{FinishReason, Usage};
    use futures::{FutureExt, StreamExt, stream};

    use super::*;

    fn delta(text: &str) -> StreamEvent {
        StreamEvent::TextDelta { id: "0".into(), text: text.into() }
    }

    #[test]
    fn a_reply_that_just_stops_ends_in_an_error() {
        let frames = frames(stream::iter([delta("a")]), FinishStyle::Strict);
        let all: Vec<_> = frames.collect().now_or_never().unwrap();
        assert!(all.concat().ends_with(b"{\"type\":\"error\",\"errorText\":\"The answer broke off. Ask again.\"}\n\n"));
    }

    #[test]
    fn the_body_ends_at_the_last_word_even_if_more_events_come() {
        let finish = StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::default(), thread_id: None };
        let frames = frames(stream::iter([delta("a"), finish]).chain(stream::pending()), FinishStyle::Strict);
        let all: Vec<_> = frames.collect().now_or_never().expect("it does not wait");
        assert!(all.concat().ends_with(b"data: [DONE]\n\n"));
    }
}
