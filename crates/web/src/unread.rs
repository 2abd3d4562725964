//! What is left of a request body when its answer is ready.
//!
//! A request may be answered before its body was read, as with a 401. hyper then closes the connection unless the rest
//! happens to be there already, and a proxy that keeps connections to this server has sent the next request on it. So
//! a small rest is read and discarded before the answer, and otherwise an HTTP/1 answer announces the close. On HTTP/2
//! only the stream is reset.

use std::mem;
use std::time::Duration;

use bytes::Bytes;
use docent_types::BoxError;
use http_body::Body as _;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Maximum size of a rest that is read, in bytes.
const LIMIT: u64 = 64 * 1024;
/// Time limit for the rest to arrive.
const DEADLINE: Duration = Duration::from_secs(1);

pub(crate) type Incoming = BoxBody<Bytes, BoxError>;

/// What is left of a body.
pub(crate) enum Rest {
    Nothing,
    Incoming(Incoming),
    /// It broke off, or came too late.
    Broken,
}

/// A request body. What is left of it when it is dropped goes to its [`UnreadBody`].
pub(crate) struct RequestBody {
    rest: Rest,
    unread: Option<oneshot::Sender<Rest>>,
}

/// Receives what is left of the body of a request that was dropped.
pub(crate) struct UnreadBody(Option<oneshot::Receiver<Rest>>);

impl RequestBody {
    pub(crate) fn of<B>(body: B) -> (Self, UnreadBody)
    where
        B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError>,
    {
        if body.is_end_stream() {
            return (Self { rest: Rest::Nothing, unread: None }, UnreadBody(None));
        }
        let (unread, received) = oneshot::channel();
        let rest = Rest::Incoming(BoxBody::new(body.map_err(Into::into)));
        (Self { rest, unread: Some(unread) }, UnreadBody(Some(received)))
    }

    /// Takes the body to read it. Until the reader says what it left, it counts as broken.
    pub(crate) fn take(&mut self) -> Option<Incoming> {
        match mem::replace(&mut self.rest, Rest::Broken) {
            Rest::Incoming(body) => Some(body),
            rest => {
                self.rest = rest;
                None
            }
        }
    }

    pub(crate) fn leave(&mut self, rest: Rest) {
        self.rest = rest;
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let Some(unread) = self.unread.take() {
            // Nobody waits for it once the answer has begun.
            unread.send(mem::replace(&mut self.rest, Rest::Nothing)).ok();
        }
    }
}

impl UnreadBody {
    /// What is left; nothing of a request that is still in use, by an answer that is being streamed.
    fn rest(self) -> Rest {
        match self.0.and_then(|mut received| received.try_recv().ok()) {
            Some(Rest::Incoming(body)) if body.is_end_stream() => Rest::Nothing,
            rest => rest.unwrap_or(Rest::Nothing),
        }
    }

    /// Whether the body was read to its end.
    pub(crate) fn was_read(self) -> bool {
        matches!(self.rest(), Rest::Nothing)
    }

    /// Reads what is left of the body, if it is small and arrives soon. Returns whether nothing is left.
    pub(crate) async fn discard(self) -> bool {
        let mut body = match self.rest() {
            Rest::Nothing => return true,
            Rest::Incoming(body) if body.size_hint().lower() <= LIMIT => body,
            Rest::Incoming(_) | Rest::Broken => return false,
        };
        let discarded = async {
            let mut discarded = 0;
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return false };
                discarded += frame.data_ref().map_or(0, |data| data.len() as u64);
                if discarded > LIMIT {
                    return false;
                }
            }
            true
        };
        // Boxed, because it is seldom needed and would enlarge the future of every request.
        Box::pin(timeout(DEADLINE, discarded)).await.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use futures::{StreamExt, stream};
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;

    fn pieces(count: usize, size: usize) -> impl http_body::Body<Data = Bytes, Error = std::io::Error> + Send + Sync {
        StreamBody::new(stream::iter((0..count).map(move |_| Ok(Frame::data(Bytes::from(vec![b'x'; size]))))))
    }

    async fn discarded<B>(body: B) -> bool
    where
        B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError>,
    {
        let (body, unread) = RequestBody::of(body);
        drop(body);
        unread.discard().await
    }

    #[tokio::test]
    async fn a_rest_is_read_up_to_its_limit() {
        assert!(discarded(Full::new(Bytes::new())).await);
        assert!(discarded(Full::new(Bytes::from(vec![b'x'; 64 * 1024]))).await);
        assert!(!discarded(Full::new(Bytes::from(vec![b'x'; 64 * 1024 + 1]))).await);
        assert!(discarded(pieces(64, 1024)).await);
        assert!(!discarded(pieces(65, 1024)).await);
        assert!(!discarded(pieces(usize::MAX, 1024)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_that_does_not_come_or_breaks_off_is_left() {
        let first = stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from("x")))]);
        assert!(!discarded(StreamBody::new(first.chain(stream::pending()))).await);
        let broken = stream::iter([Err::<Frame<Bytes>, _>(std::io::Error::other("cut"))]);
        assert!(!discarded(StreamBody::new(broken)).await);
    }

    #[tokio::test]
    async fn a_body_that_was_read_or_is_in_use_leaves_nothing() {
        let (mut read, unread) = RequestBody::of(Full::new(Bytes::from("x")));
        assert!(read.take().is_some() && read.take().is_none());
        read.leave(Rest::Nothing);
        drop(read);
        assert!(unread.discard().await);
        let (mut given_up, unread) = RequestBody::of(Full::new(Bytes::from("x")));
        given_up.take();
        drop(given_up);
        assert!(!unread.was_read());
        let (_in_use, unread) = RequestBody::of(pieces(1000, 1024));
        assert!(unread.discard().await);
    }
}
