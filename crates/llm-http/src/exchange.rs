//! Sends one request and receives its reply, over the network.

use std::collections::VecDeque;
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

use crate::call_failure::{CallFailure, FailureReply, Upstream};
use crate::decoder::{Decoder, ReplyError, ReplyParser};

/// Maximum size of an error body that is read, in bytes.
const ERROR_BODY_LIMIT: usize = 64 << 10;

/// Maximum size of a list of models, in bytes. Some servers list hundreds of models.
const LIST_LIMIT: usize = 8 << 20;

/// Time limit of a check.
const CHECK_LIMIT: Duration = Duration::from_secs(30);

/// How long to wait for the end of the answer after the end of the reply, so that the connection can be reused.
const LINGER: Duration = Duration::from_millis(100);

/// Sends the requests to one model server.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) client: Client,
    pub(crate) upstream: Upstream,
    pub(crate) idle: Duration,
    /// Headers of every request: the key and the API version.
    pub(crate) headers: HeaderMap,
}

/// A request whose response was not 2xx.
#[derive(Debug)]
pub(crate) struct RefusedCall {
    pub(crate) reported: FailureReply,
    pub(crate) error: ModelError,
    pub(crate) status: u16,
}

impl Exchange {
    /// Looks for the model in the server's list. If it is not there, sends it a short request.
    pub(crate) async fn check(&self, list: &str, model: &dyn Model) -> Result<String, ModelError> {
        let checked = async {
            let listed = match self.get(list, LIST_LIMIT).await {
                Ok(list) => list.is_some_and(|list| lists(&list, &self.upstream.model)),
                Err(refusal) if matches!(refusal.status, 0 | 401 | 403) => return Err(refusal.error),
                Err(_) => false,
            };
            if !listed {
                self.try_completion(model).await?;
            }
            Ok(format!("{} {} answers at {}", self.upstream.provider, self.upstream.model, self.upstream.base))
        };
        timeout(CHECK_LIMIT, checked).await.unwrap_or_else(|_| {
            Err(self.upstream.own(ModelErrorKind::Unreachable, &format!("it did not answer within {CHECK_LIMIT:?}")))
        })
    }

    async fn try_completion(&self, model: &dyn Model) -> Result<(), ModelError> {
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

    /// Posts JSON and returns the answer if its status is 2xx.
    pub(crate) async fn post(&self, path: &str, body: Bytes) -> Result<Response, RefusedCall> {
        self.send(Method::POST, path, body).await
    }

    /// The JSON answer to a `GET`, at most `limit` bytes; `None` when it is not JSON.
    pub(crate) async fn get(&self, path: &str, limit: usize) -> Result<Option<Value>, RefusedCall> {
        let answer = self.send(Method::GET, path, Bytes::new()).await?;
        Ok(answer.bytes(limit).await.ok().and_then(|body| serde_json::from_slice(&body).ok()))
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Response, RefusedCall> {
        let mut request = http::Request::new(body);
        // A parsed base with a path appended is a valid URL. Otherwise the client would refuse it.
        *request.uri_mut() = self.upstream.base.join(path).parse().unwrap_or_default();
        request.headers_mut().clone_from(&self.headers);
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        if method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        *request.method_mut() = method;
        let answer = self.client.send(request).await.map_err(|error| self.unsent(error))?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.refused_call(answer).await) }
    }

    fn unsent(&self, error: SendError) -> RefusedCall {
        let transient = error.is_transient();
        let kind = if transient { ModelErrorKind::Unreachable } else { ModelErrorKind::Fatal };
        let error = self.upstream.own(kind, "the request could not be sent").because(error);
        RefusedCall { reported: FailureReply::default(), error, status: 0 }
    }

    async fn refused_call(&self, answer: Response) -> RefusedCall {
        let status = answer.status();
        let wait = retry_after(answer.headers(), SystemTime::now());
        if status.is_redirection() {
            let target = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            let sentence = format!("it redirects to {}: correct `base_url`", self.upstream.presentable(target));
            let error = self.upstream.own(ModelErrorKind::Fatal, &sentence);
            return RefusedCall { reported: FailureReply::default(), error, status: status.as_u16() };
        }
        // If the body cannot be read, the status is sufficient.
        let body = answer.bytes(ERROR_BODY_LIMIT).await.unwrap_or_default();
        let reported = serde_json::from_slice(&body).ok().and_then(|body| FailureReply::of(&body)).unwrap_or_default();
        let error = self.upstream.error(reported.classify(Some(status)), wait, &reported);
        RefusedCall { reported, error, status: status.as_u16() }
    }

