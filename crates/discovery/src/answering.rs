//! Answers a question with a stream of events.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use docent_access::{KeyWatch, Principal, Reader};
use docent_assistant::{AnswerStream, AskRequest, Assistant, SearchLog};
use docent_types::{Project, Refusal, StreamEvent, ThreadId};
use docent_ui_stream::Encoder;
use docent_web::{HttpError, Request, Response, framed, respond, with_keep_alive};
use futures::stream::{self, Stream};
use futures::{FutureExt, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::ask_body::Question;
use crate::chat::{Chat, ChatId};
use crate::docs::Docs;
use crate::live::Live;
use crate::permit::Permit;
use crate::readable_docs::ReadableDocs;
use crate::replies::Replies;
use crate::whole_reply::WholeReply;

/// Interval of keep-alive bytes on a silent stream.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
const BROKE_OFF: &str = "The answer broke off. Ask again.";
const KEY_INVALID: &str = "The answer broke off, because the API key is no longer valid. Ask again with another key.";
const THREAD_ID: HeaderName = HeaderName::from_static("x-thread-id");
const THREAD_KEY: HeaderName = HeaderName::from_static("x-thread-key");

/// The services that every answer needs. The API versions of one server share them.
#[derive(Debug, Clone)]
pub struct Answering {
    pub assistant: Arc<Assistant>,
    pub docs: Arc<dyn Docs>,
    pub replies: Replies,
    pub searches: SearchLog,
}

impl Answering {
    /// Answers a question in the protocol of `encoder`. Later failures are events of the stream; so is the end of the
    /// key's validity, which ends it.
    ///
    /// # Errors
    /// 404 for a thread that is not this site's, 429 when too many replies run, 503 when there are no docs to answer
    /// from.
    pub async fn answer<E: Encoder>(
        &self,
        question: Question,
        principal: &Principal,
        request: &Request,
        encoder: E,
    ) -> Result<Response, HttpError> {
        let project = &*principal.project;
        let chat = question.chat.clone().and_then(|id| Chat::of(project, id, Some(&question.fp), request.client()));
        let (reply, permit) = self.begin(question, project).await?;
        let live = Live::new(reply.events, permit);
        let resumable = match chat {
            Some(chat) => self.replies.chats.begin(chat, live, reply.thread, request.draining().clone()),
            None => Err(live),
        };
        let mut response = match resumable {
            Ok(chat_reader) => self.present(chat_reader, principal, reply.thread, encoder),
            Err(live) => self.present(live, principal, reply.thread, encoder),
        };
        if let Some(key) = &reply.new_key {
            insert(response.headers_mut(), THREAD_KEY, key);
        }
        Ok(response)
    }

    /// Answers a question and waits for the end of the reply.
    ///
    /// # Errors
    /// Those of [`Answering::answer`]; 503 when the reply fails, and 401 when the key stops being valid before its end.
    pub async fn whole(&self, question: Question, reader: &Reader) -> Result<WholeReply, HttpError> {
        let (reply, permit) = self.begin(question, reader.project()).await?;
        let gathered = WholeReply::gather(Live::new(reply.events, permit));
        let whole = match reader {
            Reader::Holder(principal) => principal.key_watch().unless_ended(gathered).await.map_err(Refusal::from)?,
            Reader::Anybody(_) => gathered.await,
        };
        Ok(whole?)
    }

    async fn begin(&self, question: Question, project: &Project) -> Result<(AnswerStream, Permit), HttpError> {
        let permit = self.replies.permit(project.uid)?;
        let docs = self.docs.snapshot(project).await?;
        let reply = self
            .assistant
            .answer(AskRequest {
                project: project.uid,
                domain: project.domain.clone(),
                docs,
                fp: question.fp,
                said: question.messages,
                thread: question.thread,
                thread_key: question.thread_key,
                passages: question.passages,
                filter: question.filter.into(),
                context: question.context,
                current_path: question.current_path,
            })
            .await?;
        Ok((reply, permit))
    }

    /// The docs of a reader's project in their current state.
    ///
    /// # Errors
    /// 503 when there are no docs to read yet.
    pub async fn readable(&self, reader: &Reader) -> Result<ReadableDocs, Refusal> {
        let project = reader.project();
        let docs = self.docs.snapshot(project).await?;
        Ok(ReadableDocs::new(docs, self.assistant.site(project.uid), reader))
    }

    /// Resumes the reply of a chat from its beginning, in the protocol of `encoder`, which may differ from the one
    /// before. `None` when this client has nothing to resume.
    pub fn resume<E: Encoder>(
        &self,
        chat: &str,
        principal: &Principal,
        request: &Request,
        encoder: E,
    ) -> Option<Response> {
        let chat = Chat::of(&principal.project, ChatId::of(chat)?, None, request.client())?;
        let chat_reader = self.replies.chats.resume(&chat, request.draining().clone())?;
        let thread = chat_reader.thread();
        Some(self.present(chat_reader, principal, thread, encoder))
    }

    /// Ends the reply of a chat, with its model call, whoever reads it. Does nothing when this client has none.
    pub fn stop(&self, chat: &str, principal: &Principal, request: &Request) {
        let id = ChatId::of(chat);
        if let Some(chat) = id.and_then(|id| Chat::of(&principal.project, id, None, request.client())) {
            self.replies.chats.stop(&chat);
        }
    }

    fn present<E: Encoder>(
        &self,
        events: impl Stream<Item = StreamEvent> + Send + Unpin + 'static,
        principal: &Principal,
        thread: ThreadId,
        encoder: E,
    ) -> Response {
        let events = while_key_is_valid(events, principal.key_watch());
        let bytes = frames(events, encoder);
        let bytes = with_keep_alive(bytes, Bytes::from_static(E::KEEP_ALIVE), KEEP_ALIVE_INTERVAL);
        let mut response = respond::stream(E::CONTENT_TYPE, bytes);
        let headers = response.headers_mut();
        let (name, version) = E::PROTOCOL_HEADER;
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(version));
        insert(headers, THREAD_ID, &thread.to_string());
        response
    }
}

