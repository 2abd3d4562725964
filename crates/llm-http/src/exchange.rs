//! One request and its reply, over the network.

use std::cell::Cell;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use docent_http_client::{Chunks, Client, Response, SendError, Wait, retry_after};
use docent_llm::{Event, EventStream, Model, ModelError, ModelErrorKind, Request, ToolChoice};
use docent_types::{BoxError, Message, Role};
use futures::stream::{Stream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use tokio::time::{Sleep, sleep, timeout};

use crate::call_failure::{CallFailure, FailureReply, Peer};
use crate::decoder::{Broken, Decoder, Reply};

/// The most bytes of an answer that is not a reply.
const ASIDE_LIMIT: usize = 64 << 10;

/// The most bytes of a list of models, of which some servers have hundreds.
const LIST_LIMIT: usize = 8 << 20;

/// How long a check may take.
const CHECK: Duration = Duration::from_secs(30);

/// How long the end of the connection's answer is waited for behind the end of the reply, so that the connection can be
/// used again.
const LINGER: Duration = Duration::from_millis(100);

/// Asks one peer.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) client: Client,
    pub(crate) peer: Peer,
    pub(crate) idle: Duration,
    /// What every request carries: the key, and which version of the API is meant.
    pub(crate) headers: HeaderMap,
}

/// A request that was answered with anything but 2xx.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) reported: FailureReply,
    pub(crate) error: ModelError,
    pub(crate) status: u16,
}

impl Exchange {
    /// Asks for the list of models, and, where the list does not settle it, the model itself for a word.
    pub(crate) async fn check(&self, list: &str, model: &dyn Model) -> Result<String, ModelError> {
        let checked = async {
            let listed = match self.get(list, LIST_LIMIT).await {
                Ok(list) => list.is_some_and(|list| lists(&list, &self.peer.model)),
                Err(refusal) if matches!(refusal.status, 0 | 401 | 403) => return Err(refusal.error),
                Err(_) => false,
            };
            if !listed {
                self.ask_for_a_word(model).await?;
            }
            Ok(format!("{} {} answers at {}", self.peer.provider, self.peer.model, self.peer.base))
        };
        timeout(CHECK, checked).await.unwrap_or_else(|_| {
            Err(self.peer.own(ModelErrorKind::Unreachable, &format!("it has not answered within {CHECK:?}")))
        })
    }

    async fn ask_for_a_word(&self, model: &dyn Model) -> Result<(), ModelError> {
        let mut events = model
            .stream(Request {
                system: String::new(),
                messages: vec![Message::text(Role::User, "Say: yes.")],
                tools: Vec::new(),
                tool_choice: ToolChoice::None,
                max_tokens: 16,
            })
            .await?;
        while let Some(event) = events.next().await {
            event?;
        }
        Ok(())
    }

    /// Posts JSON and gives the answer when it is a good one.
    pub(crate) async fn post(&self, path: &str, body: Bytes) -> Result<Response, Refusal> {
        self.send(Method::POST, path, body).await
    }

    /// A JSON answer to a `GET`, at most `limit` bytes of it; `None` when it is something else.
    pub(crate) async fn get(&self, path: &str, limit: usize) -> Result<Option<Value>, Refusal> {
        let answer = self.send(Method::GET, path, Bytes::new()).await?;
        Ok(answer.bytes(limit).await.ok().and_then(|body| serde_json::from_slice(&body).ok()))
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Response, Refusal> {
        let mut request = http::Request::new(body);
        // A base that was parsed stays an address with a path behind it; the client says so where it does not.
        *request.uri_mut() = self.peer.base.join(path).parse().unwrap_or_default();
        request.headers_mut().clone_from(&self.headers);
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        *request.method_mut() = method;
        let answer = self.client.send(request).await.map_err(|error| self.unsent(error))?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.refused(answer).await) }
    }

    fn unsent(&self, error: SendError) -> Refusal {
        let transient = error.is_transient();
        let kind = if transient { ModelErrorKind::Unreachable } else { ModelErrorKind::Fatal };
        let error = self.peer.own(kind, "it could not be asked").because(error);
        Refusal { reported: FailureReply::default(), error, status: 0 }
    }

    async fn refused(&self, answer: Response) -> Refusal {
        let status = answer.status();
        let wait = retry_after(answer.headers(), SystemTime::now());
        if status.is_redirection() {
            let target = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            let sentence = format!("it redirects to {}: correct `base_url`", self.peer.presentable(target));
            let error = self.peer.own(ModelErrorKind::Fatal, &sentence);
            return Refusal { reported: FailureReply::default(), error, status: status.as_u16() };
        }
        // What cannot be read of the answer is not missed: its status says enough.
        let body = answer.bytes(ASIDE_LIMIT).await.unwrap_or_default();
        let reported = serde_json::from_slice(&body).ok().and_then(|body| FailureReply::of(&body)).unwrap_or_default();
        let error = self.peer.error(reported.sort(Some(status)), wait, &reported);
        Refusal { reported, error, status: status.as_u16() }
    }

    /// The events of an answer. Dropping the stream closes the connection.
    pub(crate) fn events<R: Reply>(&self, answer: Response, reply: R) -> Result<EventStream, ModelError> {
        let media = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media = media.to_ascii_lowercase();
        if media.contains("html") {
            let sentence = "it answers with a web page: `base_url` looks wrong";
            return Err(self.peer.own(ModelErrorKind::Fatal, sentence));
        }
        let is_whole = media.contains("json");
        let decoder = if is_whole { Decoder::of_whole(reply) } else { Decoder::of_stream(reply) };
        let listening = ReplyStream {
            chunks: Some(answer.within(self.idle).chunks()),
            decoder,
            ready: Vec::new(),
            broken: None,
            linger: None,
            peer: self.peer.clone(),
        };
        Ok(listening.boxed())
    }
}

