//! The body of an answer: empty, bytes, or a stream of bytes.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use futures::stream::BoxStream;
use http_body::{Frame, SizeHint};
use tracing::Span;

/// The body of an answer.
///
/// A stream is polled when the socket can take more and is never read ahead. It is dropped with the body, and the body
/// is dropped when the client hangs up, whether or not anything is being written at that moment.
pub struct Body(Content);

enum Content {
    Ended,
    Full(Bytes),
    Stream(BoxStream<'static, Bytes>, Span, Guards),
}

/// Guards that are dropped with the stream.
type Guards = Vec<Box<dyn Any + Send>>;

impl Default for Body {
    fn default() -> Self {
        Self::empty()
    }
}

impl Body {
    pub const fn empty() -> Self {
        Self(Content::Ended)
    }

    pub fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        if bytes.is_empty() { Self::empty() } else { Self(Content::Full(bytes)) }
    }

    /// Items that are ready together are sent in one write. Log lines of the stream belong to the request's span.
    pub fn stream(stream: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self(Content::Stream(Box::pin(stream), Span::current(), Guards::new()))
    }

    /// The body with other bytes. One that is sent while it is being produced stays as it is.
    #[must_use]
    pub fn map(self, change: impl FnOnce(Bytes) -> Bytes) -> Self {
        match self.0 {
            Content::Full(bytes) => Self::full(change(bytes)),
            other => Self(other),
        }
    }

    /// Whether the body is sent while it is being produced.
    pub const fn is_stream(&self) -> bool {
        matches!(self.0, Content::Stream(..))
    }

    /// Keeps `held` until the stream ends or the client hangs up. A body that does not stream drops it at once.
    #[must_use]
    pub fn holding(mut self, held: impl Send + 'static) -> Self {
        if let Content::Stream(.., with) = &mut self.0 {
            with.push(Box::new(held));
        }
        self
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let kind = &mut self.get_mut().0;
        let next = match kind {
            Content::Ended => None,
            Content::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                *kind = Content::Ended;
                Some(bytes)
            }
            Content::Stream(stream, span, _) => {
                let next = std::task::ready!(span.in_scope(|| stream.as_mut().poll_next(cx)));
                if next.is_none() {
                    *kind = Content::Ended;
                }
                next
            }
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Ended => true,
            Content::Full(_) | Content::Stream(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Ended => SizeHint::with_exact(0),
            Content::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(..) => SizeHint::new(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Content::Ended => f.write_str("Body(ended)"),
            Content::Full(bytes) => write!(f, "Body({} bytes)", bytes.len()),
            Content::Stream(..) => f.write_str("Body(stream)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_full_body_knows_its_length_and_comes_in_one_piece() {
        let body = Body::full("hello");
        assert_eq!(body.size_hint().exact(), Some(5));
        assert_eq!(body.collect().await.unwrap().to_bytes(), "hello");
        assert!(Body::full("").is_end_stream());
    }

    #[tokio::test]
    async fn a_stream_is_sent_item_by_item_and_its_length_is_not_known() {
        let body = Body::stream(futures::stream::iter(["a", "b"].map(Bytes::from)));
        assert_eq!(body.size_hint().exact(), None);
        assert!(!body.is_end_stream());
        assert_eq!(body.collect().await.unwrap().to_bytes(), "ab");
    }

    #[tokio::test]
    async fn stream_resources_are_freed_at_the_end_and_on_disconnect() {
        let held = std::sync::Arc::new(());
        let body = |items| Body::stream(futures::stream::iter(items)).holding(std::sync::Arc::clone(&held));
        let mut read = body(vec![Bytes::from("a")]);
        assert!(read.is_stream() && read.frame().await.is_some());
        assert_eq!(std::sync::Arc::strong_count(&held), 2);
        assert!(read.frame().await.is_none());
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
        drop(body(vec![Bytes::from("a")]));
        drop(Body::full("a").holding(std::sync::Arc::clone(&held)));
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
    }
}
