//! An answer, its body still on the way.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, stream};
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout};

use crate::error::{SendError, Wait};

/// The head of an answer, and its body to be read. Dropping it ends the exchange.
pub struct Response {
    head: Parts,
    body: Incoming,
    host: String,
    patience: Patience,
}

/// How long a body may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) idle: Duration,
    /// When the whole has to be there, and how long that was from the beginning.
    pub(crate) total: Option<(Instant, Duration)>,
}

impl Response {
    pub(crate) fn new(answer: http::Response<Incoming>, host: String, patience: Patience) -> Self {
        let (head, body) = answer.into_parts();
        Self { head, body, host, patience }
    }

    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The whole body, at most `limit` bytes of it.
    ///
    /// # Errors
    /// [`SendError::TooLarge`] as soon as it is known to be longer, [`SendError::Timeout`], [`SendError::Cut`].
    pub async fn bytes(mut self, limit: usize) -> Result<Bytes, SendError> {
        if self.announced_length().is_some_and(|length| length > limit as u64) {
            return Err(self.too_large(limit));
        }
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if whole.len() + chunk.len() > limit {
                return Err(self.too_large(limit));
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

    /// The body as it arrives. The stream ends after its first error.
    pub fn chunks(self) -> impl Stream<Item = Result<Bytes, SendError>> + Send + 'static {
        stream::try_unfold(self, |mut answer| async move { Ok(answer.chunk().await?.map(|chunk| (chunk, answer))) })
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, SendError> {
        loop {
            let (limit, what, told) = self.patience.now();
            let frame = match timeout(limit, self.body.frame()).await {
                Ok(frame) => frame,
                Err(_) => return Err(SendError::Timeout { host: self.host.clone(), what, limit: told }),
            };
            match frame {
                None => return Ok(None),
                Some(Err(error)) => return Err(SendError::Cut { host: self.host.clone(), source: Arc::new(error) }),
                // Trailers say nothing to anybody here.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Ok(Some(data)),
                    _ => {}
                },
            }
        }
    }

    fn announced_length(&self) -> Option<u64> {
        self.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    fn too_large(&self, limit: usize) -> SendError {
        SendError::TooLarge { host: self.host.clone(), limit }
    }
}

impl Patience {
    /// How long to wait now, for what, and the whole of that limit.
    fn now(&self) -> (Duration, Wait, Duration) {
        let left = self.total.map(|(until, total)| (until.saturating_duration_since(Instant::now()), total));
        match left {
            Some((left, total)) if left < self.idle => (left, Wait::Total, total),
            _ => (self.idle, Wait::Chunk, self.idle),
        }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("host", &self.host).field("status", &self.status()).finish_non_exhaustive()
    }
}
