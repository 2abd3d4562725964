//! A TCP socket with a limit on stalled writes, and a close that does not lose the answer.
//!
//! *Stalls.* A client that stops reading would hold its answer, and the work behind it, for as long as it liked. So a
//! write that makes no progress for a while fails.
//!
//! *Closing.* A server that answers 413 and closes while the client is still sending resets the connection, and the
//! reset may arrive before the answer. So after the last byte only the sending half is closed, and incoming bytes are
//! discarded until the client closes too, is silent for [`SILENT`], or [`LINGER`] has passed.
//!
//! *Refused heads.* What hyper sends when no request has begun since its last flush is its own answer to a head that it
//! cannot read. It is replaced by one [with a reason](refused_head::with_reason).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use docent_types::Ids;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use crate::activity::Activity;
use crate::refused_head;

/// How long a client may be silent after our last byte before its connection is closed.
const SILENT: Duration = Duration::from_millis(500);
/// How long a client may continue sending after our last byte.
const LINGER: Duration = Duration::from_secs(10);

pub(crate) struct Socket {
    stream: TcpStream,
    stalled: Duration,
    activity: Arc<Activity>,
    ids: Arc<dyn Ids>,
    /// How many requests had begun at the last flush after which nothing was in progress.
    flushed: Option<usize>,
    /// What is left to send of an answer to a refused head, in place of hyper's.
    refusal: Bytes,
    /// Runs while a write waits.
    stall: Option<Pin<Box<Sleep>>>,
    /// Set once the sending half is closed.
    linger: Option<LingeringClose>,
}

struct LingeringClose {
    silent: Pin<Box<Sleep>>,
    until: Instant,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, stalled: Duration, activity: Arc<Activity>, ids: Arc<dyn Ids>) -> Self {
        let flushed = activity.idle_since();
        Self { stream, stalled, activity, ids, flushed, refusal: Bytes::new(), stall: None, linger: None }
    }

    fn is_of_no_request(&self) -> bool {
        self.flushed.is_some() && self.flushed == self.activity.idle_since()
    }

    /// Fails a write that has made no progress for too long.
    fn progress<T>(&mut self, cx: &mut Context<'_>, write: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if write.is_ready() {
            if self.stall.take().is_some() {
                self.activity.writing(false);
            }
            return write;
        }
        self.activity.writing(true);
        let stalled = self.stalled;
        let timer = self.stall.get_or_insert_with(|| Box::pin(sleep(stalled)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client stopped reading")))
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.refusal.is_empty()
            && this.is_of_no_request()
            && let Some(refusal) = refused_head::with_reason(buf, &*this.ids)
        {
            this.refusal = refusal.into();
        }
        let has_refusal = !this.refusal.is_empty();
        while !this.refusal.is_empty() {
            let write = Pin::new(&mut this.stream).poll_write(cx, &this.refusal);
            let sent = ready!(this.progress(cx, write))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            this.refusal.advance(sent);
        }
        if has_refusal {
            return Poll::Ready(Ok(buf.len()));
        }
        let write = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.progress(cx, write)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let write = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.progress(cx, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.flushed = this.activity.idle_since();
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, linger, .. } = self.get_mut();
        if linger.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        let LingeringClose { silent, until } = linger
            .get_or_insert_with(|| LingeringClose { silent: Box::pin(sleep(SILENT)), until: Instant::now() + LINGER });
        let mut scratch = [0; 8 * 1024];
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            match Pin::new(&mut *stream).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() => {
                    let now = Instant::now();
                    if now >= *until {
                        return Poll::Ready(Ok(()));
                    }
                    *silent = Box::pin(sleep_until((now + SILENT).min(*until)));
                }
                // The client has closed or is gone: nothing is left to read.
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return silent.as_mut().poll(cx).map(Ok),
            }
        }
    }
}
