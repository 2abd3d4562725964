//! Accept, serve, drain.

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
    /// Connections that were still busy when their time was up, and were cut.
    pub cut: usize,
}

/// Serves `listener` until `shutdown` completes, then lets what runs finish within [`ServerLimits::drain`].
///
/// HTTP/1.1 and HTTP/2 without TLS are told apart by their first bytes. A connection is accepted only when there is room
/// for it. The listener is closed as soon as `shutdown` completes, so a client that comes later is refused by the kernel
/// and may go elsewhere.
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
            // A semaphore nobody closes always has a permit in the end.
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

/// The next connection. Out of file descriptors or memory, it waits a little and tries again, and says so once.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut told = false;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                if !told {
                    tracing::warn!(%error, "could not accept a connection; trying again until there is room");
                    told = true;
                }
                sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// The client was gone before we got to it; the next one may be there already.
fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

#[cfg(test)]
mod tests;
