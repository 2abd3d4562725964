//! Accepts connections, serves them, and drains on shutdown.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use docent_types::Ids;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::Handler;
use crate::connection::{Server, connection};
use crate::draining::Draining;
use crate::limits::ServerLimits;

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were still busy at the end of the drain period and were closed.
    pub cut: usize,
}

/// Serves `listener` until `shutdown` completes, then lets what runs finish within [`ServerLimits::drain`].
///
/// HTTP/1.1 and HTTP/2 without TLS are told apart by their first bytes. A connection is accepted only when fewer than
/// [`ServerLimits::connections`] are open. The listener is closed as soon as `shutdown` completes, so the kernel
/// refuses later clients, and they can try another instance. Those whose connections the kernel has accepted by then are
/// served like all others: a request of theirs may be on its way.
pub async fn serve<H: Handler>(
    listener: TcpListener,
    handler: H,
    limits: ServerLimits,
    ids: Arc<dyn Ids>,
    shutdown: impl Future<Output = ()>,
) -> Drained {
    let room = Arc::new(Semaphore::new(limits.connections));
    let bound = limits.drain;
    let (drain, stop) = (CancellationToken::new(), CancellationToken::new());
    let draining = Draining::from(drain.clone());
    let server = Arc::new(Server { handler, limits, ids, drain: drain.clone(), draining, stop: stop.clone() });
    let connections = TaskTracker::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let next = async {
            // The semaphore is never closed, so a permit comes eventually.
            let permit = Arc::clone(&room).acquire_owned().await.ok();
            (permit, accept(&listener).await)
        };
        let (permit, (stream, peer)) = tokio::select! {
            biased;
            () = &mut shutdown => break,
            next = next => next,
        };
        serve_one(&server, &connections, stream, peer, permit);
    }
    for (stream, peer) in waiting(listener) {
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { break };
        serve_one(&server, &connections, stream, peer, Some(permit));
    }
    drain.cancel();
    connections.close();
    if timeout(bound, connections.wait()).await.is_ok() {
        return Drained { cut: 0 };
    }
    let cut = connections.len();
    stop.cancel();
    connections.wait().await;
    Drained { cut }
}

/// Serves a connection, which holds its permit meanwhile.
fn serve_one<H: Handler>(
    server: &Arc<Server<H>>,
    connections: &TaskTracker,
    stream: TcpStream,
    peer: SocketAddr,
    permit: Option<OwnedSemaphorePermit>,
) {
    let server = Arc::clone(server);
    connections.spawn(async move {
        connection(server, stream, peer).await;
        drop(permit);
    });
}

/// The connections that the kernel has accepted and we have not. Closes the listener after them.
fn waiting(listener: TcpListener) -> impl Iterator<Item = (TcpStream, SocketAddr)> {
    let listener = listener.into_std().ok();
    std::iter::from_fn(move || {
        let (stream, peer) = listener.as_ref()?.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        Some((TcpStream::from_std(stream).ok()?, peer))
    })
}

/// The next connection. Out of file descriptors or memory, it retries after a pause, and logs that once.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut logged = false;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                if !logged {
                    tracing::warn!(%error, "could not accept a connection; trying again until there is room");
                    logged = true;
                }
                sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// The client closed the connection before it was accepted; the next one may be waiting already.
fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

#[cfg(test)]
mod tests;