/// More room than for so many events is not kept.
const MOST_ROOM: usize = 64;

thread_local! {
    /// Room for what comes at once, for one reply after the other: it is at hand then.
    static ROOM: Cell<Vec<Event>> = const { Cell::new(Vec::new()) };
}

/// Takes back room that is empty.
fn given(room: Vec<Event>) {
    if room.capacity() <= MOST_ROOM {
        ROOM.set(room);
    }
}

/// A reply on its way.
struct ReplyStream<R> {
    /// `None` once nothing more is expected.
    chunks: Option<Chunks>,
    decoder: Decoder<R>,
    /// What came at once and is not given yet, the last first. Takes no room once it is: a reply waits most of the time.
    ready: Vec<Event>,
    /// What the reply broke off with, behind that.
    broken: Option<Box<ModelError>>,
    /// Runs once the reply is over and the rest of the answer is waited for.
    linger: Option<Pin<Box<Sleep>>>,
    peer: Peer,
}

impl<R: Reply> Stream for ReplyStream<R> {
    type Item = Result<Event, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            // Release the connection before the last event: its receiver may drop this stream.
            if this.decoder.is_over() && this.ready.len() <= 1 {
                ready!(this.let_go(context));
            }
            if let Some(event) = this.ready.pop() {
                if this.ready.is_empty() {
                    given(mem::take(&mut this.ready));
                }
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(error) = this.broken.take() {
                return Poll::Ready(Some(Err(*error)));
            }
            let Some(chunks) = this.chunks.as_mut() else { return Poll::Ready(None) };
            match ready!(chunks.poll_next_unpin(context)) {
                Some(Ok(bytes)) => {
                    let mut events = ROOM.take();
                    let fed = this.decoder.feed(&bytes, &mut events);
                    this.take(events, fed.err());
                }
                None => this.ended(None),
                Some(Err(SendError::Timeout { what: Wait::Chunk, limit, .. })) => {
                    this.ended(Some(format!("nothing came for {limit:?}").into()));
                }
                Some(Err(error)) => this.ended(Some(error.into())),
            }
        }
    }
}

impl<R: Reply> ReplyStream<R> {
    /// No more bytes come. That is an end like any other where the reply says that it is whole.
    fn ended(&mut self, cause: Option<BoxError>) {
        let mut events = Vec::new();
        let ended = self.decoder.end(&mut events);
        self.take(events, ended.err());
        self.chunks = None;
        if let Some(cause) = cause {
            self.broken = self.broken.take().map(|error| Box::new(error.because(cause)));
        }
    }

    /// Nothing is left of what came before.
    fn take(&mut self, mut events: Vec<Event>, broken: Option<Broken>) {
        if events.is_empty() {
            given(events);
        } else {
            events.reverse();
            self.ready = events;
        }
        if let Some(broken) = broken {
            self.broken = Some(Box::new(self.error(broken)));
            self.chunks = None;
        }
    }

    /// Reads what is left behind the end, for a moment.
    fn let_go(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(chunks) = self.chunks.as_mut() else { return Poll::Ready(()) };
        loop {
            match chunks.poll_next_unpin(context) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(_) => break,
                Poll::Pending => {
                    let linger = self.linger.get_or_insert_with(|| Box::pin(sleep(LINGER)));
                    ready!(linger.as_mut().poll(context));
                    break;
                }
            }
        }
        self.chunks = None;
        Poll::Ready(())
    }

    fn error(&self, broken: Broken) -> ModelError {
        match broken {
            Broken::Reported(reported) => self.peer.error(reported.sort(None), None, &reported),
            Broken::Refused => self.peer.error(CallFailure::Refused, None, &FailureReply::default()),
            Broken::Cut => self.peer.error(CallFailure::Interrupted, None, &FailureReply::default()),
            Broken::Garbled => self.peer.own(ModelErrorKind::Interrupted, "its reply cannot be read"),
            Broken::Foreign => self
                .peer
                .own(ModelErrorKind::Fatal, "what it answers is not a reply of a model: `base_url` looks wrong"),
            Broken::Endless => self.peer.own(ModelErrorKind::Fatal, "its reply is longer than any reply should be"),
        }
    }
}

/// Whether a list of models, as both wires have it, names one.
fn lists(list: &Value, model: &str) -> bool {
    list["data"].as_array().is_some_and(|models| models.iter().any(|listed| listed["id"] == model))
}

/// The headers of a wire: its key, marked as sensitive, and others that never change.
pub(crate) fn headers(key: Option<(HeaderName, HeaderValue)>, others: &[(&'static str, &'static str)]) -> HeaderMap {
    let others = others.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    key.into_iter().chain(others).collect()
}