    /// The events of an answer. Dropping the stream closes the connection.
    pub(crate) fn events<P: ReplyParser>(&self, answer: Response, parser: P) -> Result<EventStream, ModelError> {
        let media = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // Parameters, such as a charset, say nothing of the framing.
        let media = media.split(';').next().unwrap_or_default().to_ascii_lowercase();
        if media.contains("html") {
            let sentence = "it answers with a web page: check `base_url`";
            return Err(self.upstream.own(ModelErrorKind::Fatal, sentence));
        }
        let is_whole = media.contains("json");
        let decoder = if is_whole { Decoder::of_whole(parser) } else { Decoder::of_stream(parser) };
        let events = ReplyStream {
            chunks: Some(answer.within(self.idle).chunks()),
            decoder,
            ready: VecDeque::new(),
            failure: None,
            linger: None,
            upstream: self.upstream.clone(),
        };
        Ok(events.boxed())
    }
}

/// The events of a reply that is being received.
struct ReplyStream<P> {
    /// The body of the answer; `None` once nothing more is expected.
    chunks: Option<Chunks>,
    decoder: Decoder<P>,
    /// Events that are received but not returned yet.
    ready: VecDeque<Event>,
    /// The error that follows those events.
    failure: Option<Box<ModelError>>,
    /// Runs while the rest of the body after the end of the reply is read.
    linger: Option<Pin<Box<Sleep>>>,
    upstream: Upstream,
}

impl<P: ReplyParser> Stream for ReplyStream<P> {
    type Item = Result<Event, ModelError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            // Release the connection before the last event: its receiver may drop this stream.
            if this.decoder.is_over() && this.ready.len() <= 1 {
                ready!(this.poll_rest(context));
            }
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(error) = this.failure.take() {
                return Poll::Ready(Some(Err(*error)));
            }
            let Some(chunks) = this.chunks.as_mut() else { return Poll::Ready(None) };
            match ready!(chunks.poll_next_unpin(context)) {
                Some(Ok(bytes)) => {
                    let mut events = Vec::new();
                    let fed = this.decoder.feed(&bytes, &mut events);
                    this.accept(events, fed);
                }
                None => this.body_ended(None),
                Some(Err(SendError::Timeout { what: Wait::Chunk, limit, .. })) => {
                    this.body_ended(Some(format!("no data for {limit:?}").into()));
                }
                Some(Err(error)) => this.body_ended(Some(error.into())),
            }
        }
    }
}

impl<P: ReplyParser> ReplyStream<P> {
    /// Handles the end of the body. Not an error if the reply is complete anyway.
    fn body_ended(&mut self, cause: Option<BoxError>) {
        let mut events = Vec::new();
        let ended = self.decoder.end(&mut events);
        self.accept(events, ended);
        self.chunks = None;
        if let Some(cause) = cause {
            self.failure = self.failure.take().map(|error| Box::new(error.because(cause)));
        }
    }

    fn accept(&mut self, events: Vec<Event>, decoded: Result<(), ReplyError>) {
        self.ready.extend(events);
        if let Err(error) = decoded {
            self.failure = Some(Box::new(self.error(error)));
            self.chunks = None;
        }
    }

    /// Reads the bytes after the end of the reply, for at most [`LINGER`].
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<()> {
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

    fn error(&self, error: ReplyError) -> ModelError {
        match error {
            ReplyError::Reported(reported) => self.upstream.error(reported.classify(None), None, &reported),
            ReplyError::Refused => self.upstream.error(CallFailure::Refused, None, &FailureReply::default()),
            ReplyError::Cut => self.upstream.error(CallFailure::Interrupted, None, &FailureReply::default()),
            ReplyError::Garbled => self.upstream.own(ModelErrorKind::Interrupted, "its reply cannot be read"),
            ReplyError::Foreign => {
                self.upstream.own(ModelErrorKind::Fatal, "its answer is not a reply of a model: check `base_url`")
            }
            ReplyError::TooLong => self.upstream.own(ModelErrorKind::Fatal, "its reply exceeds the size limit"),
        }
    }
}

/// Whether a list of models, whose format both protocols share, contains this one.
fn lists(list: &Value, model: &str) -> bool {
    list["data"].as_array().is_some_and(|models| models.iter().any(|listed| listed["id"] == model))
}

/// The headers of all requests: the key, marked as sensitive, and constant ones.
pub(crate) fn headers(key: Option<(HeaderName, HeaderValue)>, others: &[(&'static str, &'static str)]) -> HeaderMap {
    let others = others.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    key.into_iter().chain(others).collect()
}
