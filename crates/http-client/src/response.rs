//! An answer, its body still on the way.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt};
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::direct::DirectBody;
use crate::error::{Cause, SendError, Wait};

/// The head of an answer, and its body to be read. Dropping it ends the exchange.
pub struct Response {
    head: Parts,
    body: Body,
    host: String,
    patience: Patience,
}

/// A body, as it comes from the pool of connections or from a connection of its own.
#[derive(Debug)]
pub(crate) enum Body {
    Pooled(Incoming),
    Direct(DirectBody),
}

/// How long a body may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) idle: Duration,
    /// When the whole has to be there, and how long that was from the beginning.
    pub(crate) total: Option<(Instant, Duration)>,
}

impl Response {
    pub(crate) fn new(head: Parts, body: Body, host: String, patience: Patience) -> Self {
        Self { head, body, host, patience }
    }

    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Waits no longer than this between two pieces of the body.
    #[must_use]
    pub fn within(mut self, idle: Duration) -> Self {
        self.patience.idle = self.patience.idle.min(idle);
        self
    }

    /// The whole body, at most `limit` bytes of it.
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

    /// The whole body as text, at most `limit` bytes of it. What is no UTF-8 becomes U+FFFD.
    ///
    /// # Errors
    /// Those of [`Response::bytes`].
    pub async fn text(self, limit: usize) -> Result<String, SendError> {
        Ok(String::from_utf8_lossy(&self.bytes(limit).await?).into_owned())
    }

    /// The body as it arrives.
    pub fn chunks(self) -> Chunks {
        let Self { body, host, patience, .. } = self;
        Chunks { body, host, patience, last: Instant::now(), timer: None, wakes: None, over: false }
    }

    fn announced_length(&self) -> Option<u64> {
        self.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }
}

/// The body of an answer, piece by piece. It ends after its first error: [`SendError::Timeout`] or [`SendError::Cut`].
/// Dropping it ends the exchange.
pub struct Chunks {
    body: Body,
    host: String,
    patience: Patience,
    /// When the last piece came.
    last: Instant,
    /// Runs while a piece is waited for, until then. It is not moved for every piece, only when it fires too early.
    timer: Option<(Instant, Pin<Box<Sleep>>)>,
    /// Whom the timer wakes. It need not be told again for every piece.
    wakes: Option<Waker>,
    over: bool,
}

impl Chunks {
    fn too_large(&self, limit: usize) -> SendError {
        SendError::TooLarge { host: self.host.clone(), limit }
    }

    /// The next bytes, however long that takes.
    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, SendError>>> {
        let next: Option<Result<Bytes, Cause>> = match &mut self.body {
            Body::Direct(body) => {
                ready!(body.poll_data(context)).map(|came| came.map_err(|error| Arc::new(error) as _))
            }
            Body::Pooled(body) => {
                ready!(poll_pooled(body, context)).map(|came| came.map_err(|error| Arc::new(error) as _))
            }
        };
        Poll::Ready(next.map(|came| came.map_err(|source| SendError::Cut { host: self.host.clone(), source })))
    }

    /// Ready once there is no more patience.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<SendError> {
        let (until, what, limit) = self.patience.ends(self.last);
        let (fires, timer) = self.timer.get_or_insert_with(|| (until, Box::pin(sleep_until(until))));
        if self.wakes.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
            // The clock is sooner looked at than the timer.
            if Instant::now() < *fires || !timer.is_elapsed() {
                return Poll::Pending;
            }
        }
        self.wakes = Some(context.waker().clone());
        while timer.as_mut().poll(context).is_ready() {
            if *fires >= until {
                return Poll::Ready(SendError::Timeout { host: self.host.clone(), what, limit });
            }
            *fires = until;
            timer.as_mut().reset(until);
        }
        Poll::Pending
    }
}

fn poll_pooled(body: &mut Incoming, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, hyper::Error>>> {
    loop {
        match ready!(Pin::new(&mut *body).poll_frame(context)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            // Trailers say nothing to anybody here.
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) if !data.is_empty() => return Poll::Ready(Some(Ok(data))),
                _ => {}
            },
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
            Poll::Pending => Some(Err(ready!(this.poll_patience(context)))),
        };
        this.last = Instant::now();
        this.over = !matches!(next, Some(Ok(_)));
        Poll::Ready(next)
    }
}

impl Patience {
    /// Until when to wait if the last piece came at `last`, for what, and the whole of that limit.
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
