//! An answer whose body is still arriving.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::error::{SendError, Wait};

/// The head of an answer, and its body to be read. Dropping it ends the exchange.
pub struct Response {
    head: Parts,
    body: Incoming,
    host: String,
    timeouts: BodyTimeouts,
}

/// Time limits of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyTimeouts {
    pub(crate) idle: Duration,
    /// The deadline for the whole exchange, and its length from the start.
    pub(crate) total: Option<(Instant, Duration)>,
}

impl Response {
    pub(crate) fn new(head: Parts, body: Incoming, host: String, timeouts: BodyTimeouts) -> Self {
        Self { head, body, host, timeouts }
    }

    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Sets the limit between two pieces of the body.
    #[must_use]
    pub fn within(mut self, idle: Duration) -> Self {
        self.timeouts.idle = self.timeouts.idle.min(idle);
        self
    }

    /// The whole body, at most `limit` bytes.
    ///
    /// # Errors
    /// [`SendError::TooLarge`] as soon as it is known to be longer, [`SendError::Timeout`], [`SendError::Cut`].
    pub async fn bytes(self, limit: usize) -> Result<Bytes, SendError> {
        let announced = self.announced_length();
        let mut chunks = self.chunks();
        if announced.is_some_and(|length| length > limit as u64) {
            return Err(chunks.too_large(limit));
        }
        let mut whole = BytesMut::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if whole.len() + chunk.len() > limit {
                return Err(chunks.too_large(limit));
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    /// The whole body as text, at most `limit` bytes. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// Those of [`Response::bytes`].
    pub async fn text(self, limit: usize) -> Result<String, SendError> {
        Ok(String::from_utf8_lossy(&self.bytes(limit).await?).into_owned())
    }

    /// The body as it arrives.
    pub fn chunks(self) -> Chunks {
        let Self { body, host, timeouts, .. } = self;
        Chunks { body, host, timeouts, last: Instant::now(), timer: None, over: false }
    }

    fn announced_length(&self) -> Option<u64> {
        self.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }
}

/// The body of an answer, piece by piece. It ends after its first error: [`SendError::Timeout`] or [`SendError::Cut`].
/// Dropping it ends the exchange.
pub struct Chunks {
    body: Incoming,
    host: String,
    timeouts: BodyTimeouts,
    /// When the last piece came.
    last: Instant,
    /// Runs while a piece is waited for. It is not reset for every piece; it is extended when it fires too early.
    timer: Option<Pin<Box<Sleep>>>,
    over: bool,
}

impl Chunks {
    fn too_large(&self, limit: usize) -> SendError {
        SendError::TooLarge { host: self.host.clone(), limit }
    }

    /// The next bytes, without a time limit.
    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, SendError>>> {
        loop {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    let cut = SendError::Cut { host: self.host.clone(), source: Arc::new(error) };
                    return Poll::Ready(Some(Err(cut)));
                }
                // No caller needs trailers.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Poll::Ready(Some(Ok(data))),
                    _ => {}
                },
            }
        }
    }

    /// Ready once a time limit is exceeded.
    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<SendError> {
        loop {
            let (until, what, limit) = self.timeouts.ends(self.last);
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
            ready!(timer.as_mut().poll(context));
            if timer.deadline() >= until {
                return Poll::Ready(SendError::Timeout { host: self.host.clone(), what, limit });
            }
            timer.as_mut().reset(until);
        }
    }
}

impl Stream for Chunks {
    type Item = Result<Bytes, SendError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(None);
        }
        let next = match this.poll_body(context) {
            Poll::Ready(next) => next,
            Poll::Pending => Some(Err(ready!(this.poll_timeout(context)))),
        };
        this.last = Instant::now();
        this.over = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    }
}

impl BodyTimeouts {
    /// The nearest deadline if the last piece came at `last`, which limit it is, and its length.
    fn ends(&self, last: Instant) -> (Instant, Wait, Duration) {
        let idle = last + self.idle;
        match self.total {
            Some((until, total)) if until < idle => (until, Wait::Total, total),
            _ => (idle, Wait::Chunk, self.idle),
        }
    }
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("host", &self.host).finish_non_exhaustive()
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("host", &self.host).field("status", &self.status()).finish_non_exhaustive()
    }
}
