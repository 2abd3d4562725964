//! HTTP/1.1 over connections without TLS and without a proxy: how a model server of one's own is asked.
//!
//! ```text
//! request ─▶ a connection that was kept, or a new one ─▶ head (httparse) ─▶ framing ─▶ pieces of the body
//! ```
//!
//! A reply of a model is hundreds of pieces, some bytes each, on a connection that is open for a minute. So whoever reads
//! the body reads the socket: there is no task in between, and nothing is kept of what was read.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::response::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::client::legacy::connect::HttpConnector;
use memchr::memchr;
use socket2::SockRef;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tower_service::Service;

use crate::connector::Fault;
use crate::framing::{Framing, FramingError};
use crate::promise;
use crate::streams::{Stream, Streams};

/// The largest head of an answer.
const LARGEST_HEAD: usize = 64 << 10;

/// The most headers of an answer.
const MOST_HEADERS: usize = 100;

/// A body up to this size travels with the head.
const ONE_WRITE: usize = 64 << 10;

/// How much is read at a time.
const READ: usize = 16 << 10;

/// The same of a connection that nobody watches: some words.
const READ_ALONE: usize = 4 << 10;

/// A piece of a body that is no longer than this shares its memory with others: whoever reads the next one writes over what
/// nobody holds on to any more, which is at hand.
const WORDS: usize = 1 << 10;

/// How much they share.
const SHARED: usize = 4 * WORDS;

thread_local! {
    static SPACE: Cell<BytesMut> = Cell::default();
}

/// The media type of a body that comes as it is made.
const EVENTS: &[u8] = b"text/event-stream";

/// How long a connection is kept for the next request.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// How many connections to one place are kept.
const MOST_KEPT: usize = 32;

/// Asks without anything in between.
#[derive(Debug, Clone)]
pub(crate) struct Direct {
    tcp: HttpConnector,
    /// For a connection.
    limit: Duration,
    kept: Kept,
    streams: Streams,
}

/// Why there is no answer.
#[derive(Debug, Clone, Error)]
pub(crate) enum Failure {
    #[error("no connection")]
    Connect(#[from] Fault),
    #[error("it hung up without an answer")]
    HungUp,
    #[error("{0}")]
    Broken(Arc<io::Error>),
    #[error("the head of the answer cannot be read")]
    Head,
    #[error("the head of the answer is larger than {LARGEST_HEAD} bytes")]
    LargeHead,
    #[error("the body of the answer cannot be read: {0}")]
    Body(#[from] FramingError),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Broken(Arc::new(error))
    }
}

impl Direct {
    pub(crate) fn new(tcp: HttpConnector, limit: Duration) -> Self {
        Self { tcp, limit, kept: Kept::default(), streams: Streams::default() }
    }

    /// Sends a request to an absolute `http` address and waits for the head of the answer.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<DirectBody>, Failure> {
        let Some(kept) = self.kept.take(place(&request)) else {
            let socket = self.connect(request.uri().clone()).await?;
            return self.send_over(socket, &request).await;
        };
        match self.send_over(kept, &request).await {
            // The server closed what it had kept for us just then. What may be asked twice is.
            Err(Failure::HungUp | Failure::Broken(_)) if request.method().is_safe() => {
                let socket = self.connect(request.uri().clone()).await?;
                self.send_over(socket, &request).await
            }
            answer => answer,
        }
    }

    #[cfg(test)]
    pub(crate) const fn streams(&self) -> &Streams {
        &self.streams
    }

    async fn send_over(
        &self,
        mut socket: TcpStream,
        request: &Request<Bytes>,
    ) -> Result<Response<DirectBody>, Failure> {
        let (head, body) = written(request);
        let sent = send(&mut socket, &head, &body).await;
        let (head, rest) = match read_head(&mut socket).await {
            Ok(read) => read,
            // A server that has said nothing hangs up on what it does not want to read.
            Err(error) => return Err(sent.err().map_or(error, Failure::from)),
        };
        let framing = Framing::of(request.method(), &head)?;
        let is_kept = sent.is_ok() && keeps(&head) && framing != Framing::UntilClosed;
        let home = is_kept.then(|| (self.kept.clone(), place(request).to_owned()));
        let stream = is_stream(&head).then(|| self.streams.begin());
        let mut body = DirectBody { socket: Some(Socket::Watched(socket)), framing, rest, home, stream };
        if framing.is_over() {
            body.let_go();
        }
        Ok(Response::from_parts(head, body))
    }

