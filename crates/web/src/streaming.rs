//! A stream's way to an HTTP/1.1 socket, past hyper.
//!
//! hyper reads every request and writes every answer that has a length. An answer that streams stays open for long and says
//! little at a time, thousands of them at once, and what hyper keeps for each is larger than all else: two buffers of 8 KiB,
//! a state machine for what may come next. None of that is needed once the head of such an answer is known. So hyper lets
//! go of the socket then, the answer is written from here, chunk by chunk, and the connection goes back to hyper with its next
//! request.

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version, response};
use http_body::Body;
use tokio::io::AsyncWrite;

use crate::socket::Socket;
use crate::spare;

/// As much as is asked of a body before what it gave is written.
const WRITE: usize = 8 * 1024;

/// What is to become of a connection behind an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It takes the next request.
    Stays,
    Closes,
}

/// What a request's head says of who may write its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked(Option<Then>);

impl Asked {
    pub(crate) fn by<B>(request: &http::Request<B>) -> Self {
        let plain = request.version() == Version::HTTP_11
            && request.method() != Method::HEAD
            && request.method() != Method::CONNECT
            && !request.headers().contains_key(UPGRADE);
        Self(plain.then(|| if says_close(request.headers()) { Then::Closes } else { Then::Stays }))
    }

    /// Whether an answer can be written here; `None` when hyper has to, because it is no plain stream.
    pub(crate) fn streams<B: Body>(self, response: &http::Response<B>) -> Option<Then> {
        let headers = response.headers();
        let plain = response.status() == StatusCode::OK
            && response.body().size_hint().exact().is_none()
            && ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].iter().any(|name| headers.contains_key(name));
        self.0.filter(|_| plain)
    }
}

fn says_close(headers: &HeaderMap) -> bool {
    let words = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    words.flat_map(|words| words.split(',')).any(|word| word.trim().eq_ignore_ascii_case("close"))
}

/// An answer that is written to its end.
pub(crate) struct Sending<B> {
    body: B,
    out: Vec<u8>,
    /// How much of that the kernel has.
    written: usize,
    /// Whether the kernel takes no more for now.
    waits: bool,
    ended: bool,
}

impl<B> Sending<B>
where
    B: Body<Data = Bytes, Error = std::convert::Infallible> + Unpin,
{
    pub(crate) fn new(response: http::Response<B>, then: Then) -> Self {
        let (parts, body) = response.into_parts();
        Self { body, out: head(&parts, then), written: 0, waits: false, ended: false }
    }

    /// Writes what there is. The body is asked for more only when all it gave is with the kernel.
    ///
    /// # Errors
    /// The client is gone, or has stopped reading.
    pub(crate) fn poll(&mut self, socket: &mut Socket, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if !self.waits {
                self.gather(context);
            }
            if self.out.is_empty() {
                return if self.ended { Poll::Ready(Ok(())) } else { socket.poll_gone(context).map(Err) };
            }
            while self.written < self.out.len() {
                self.waits = false;
                match Pin::new(&mut *socket).poll_write(context, &self.out[self.written..])? {
                    Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(count) => self.written += count,
                    Poll::Pending => {
                        self.waits = true;
                        return socket.poll_gone(context).map(Err);
                    }
                }
            }
            self.written = 0;
            spare::is_written(mem::take(&mut self.out));
        }
    }

    /// Takes from the body what is there, up to a bound. Its end goes with what was last, where that is known by then: what
    /// the body holds is gone before the client can know that it has all.
    fn gather(&mut self, context: &mut Context<'_>) {
        while !self.ended && (self.out.len() < WRITE || self.body.is_end_stream()) {
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Bodies of ours have no trailers.
                    if let Ok(data) = frame.into_data() {
                        if self.out.capacity() == 0 {
                            self.out = spare::piece();
                        }
                        chunk(&data, &mut self.out);
                    }
                }
                Poll::Ready(None) => {
                    self.out.extend_from_slice(b"0\r\n\r\n");
                    self.ended = true;
                }
                Poll::Pending => return,
            }
        }
    }
}

/// A chunk of no bytes would be the last one.
fn chunk(data: &[u8], out: &mut Vec<u8>) {
    if data.is_empty() {
        return;
    }
    out.reserve(data.len() + 12);
    let digits = (usize::BITS - data.len().leading_zeros()).div_ceil(4);
    for digit in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(data.len() >> (4 * digit)) & 15]);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

fn head(parts: &response::Parts, then: Then) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    let mut line = |name: &[u8], value: &HeaderValue| {
        out.extend_from_slice(name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    };
    for (name, value) in &parts.headers {
        line(name.as_str().as_bytes(), value);
    }
    if !parts.headers.contains_key(DATE)
        && let Ok(date) = HeaderValue::try_from(httpdate::fmt_http_date(SystemTime::now()))
    {
        line(b"date", &date);
    }
    line(b"transfer-encoding", &HeaderValue::from_static("chunked"));
    if then == Then::Closes {
        line(b"connection", &HeaderValue::from_static("close"));
    }
    out.extend_from_slice(b"\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_says_its_length_and_none_is_empty() {
        for length in [0, 1, 15, 16, 255, 256, 6_143, 65_536] {
            let data = vec![b'x'; length];
            let mut out = Vec::new();
            chunk(&data, &mut out);
            let text = String::from_utf8(out).unwrap();
            let expected = format!("{length:x}\r\n{}\r\n", "x".repeat(length));
            assert_eq!(text, if length == 0 { String::new() } else { expected });
        }
    }

    #[test]
    fn the_end_goes_with_what_is_last_however_large_that_is() {
        let held = std::sync::Arc::new(());
        let body = crate::Body::stream(futures::stream::iter([Bytes::from(vec![b'x'; 2 * WRITE])]));
        let body = body.holding(std::sync::Arc::clone(&held));
        let mut sending = Sending::new(http::Response::new(body), Then::Stays);
        sending.gather(&mut Context::from_waker(std::task::Waker::noop()));
        assert!(sending.ended && sending.out.ends_with(b"x\r\n0\r\n\r\n"));
        assert_eq!(std::sync::Arc::strong_count(&held), 1, "what it holds is gone before that is written");
    }

    #[test]
    fn only_plain_streams_are_written_here() {
        let request = |version, method: Method, connection: &'static str| {
            let request = http::Request::builder().version(version).method(method).header("connection", connection);
            Asked::by(&request.body(()).unwrap())
        };
        let stream = || respond("text/event-stream");
        fn respond(media: &'static str) -> crate::Response {
            crate::respond::stream(media, futures::stream::empty())
        }
        let usual = request(Version::HTTP_11, Method::POST, "keep-alive");
        assert_eq!(usual.streams(&stream()), Some(Then::Stays));
        assert_eq!(request(Version::HTTP_11, Method::GET, "a, Close").streams(&stream()), Some(Then::Closes));
        assert_eq!(request(Version::HTTP_10, Method::GET, "keep-alive").streams(&stream()), None);
        assert_eq!(request(Version::HTTP_11, Method::HEAD, "keep-alive").streams(&stream()), None);
        assert_eq!(usual.streams(&crate::respond::bytes_of(StatusCode::OK, "text/plain", "a")), None);
        let mut odd = stream();
        *odd.status_mut() = StatusCode::ACCEPTED;
        assert_eq!(usual.streams(&odd), None);
    }
}
