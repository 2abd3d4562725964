//! Keep-alive bytes on a stream that is silent for a while.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep};

/// Passes `stream` on, and sends `bytes` whenever `interval` goes by without an item.
///
/// Proxies and browsers drop connections that stay silent for about half a minute, and only a write reveals a client
/// that vanished without closing its connection. The protocol's readers must ignore `bytes`.
pub fn with_keep_alive(
    stream: impl Stream<Item = Bytes> + Send + 'static,
    bytes: Bytes,
    interval: Duration,
) -> impl Stream<Item = Bytes> + Send + 'static {
    KeepAlive { stream, bytes, interval, timer: sleep(interval) }
}

pin_project! {
    struct KeepAlive<S> {
        #[pin]
        stream: S,
        bytes: Bytes,
        interval: Duration,
        #[pin]
        timer: Sleep,
    }
}

impl<S: Stream<Item = Bytes>> Stream for KeepAlive<S> {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        let next = match this.stream.poll_next(cx) {
            Poll::Ready(next) => next,
            Poll::Pending => {
                ready!(this.timer.as_mut().poll(cx));
                Some(this.bytes.clone())
            }
        };
        this.timer.reset(Instant::now() + *this.interval);
        Poll::Ready(next)
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use tokio::sync::mpsc;
    use tokio::time::advance;

    use super::*;

    const INTERVAL: Duration = Duration::from_secs(15);

    fn channel() -> (mpsc::UnboundedSender<Bytes>, impl Stream<Item = Bytes> + Send + 'static) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let stream =
            futures::stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
        (sender, stream)
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_every_interval() {
        let mut stream = Box::pin(with_keep_alive(futures::stream::pending(), ": ping\n\n".into(), INTERVAL));
        let start = Instant::now();
        for beat in 1..=3 {
            assert_eq!(stream.next().await.unwrap(), ": ping\n\n");
            assert_eq!(start.elapsed().as_secs(), 15 * beat);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_starts_the_silence_anew() {
        let (sender, inner) = channel();
        let mut stream = Box::pin(with_keep_alive(inner, "ping".into(), INTERVAL));
        let start = Instant::now();
        assert!(futures::poll!(stream.next()).is_pending());
        advance(Duration::from_secs(10)).await;
        sender.send("item".into()).unwrap();
        assert_eq!(stream.next().await.unwrap(), "item");
        assert_eq!(stream.next().await.unwrap(), "ping");
        assert_eq!(start.elapsed().as_secs(), 25);
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_when_the_stream_ends() {
        let (sender, inner) = channel();
        let mut stream = Box::pin(with_keep_alive(inner, "ping".into(), INTERVAL));
        sender.send("last".into()).unwrap();
        drop(sender);
        assert_eq!(stream.next().await.unwrap(), "last");
        assert_eq!(stream.next().await, None);
    }
}