    async fn connect(&self, address: Uri) -> Result<TcpStream, Fault> {
        let connecting = self.tcp.clone().call(address);
        match timeout(self.limit, connecting).await {
            Ok(Ok(socket)) => Ok(socket.into_inner()),
            Ok(Err(error)) => Err(Fault::Unreachable(Arc::new(error))),
            Err(_) => Err(Fault::Slow),
        }
    }
}

/// The host that is asked, with its port where that is told.
fn place(request: &Request<Bytes>) -> &str {
    request.uri().authority().map_or("", |authority| authority.as_str())
}

/// The bytes of a request: its head, with the body where that is small, else the body apart.
fn written(request: &Request<Bytes>) -> (Vec<u8>, Bytes) {
    let (uri, body) = (request.uri(), request.body());
    let mut head = Vec::with_capacity(512 + if body.len() <= ONE_WRITE { body.len() } else { 0 });
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    head.extend_from_slice(request.method().as_str().as_bytes());
    head.push(b' ');
    head.extend_from_slice(target.as_bytes());
    head.extend_from_slice(b" HTTP/1.1\r\n");
    let mut line = |name: &HeaderName, value: &[u8]| {
        for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
            head.extend_from_slice(part);
        }
    };
    if !request.headers().contains_key(HOST) {
        line(&HOST, place(request).as_bytes());
    }
    for (name, value) in request.headers().iter().filter(|(name, _)| **name != CONTENT_LENGTH) {
        line(name, value.as_bytes());
    }
    if !body.is_empty() || matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH) {
        line(&CONTENT_LENGTH, body.len().to_string().as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    if body.len() <= ONE_WRITE {
        head.extend_from_slice(body);
        return (head, Bytes::new());
    }
    (head, body.clone())
}

async fn send(socket: &mut TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    socket.write_all(head).await?;
    socket.write_all(body).await
}

/// The head of the answer, interim ones skipped, and what was read behind it.
async fn read_head(socket: &mut (impl AsyncRead + Unpin)) -> Result<(Parts, Bytes), Failure> {
    let mut read = BytesMut::with_capacity(2 << 10);
    let mut looked = 0;
    loop {
        // Only at the end of a line can it be whole, so that one that trickles is not read again for each byte.
        while let Some(end) = memchr(b'\n', &read[looked..]) {
            looked += end + 1;
            if !ends_head(&read[..looked]) {
                continue;
            }
            let head = parsed(&read[..looked])?;
            read.advance(looked);
            looked = 0;
            if !head.status.is_informational() {
                return Ok((head, read.freeze()));
            }
        }
        looked = read.len();
        if looked > LARGEST_HEAD {
            return Err(Failure::LargeHead);
        }
        if socket.read_buf(&mut read).await? == 0 {
            return Err(if looked == 0 { Failure::HungUp } else { Failure::Head });
        }
    }
}

/// Whether what ends with this line ends with an empty one.
fn ends_head(bytes: &[u8]) -> bool {
    bytes.ends_with(b"\n\r\n") || bytes.ends_with(b"\n\n")
}

fn parsed(bytes: &[u8]) -> Result<Parts, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut answer = httparse::Response::new(&mut headers);
    if !answer.parse(bytes).is_ok_and(|status| status.is_complete()) {
        return Err(Failure::Head);
    }
    let (mut head, ()) = Response::new(()).into_parts();
    head.version = if answer.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
    head.status = StatusCode::from_u16(answer.code.unwrap_or_default()).map_err(|_| Failure::Head)?;
    head.headers.reserve(answer.headers.len());
    for header in answer.headers.iter() {
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| Failure::Head)?;
        head.headers.append(name, HeaderValue::from_bytes(header.value).map_err(|_| Failure::Head)?);
    }
    Ok(head)
}

/// Whether the server leaves the connection open behind this answer.
fn keeps(head: &Parts) -> bool {
    let closes = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| value.split(',').any(|word| word.trim().eq_ignore_ascii_case("close")))
    };
    head.version == Version::HTTP_11
        && head.status != StatusCode::SWITCHING_PROTOCOLS
        && !head.headers.get_all(CONNECTION).iter().any(closes)
}

