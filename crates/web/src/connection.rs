//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use docent_types::Ids;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::time::{Instant, interval_at, sleep};
use tokio_util::sync::CancellationToken;

use crate::activity::{Activity, RunningRequest};
use crate::answer::{Handler, answer_until};
use crate::body::Body;
use crate::draining::Draining;
use crate::limits::ServerLimits;
use crate::socket::Socket;

/// How many checks in a row must find a connection idle before it is closed.
const IDLE_CHECKS: u32 = 2;
/// How long a draining server waits for the first request of a connection, and how often it looks: half a second in all.
const FIRST_REQUEST_CHECKS: u32 = 50;
const FIRST_REQUEST_CHECK: Duration = Duration::from_millis(10);

/// What all connections of a server share.
pub(crate) struct Server<H> {
    pub(crate) handler: H,
    pub(crate) limits: ServerLimits,
    pub(crate) ids: Arc<dyn Ids>,
    /// Finish running requests and accept no new ones.
    pub(crate) drain: CancellationToken,
    /// The same signal, for handlers.
    pub(crate) draining: Draining,
    /// Close all connections now.
    pub(crate) stop: CancellationToken,
}

/// Serves one connection until either side is done with it.
pub(crate) async fn connection<H: Handler>(server: Arc<Server<H>>, stream: TcpStream, peer: SocketAddr) {
    // Frames of a stream are small and each matters; without this they would wait for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "could not turn off write coalescing");
    }
    let activity = Arc::new(Activity::default());
    let socket = Socket::new(stream, server.limits.stalled, Arc::clone(&activity), Arc::clone(&server.ids));
    let (builder, most_idle) = (builder(&server.limits), server.limits.head);
    let (drain, stop) = (server.drain.clone(), server.stop.clone());
    let of_requests = Arc::clone(&activity);
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (server, running) = (Arc::clone(&server), RunningRequest::start(&of_requests));
        async move {
            let draining = server.draining.clone();
            let response = answer_until(draining, &server.handler, request, peer, &*server.ids, &server.limits).await;
            Ok::<_, Infallible>(response.map(|body| Counted { body, _running: running }))
        }
    });
    let mut serving = pin!(builder.serve_connection(TokioIo::new(socket), service));
    let mut idle = pin!(idle(&activity, most_idle));
    let mut drained = pin!(drained(&drain, &activity));
    let mut drains = false;
    loop {
        tokio::select! {
            biased;
            ended = serving.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%peer, error, "a connection ended early");
                }
                return;
            }
            () = stop.cancelled() => return,
            () = &mut drained, if !drains => {
                drains = true;
                serving.as_mut().graceful_shutdown();
            }
            () = &mut idle => {
                tracing::debug!(%peer, "closed an idle connection");
                return;
            }
        }
    }
}

/// HTTP/1.1 and HTTP/2, told apart by the first bytes.
fn builder(limits: &ServerLimits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // Frames are small: copying them into one buffer costs less than a gathering write of three.
        .writev(false)
        // hyper requires at least 8 KiB.
        .max_buf_size(limits.head_bytes.max(8 * 1024))
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.head)
        .keep_alive_timeout(limits.head);
    builder
}

/// Completes when a connection is to take no more requests. On one that had none yet, the first may be on its way: closing it
/// would lose a request that could still be answered, or sent elsewhere by the answer.
async fn drained(drain: &CancellationToken, activity: &Activity) {
    drain.cancelled().await;
    for _ in 0..FIRST_REQUEST_CHECKS {
        if activity.has_begun() {
            return;
        }
        sleep(FIRST_REQUEST_CHECK).await;
    }
}

/// Completes when a connection has been idle for `limit`: no request came, or one did not complete its head. Checked at
/// intervals for all HTTP versions, because a timer that is reset by each request makes short requests expensive.
async fn idle(activity: &Activity, limit: Duration) {
    let pause = limit / IDLE_CHECKS;
    let mut checks = interval_at(Instant::now() + pause, pause);
    let (mut previous, mut found_idle) = (Some(0), 0);
    loop {
        checks.tick().await;
        let idle_since = activity.idle_since();
        found_idle = if idle_since.is_some() && idle_since == previous { found_idle + 1 } else { 0 };
        if found_idle == IDLE_CHECKS {
            return;
        }
        previous = idle_since;
    }
}

/// A body whose request counts as running.
struct Counted {
    body: Body,
    _running: RunningRequest,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
