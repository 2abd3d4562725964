//! One connection, from its first byte to its last.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use docent_types::Ids;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

use crate::activity::{Activity, Running};
use crate::answer::{Handler, answer};
use crate::body::Body;
use crate::draining::Draining;
use crate::limits::Limits;
use crate::socket::Socket;

/// What all connections of a server share.
pub(crate) struct Server<H> {
    pub(crate) handler: H,
    pub(crate) limits: Limits,
    pub(crate) ids: Arc<dyn Ids>,
    /// Finish what runs and take nothing new.
    pub(crate) drain: CancellationToken,
    /// Stop now.
    pub(crate) stop: CancellationToken,
}

/// Serves one connection until either side is done with it.
pub(crate) async fn connection<H: Handler>(server: Arc<Server<H>>, stream: TcpStream, peer: SocketAddr) {
    // Frames of a stream are small and each matters; without this they would wait for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "could not turn off write coalescing");
    }
    let builder = builder(&server.limits);
    let activity = Arc::new(Activity::default());
    let service = service_fn(|mut request: http::Request<Incoming>| {
        let server = Arc::clone(&server);
        request.extensions_mut().insert(Draining::from(server.drain.clone()));
        let running = Running::start(&activity);
        async move {
            let response = answer(&server.handler, request, peer, &*server.ids, &server.limits).await;
            Ok::<_, std::convert::Infallible>(response.map(|body| Counted { body, _running: running }))
        }
    });
    let socket = TokioIo::new(Socket::new(stream, server.limits.stalled, Arc::clone(&activity)));
    let mut serving = pin!(builder.serve_connection(socket, service));

    let idle = server.limits.head;
    let mut checks = interval_at(Instant::now() + idle, idle);
    let mut seen = Some(0);
    let mut draining = false;
    loop {
        tokio::select! {
            done = &mut serving => {
                if let Err(error) = done {
                    tracing::debug!(%peer, error, "a connection ended early");
                }
                return;
            }
            () = server.stop.cancelled() => return,
            () = server.drain.cancelled(), if !draining => {
                draining = true;
                serving.as_mut().graceful_shutdown();
            }
            // The head timeout of the HTTP/1 reader starts only once the protocol is known, and HTTP/2 has none.
            _ = checks.tick() => {
                let idle_since = activity.idle_since();
                if idle_since.is_some() && idle_since == seen {
                    tracing::debug!(%peer, "closed an idle connection");
                    return;
                }
                seen = idle_since;
            }
        }
    }
}

fn builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        // hyper insists on 8 KiB at least.
        .max_buf_size(limits.head_bytes.max(8 * 1024));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.head)
        .keep_alive_timeout(limits.head);
    builder
}

/// A body whose request counts as running.
struct Counted {
    body: Body,
    _running: Running,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = std::convert::Infallible;

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