/// Whether the body comes as it is made.
fn is_stream(head: &Parts) -> bool {
    let media = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    media.get(..EVENTS.len()).is_some_and(|media| media.eq_ignore_ascii_case(EVENTS))
}

/// A body on its way. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct DirectBody {
    /// `None` once the body is over.
    socket: Option<Socket>,
    framing: Framing,
    /// What came with the head.
    rest: Bytes,
    /// Where the connection goes when the body has ended, and under which name.
    home: Option<(Kept, String)>,
    /// Where it is one of those that come as they are made.
    stream: Option<Stream>,
}

impl DirectBody {
    /// The next bytes, none of them empty; `None` at the end.
    pub(crate) fn poll_data(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        while self.socket.is_some() {
            let came = if self.rest.is_empty() {
                let mut space = [MaybeUninit::uninit(); READ];
                let mut read = ReadBuf::uninit(&mut space);
                match ready!(self.poll_socket(context, &mut read)) {
                    Ok(()) if read.filled().is_empty() => {
                        self.socket = None;
                        return Poll::Ready(self.framing.closed().err().map(|error| Err(error.into())));
                    }
                    Ok(()) => self.framed(read.filled()),
                    Err(error) => Err(error.into()),
                }
            } else {
                let rest = std::mem::take(&mut self.rest);
                self.framed(&rest)
            };
            match came {
                Ok(body) if body.is_empty() => {}
                Ok(body) => {
                    if let Some(stream) = &mut self.stream {
                        stream.speaks();
                    }
                    return Poll::Ready(Some(Ok(body)));
                }
                Err(error) => {
                    self.socket = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        Poll::Ready(None)
    }

    /// Reads what there is. Where there is nothing, it is seen to that the task is woken when something comes, unless it
    /// comes again by itself.
    fn poll_socket(&mut self, context: &mut Context<'_>, read: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let may_rely = self.stream.as_ref().is_some_and(Stream::may_rely);
        loop {
            match self.socket.take() {
                None => return Poll::Ready(Ok(())),
                Some(Socket::Watched(socket)) if may_rely => {
                    self.socket = Some(Socket::Alone(socket.into_std()?, false));
                }
                Some(Socket::Alone(socket, was_all)) if may_rely => {
                    // It is not asked twice at the same look.
                    let came = if was_all { Err(io::ErrorKind::WouldBlock.into()) } else { read_alone(&socket, read) };
                    let was_all = matches!(came, Ok(true));
                    self.socket = Some(Socket::Alone(socket, was_all));
                    return match came {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            promise::rely();
                            Poll::Pending
                        }
                        came => Poll::Ready(came.map(|_| ())),
                    };
                }
                Some(Socket::Alone(socket, _)) => self.socket = Some(Socket::Watched(TcpStream::from_std(socket)?)),
                Some(Socket::Watched(mut socket)) => {
                    let polled = Pin::new(&mut socket).poll_read(context, read);
                    let stream = self.stream.as_mut().filter(|stream| polled.is_pending() && stream.may_be_late());
                    // Others watch it from now on, and it is looked at again, for something may have come.
                    let (socket, looks_again) = match stream {
                        Some(stream) => (stream.watched(socket)?, true),
                        None => (socket, false),
                    };
                    self.socket = Some(Socket::Watched(socket));
                    if !looks_again {
                        return polled;
                    }
                }
            }
        }
    }

    /// What of these bytes is body. Lets the connection go when that was all.
    fn framed(&mut self, bytes: &[u8]) -> Result<Bytes, Failure> {
        let is_little = bytes.len() <= WORDS;
        let mut space = if is_little { SPACE.take() } else { BytesMut::new() };
        space.reserve(if is_little && space.capacity() == 0 { SHARED } else { bytes.len() });
        let read = self.framing.read(bytes, &mut space)?;
        let body = space.split().freeze();
        if is_little {
            SPACE.set(space);
        }
        if self.framing.is_over() {
            if read < bytes.len() {
                // More than was asked for: nobody knows what the next answer would begin with.
                self.home = None;
            }
            self.let_go();
        }
        Ok(body)
    }

    fn let_go(&mut self) {
        let home = self.home.take().filter(|_| self.rest.is_empty());
        let (socket, stream) = (self.socket.take(), self.stream.take());
        let (Some(socket), Some((kept, place))) = (socket, home) else { return };
        let socket = match (socket, stream) {
            (Socket::Alone(socket, _), _) => TcpStream::from_std(socket),
            (Socket::Watched(socket), Some(stream)) => stream.ended(socket),
            (Socket::Watched(socket), None) => Ok(socket),
        };
        if let Ok(socket) = socket {
            kept.put(place, socket);
        }
    }
}

/// The connection of a body on its way.
#[derive(Debug)]
enum Socket {
    /// The runtime, or a thread for many, wakes whoever waits for it.
    Watched(TcpStream),
    /// Nobody does. Whether all that there was at this look was read.
    Alone(std::net::TcpStream, bool),
}

/// Reads what there is, without waiting. Gives whether that was all.
fn read_alone(mut socket: &std::net::TcpStream, read: &mut ReadBuf<'_>) -> io::Result<bool> {
    loop {
        match socket.read(read.initialize_unfilled_to(READ_ALONE)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            came => {
                let length = came?;
                read.advance(length);
                return Ok(length < READ_ALONE);
            }
        }
    }
}

/// Connections for the next requests, by where they lead.
#[derive(Debug, Clone, Default)]
struct Kept(Arc<Mutex<Places>>);

/// The connections to each place, those used last at the end, each with when that was.
type Places = HashMap<String, Vec<(Instant, TcpStream)>>;

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that was used last, if its server has not closed it.
    fn take(&self, place: &str) -> Option<TcpStream> {
        loop {
            let (since, socket) = self.lock().get_mut(place)?.pop()?;
            if since.elapsed() < KEPT_FOR && is_open_and_silent(&socket) {
                return Some(socket);
            }
        }
    }

    fn put(&self, place: String, socket: TcpStream) {
        let mut places = self.lock();
        // Whoever finds nothing kept sees to it that what he leaves is closed in time.
        if places.is_empty() {
            tokio::spawn(self.clone().close_in_time());
        }
        let sockets = places.entry(place).or_default();
        if sockets.len() < MOST_KEPT {
            sockets.push((Instant::now(), socket));
        }
    }

    async fn close_in_time(self) {
        loop {
            sleep(KEPT_FOR).await;
            let mut places = self.lock();
            places.retain(|_, sockets| {
                sockets.retain(|(since, socket)| since.elapsed() < KEPT_FOR && is_open_and_silent(socket));
                !sockets.is_empty()
            });
            if places.is_empty() {
                return;
            }
        }
    }
}

fn is_open_and_silent(socket: &TcpStream) -> bool {
    let peeked = SockRef::from(socket).peek(&mut [MaybeUninit::uninit()]);
    peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::duplex;
    use tokio::runtime;

    use super::*;

    /// What a head and the bytes behind it are read as when they come so many at a time: status, headers, rest.
    fn read(bytes: &[u8], at_a_time: usize) -> Result<(u16, Vec<String>, Vec<u8>), String> {
        let runtime = runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let (mut server, mut client) = duplex(at_a_time);
            let sent = bytes.to_vec();
            // Whoever has read enough hangs up.
            let sending = tokio::spawn(async move { drop(server.write_all(&sent).await) });
            let (head, rest) = read_head(&mut client).await.map_err(|failure| failure.to_string())?;
            let mut behind = rest.to_vec();
            client.read_to_end(&mut behind).await.expect("the rest");
            sending.await.expect("sent");
            Ok((head.status.as_u16(), head.headers.iter().map(|header| format!("{header:?}")).collect(), behind))
        })
    }

    #[test]
    fn a_head_ends_at_its_empty_line() {
        let answer = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 404 Not Found\r\nA: b\nC:\n\r\nrest\r\n\r\n";
        for at_a_time in [1, 3, 1_000] {
            let (status, headers, rest) = read(answer, at_a_time).expect("a head");
            assert_eq!((status, headers.len(), rest.as_slice()), (404, 2, &b"rest\r\n\r\n"[..]));
        }
    }

    proptest! {
        #[test]
        fn however_a_head_is_cut_it_is_the_same(
            text in "(HTTP/1[.][01] [1-5][0-9]{1,2} ?[a-z]{0,3}\r?\n)?([A-Za-z-]{0,3}:? ?[a-z\u{e9}\u{1}]{0,3}\r?\n){0,5}(\r?\n)?[a-z]{0,5}",
            at_a_time in 1_usize..9,
        ) {
            prop_assert_eq!(read(text.as_bytes(), at_a_time), read(text.as_bytes(), 10_000));
        }
    }
}
