//! Accepts connections, serves them, and drains on shutdown.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use docent_types::Ids;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
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
/// refuses later clients, and they can try another instance.
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
        let server = Arc::clone(&server);
        connections.spawn(async move {
            connection(server, stream, peer).await;
            drop(permit);
        });
    }
    drop(listener);
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