/// Passes the events on while the key is valid, and then one error. Their source is dropped at once.
fn while_key_is_valid(
    events: impl Stream<Item = StreamEvent> + Send + Unpin + 'static,
    mut key: KeyWatch,
) -> impl Stream<Item = StreamEvent> + Send + 'static {
    let ended = Box::pin(async move {
        key.ended().await;
    });
    let mut running = Some((events, ended));
    stream::poll_fn(move |cx| {
        let Some((events, ended)) = &mut running else { return Poll::Ready(None) };
        // Events that are ready are still sent, so that a finished reply ends regularly.
        let event = events.poll_next_unpin(cx);
        if event.is_ready() || ended.poll_unpin(cx).is_pending() {
            return event;
        }
        running = None;
        Poll::Ready(Some(StreamEvent::Error { sentence: KEY_INVALID.to_owned() }))
    })
}

/// The events of a reply, as frames.
fn frames(
    events: impl Stream<Item = StreamEvent> + Send + 'static,
    mut encoder: impl Encoder,
) -> impl Stream<Item = Bytes> + Send + 'static {
    framed(events, move |event, out| {
        // A stream that ends without its last event must not look like a complete answer.
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
    use docent_types::{FinishReason, ProjectUid, Usage};
    use docent_ui_stream::{DataStream, FinishStyle, UiMessageStream};
    use uuid::Uuid;

    use super::*;

    fn delta(text: &str) -> StreamEvent {
        StreamEvent::TextDelta { id: "0".into(), text: text.into() }
    }

    fn finish() -> StreamEvent {
        StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::default(), thread_id: None }
    }

    fn live(replies: &Replies, events: impl Stream<Item = StreamEvent> + Send + 'static) -> Live {
        let permit = replies.permit(ProjectUid::new(Uuid::from_u128(1))).expect("a place");
        Live::new(events.boxed(), permit)
    }

    #[test]
    fn a_reply_that_just_stops_ends_in_an_error() {
        let replies = Replies::default();
        let strict = UiMessageStream::new(FinishStyle::Strict);
        let half = || live(&replies, stream::iter([delta("a")]));
        let all: Vec<_> = frames(half(), strict).collect().now_or_never().unwrap();
        assert!(all.concat().ends_with(b"{\"type\":\"error\",\"errorText\":\"The answer broke off. Ask again.\"}\n\n"));
        let all: Vec<_> = frames(half(), DataStream::new()).collect().now_or_never().unwrap();
        assert_eq!(all.concat(), b"0:\"a\"\n3:\"The answer broke off. Ask again.\"\n");
        assert_eq!((replies.counts().failed, replies.counts().running), (2, 0));
    }

    #[test]
    fn the_body_ends_at_the_last_word_even_if_more_events_come() {
        let replies = Replies::default();
        let events = || live(&replies, stream::iter([delta("a"), finish()]).chain(stream::pending()));
        let strict = UiMessageStream::new(FinishStyle::Strict);
        let all: Vec<_> = frames(events(), strict).collect().now_or_never().expect("it does not wait");
        assert!(all.concat().ends_with(b"data: [DONE]\n\n"));
        let all: Vec<_> = frames(events(), DataStream::new()).collect().now_or_never().expect("it does not wait");
        assert!(all.concat().starts_with(b"0:\"a\"\nd:{"));
        assert_eq!(replies.counts().finished, 2);
    }

    #[test]
    fn a_reply_counts_as_running_until_its_reader_leaves() {
        let replies = Replies::default();
        let events = live(&replies, stream::iter([delta("a")]).chain(stream::pending()));
        let mut frames = Box::pin(frames(events, DataStream::new()));
        assert_eq!(frames.next().now_or_never().flatten().unwrap(), "0:\"a\"\n");
        assert_eq!(replies.counts().running, 1);
        drop(frames);
        assert_eq!((replies.counts().running, replies.counts().left), (0, 1));
    }
}
