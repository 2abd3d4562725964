//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use docent_types::{BoxError, Ids};
use futures::FutureExt;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, interval_at, sleep};
use tokio_util::sync::CancellationToken;

use crate::activity::{Activity, Arrival, Running};
use crate::answer::{Handler, answer_until};
use crate::aside::Aside;
use crate::body::Body;
use crate::draining::Draining;
use crate::limits::Limits;
use crate::socket::Socket;
use crate::staged::{Stage, Staged};
use crate::streaming::{Asked, Sending, Then};

/// In how many looks in a row a connection must be found idle.
const LOOKS: u32 = 2;

/// What all connections of a server share.
pub(crate) struct Server<H> {
    pub(crate) handler: H,
    pub(crate) limits: Limits,
    pub(crate) ids: Arc<dyn Ids>,
    /// Finish what runs and take nothing new.
    pub(crate) drain: CancellationToken,
    /// The same, for whoever answers.
    pub(crate) draining: Draining,
    /// Stop now.
    pub(crate) stop: CancellationToken,
}

/// Serves one connection until either side is done with it.
pub(crate) fn connection<H: Handler>(
    server: Arc<Server<H>>,
    stream: TcpStream,
    peer: SocketAddr,
) -> impl Future<Output = ()> + Send {
    Staged::new(move |stage| to_its_end(server, stream, peer, stage))
}

