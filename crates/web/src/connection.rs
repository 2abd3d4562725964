//! One connection, from its first byte to its last.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use docent_types::{BoxError, Ids};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::net::TcpStream;
use tokio::time::{Instant, interval_at, sleep};
use tokio_util::sync::CancellationToken;

use crate::activity::{Activity, Running};
use crate::answer::{Handler, answer};
use crate::aside::Aside;
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
    let activity = Arc::new(Activity::default());
    let version = tokio::select! {
        version = version(&stream) => version,
        _ = told(&server, &activity, Phase::Serving) => return,
    };
    let service = service_fn(|mut request: http::Request<Incoming>| {
        let server = Arc::clone(&server);
        request.extensions_mut().insert(Draining::from(server.drain.clone()));
        let running = Running::start(&activity);
        // The connection keeps room for this as long as it lives; what answers is large and gone long before a stream ends.
        Box::pin(async move {
            let response = answer(&server.handler, request, peer, &*server.ids, &server.limits).await;
            Ok::<_, std::convert::Infallible>(response.map(|body| Counted { body, _running: running }))
        })
    });
    let socket = TokioIo::new(Socket::new(stream, server.limits.stalled, Arc::clone(&activity)));
    let ended = match version {
        Ok(Version::One) => drive(one(&server.limits).serve_connection(socket, service), &server, &activity).await,
        Ok(Version::Two) => {
            // Larger, and seldom: not worth the room in every connection.
            Box::pin(drive(two(&server.limits).serve_connection(socket, service), &server, &activity)).await
        }
        Err(error) => Err(error.into()),
    };
    match ended {
        Ok(End::Idle) => tracing::debug!(%peer, "closed an idle connection"),
        Ok(End::Now | End::Soon) => {}
        Err(error) => tracing::debug!(%peer, error, "a connection ended early"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// What the client speaks, without taking a byte of it: HTTP/2 begins with a method that HTTP/1 does not have.
async fn version(stream: &TcpStream) -> io::Result<Version> {
    const METHOD: &[u8] = b"PRI ";
    let mut seen = [0; METHOD.len()];
    loop {
        let length = stream.peek(&mut seen).await?;
        if length == METHOD.len() && seen == METHOD {
            return Ok(Version::Two);
        }
        if length == 0 || seen[..length] != METHOD[..length] {
            return Ok(Version::One);
        }
        // A beginning so short that it is still open; what was seen once is no news to the socket.
        sleep(Duration::from_millis(5)).await;
    }
}

/// Moves a connection on until it ends or is told to.
async fn drive<C, H>(connection: C, server: &Server<H>, activity: &Activity) -> Result<End, BoxError>
where
    C: GracefulConnection<Error = hyper::Error>,
{
    let mut connection = pin!(connection);
    let mut told = Aside::new(self::told(server, activity, Phase::Serving));
    loop {
        tokio::select! {
            biased;
            done = &mut connection => return done.map(|()| End::Soon).map_err(Into::into),
            end = &mut told => match end {
                End::Soon => {
                    connection.as_mut().graceful_shutdown();
                    told = Aside::new(self::told(server, activity, Phase::Draining));
                }
                end => return Ok(end),
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    Draining,
}

/// How a connection is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Now,
    /// With what runs.
    Soon,
    Idle,
}

async fn told<H>(server: &Server<H>, activity: &Activity, phase: Phase) -> End {
    tokio::select! {
        () = server.stop.cancelled() => End::Now,
        () = server.drain.cancelled(), if phase == Phase::Serving => End::Soon,
        () = idle(activity, server.limits.head) => End::Idle,
    }
}

/// The head timeout of the HTTP/1 reader starts only once the version is known, and HTTP/2 has none.
async fn idle(activity: &Activity, most: Duration) {
    let mut checks = interval_at(Instant::now() + most, most);
    let mut seen = Some(0);
    loop {
        checks.tick().await;
        let idle_since = activity.idle_since();
        if idle_since.is_some() && idle_since == seen {
            return;
        }
        seen = idle_since;
    }
}

fn one(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        // Frames are small: they are copied into one piece sooner than the kernel gathers three.
        .writev(false)
        // hyper insists on 8 KiB at least.
        .max_buf_size(limits.head_bytes.max(8 * 1024));
    builder
}

fn two(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
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