async fn to_its_end<H: Handler>(
    server: Arc<Server<H>>,
    stream: TcpStream,
    peer: SocketAddr,
    stage: Arc<Stage<Streaming<H>>>,
) {
    // Frames of a stream are small and each matters; without this they would wait for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "could not turn off write coalescing");
    }
    let activity = Arc::new(Activity::default());
    let version = tokio::select! {
        version = version(&stream) => version,
        _ = told(Arc::clone(&server), Arc::clone(&activity), Phase::Serving) => return,
    };
    let socket = Socket::new(stream, server.limits.stalled, Arc::clone(&activity));
    let ended = match version {
        Ok(Version::One) => one_by_one(&server, socket, peer, &activity, &stage).await,
        // Larger, and seldom: not worth the room in every connection.
        Ok(Version::Two) => Box::pin(many_at_a_time(&server, socket, peer, &activity)).await,
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

/// Serves HTTP/1: hyper, and past it for as long as an answer streams.
async fn one_by_one<H: Handler>(
    server: &Arc<Server<H>>,
    mut socket: Socket,
    peer: SocketAddr,
    activity: &Arc<Activity>,
    stage: &Stage<Streaming<H>>,
) -> Result<End, BoxError> {
    // One for all exchanges: a timer that begins anew with each wakes whoever waits for timers.
    let mut watch = Watch::new(server, activity);
    loop {
        // Large, and gone while an answer streams.
        let left = match Box::pin(until_a_stream(server, socket, peer, activity, &mut watch)).await? {
            Exchanged::ToTheEnd(end) => return Ok(end),
            Exchanged::UntilAStream(left) => left,
        };
        let Left { socket: left, response, then } = *left;
        let (played, sent) =
            stage.plays(Streaming { sending: Sending::new(response, then), socket: left, watch }).await;
        let sent = sent?;
        if sent != End::Soon {
            return Ok(sent);
        }
        let sending;
        Streaming { sending, socket, watch } = *played;
        // Its request runs until it is gone.
        drop(sending);
        activity.flushed();
        if then == Then::Closes || server.drain.is_cancelled() {
            socket.shutdown().await?;
            return Ok(End::Soon);
        }
    }
}

/// How far hyper came.
enum Exchanged {
    ToTheEnd(End),
    UntilAStream(Box<Left>),
}

/// What is left of a connection whose answer streams.
struct Left {
    socket: Socket,
    response: http::Response<Counted>,
    then: Then,
}

/// An answer that streams, while it does.
struct Streaming<H> {
    sending: Sending<Counted>,
    socket: Socket,
    watch: Watch<H>,
}

impl<H: Handler> Future for Streaming<H> {
    type Output = io::Result<End>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<End>> {
        let Self { sending, socket, watch } = &mut *self;
        if let Poll::Ready(sent) = sending.poll(socket, context) {
            return Poll::Ready(sent.map(|()| End::Soon));
        }
        loop {
            match ready!(watch.poll_end(context)) {
                // It comes to an end by itself.
                End::Soon => {}
                end => return Poll::Ready(Ok(end)),
            }
        }
    }
}

/// Serves HTTP/1 until an answer streams.
async fn until_a_stream<H: Handler>(
    server: &Arc<Server<H>>,
    socket: Socket,
    peer: SocketAddr,
    activity: &Arc<Activity>,
    watch: &mut Watch<H>,
) -> Result<Exchanged, BoxError> {
    let stream = Mutex::new(None);
    let service = service_fn(|request: http::Request<Incoming>| {
        let (asked, stream) = (Asked::by(&request), &stream);
        let request = request.map(|body| Arriving::of(body, activity));
        answered(server, request, peer, activity).map(move |response| match asked.streams(&response) {
            Some(then) if activity.has_arrived() && activity.is_flushed() => {
                *stream.lock().unwrap_or_else(PoisonError::into_inner) = Some((response, then));
                Err(Streams)
            }
            _ => Ok(response),
        })
    });
    let mut connection = one(&server.limits).serve_connection(TokioIo::new(socket), service);
    let ended = drive(Pin::new(&mut connection), watch, GracefulConnection::graceful_shutdown).await;
    let taken = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((response, then)) = taken else { return ended.map(Exchanged::ToTheEnd) };
    let parts = connection.into_parts();
    let mut socket = parts.io.into_inner();
    socket.unread(&parts.read_buf);
    Ok(Exchanged::UntilAStream(Box::new(Left { socket, response, then })))
}

/// Serves HTTP/2.
async fn many_at_a_time<H: Handler>(
    server: &Arc<Server<H>>,
    socket: Socket,
    peer: SocketAddr,
    activity: &Arc<Activity>,
) -> Result<End, BoxError> {
    let service = service_fn(|request: http::Request<Incoming>| {
        let (server, activity) = (Arc::clone(server), Arc::clone(activity));
        Box::pin(async move { Ok::<_, Infallible>(answered(&server, request, peer, &activity).await) })
    });
    let mut connection = pin!(two(&server.limits).serve_connection(TokioIo::new(socket), service));
    let mut watch = Watch::new(server, activity);
    drive(connection.as_mut(), &mut watch, GracefulConnection::graceful_shutdown).await
}

fn answered<H: Handler, B>(
    server: &Server<H>,
    request: http::Request<B>,
    peer: SocketAddr,
    activity: &Arc<Activity>,
) -> impl Future<Output = http::Response<Counted>> + Send
where
    B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<BoxError>,
{
    let running = Running::start(activity);
    let draining = server.draining.clone();
    answer_until(draining, &server.handler, request, peer, &*server.ids, &server.limits)
        .map(|response| response.map(|body| Counted { body, _running: running }))
}

/// Moves a connection's work on until it ends or is told to. `ends_soon` makes it end with what runs.
async fn drive<W, H, E>(
    mut work: Pin<&mut W>,
    watch: &mut Watch<H>,
    ends_soon: impl Fn(Pin<&mut W>),
) -> Result<End, BoxError>
where
    W: Future<Output = Result<(), E>>,
    E: Into<BoxError>,
    H: Handler,
{
    loop {
        tokio::select! {
            biased;
            done = work.as_mut() => return done.map(|()| End::Soon).map_err(Into::into),
            end = poll_fn(|context| watch.poll_end(context)) => match end {
                End::Soon => ends_soon(work.as_mut()),
                end => return Ok(end),
            },
        }
    }
}

/// Waits to be told that a connection is to end.
struct Watch<H> {
    told: Aside<dyn Future<Output = End> + Send>,
    server: Arc<Server<H>>,
    activity: Arc<Activity>,
}

impl<H: Handler> Watch<H> {
    fn new(server: &Arc<Server<H>>, activity: &Arc<Activity>) -> Self {
        let (server, activity) = (Arc::clone(server), Arc::clone(activity));
        let told = Aside::new(Box::pin(told(Arc::clone(&server), Arc::clone(&activity), Phase::Serving)) as _);
        Self { told, server, activity }
    }

    /// How the connection is to end. [`End::Soon`] comes once, and something else may follow.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<End> {
        let end = ready!(Pin::new(&mut self.told).poll(context));
        if end == End::Soon {
            let (server, activity) = (Arc::clone(&self.server), Arc::clone(&self.activity));
            self.told = Aside::new(Box::pin(told(server, activity, Phase::Draining)) as _);
        }
        Poll::Ready(end)
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

async fn told<H>(server: Arc<Server<H>>, activity: Arc<Activity>, phase: Phase) -> End {
    tokio::select! {
        () = server.stop.cancelled() => End::Now,
        () = server.drain.cancelled(), if phase == Phase::Serving => End::Soon,
        () = idle(&activity, server.limits.head) => End::Idle,
    }
}

/// Comes when a connection has had nothing going on for long enough, be it that no request comes or no end of its head. It
/// is looked at now and then, whatever the version: a timer that begins anew with each request is dear to short ones.
async fn idle(activity: &Activity, most: Duration) {
    let pause = most / LOOKS;
    let mut looks = interval_at(Instant::now() + pause, pause);
    let (mut seen, mut found_idle) = (Some(0), 0);
    loop {
        looks.tick().await;
        let idle_since = activity.idle_since();
        found_idle = if idle_since.is_some() && idle_since == seen { found_idle + 1 } else { 0 };
        if found_idle == LOOKS {
            return;
        }
        seen = idle_since;
    }
}

fn one(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        // A client that is gone shows at the socket, whatever hyper reads: to read ahead for that, it would set aside 8 KiB a
        // request.
        .half_close(true)
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

/// Why hyper is to let go of a connection: its answer streams.
#[derive(Debug, Error)]
#[error("the answer streams")]
struct Streams;

/// The body of a request on its way.
struct Arriving {
    body: Incoming,
    /// `None` when it was there to its last byte with the head.
    activity: Option<Arc<Activity>>,
}

impl Arriving {
    fn of(body: Incoming, activity: &Arc<Activity>) -> Self {
        let whole = body.is_end_stream();
        activity.arrives(if whole { Arrival::Whole } else { Arrival::Unread });
        Self { body, activity: (!whole).then(|| Arc::clone(activity)) }
    }
}

impl http_body::Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Some(activity) = &self.activity {
            activity.arrives(if matches!(frame, Poll::Ready(None)) { Arrival::Whole } else { Arrival::Read });
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body whose request counts as running.
struct Counted {
    body: Body,
    _running: Running,
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
