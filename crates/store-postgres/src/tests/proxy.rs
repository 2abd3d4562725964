//! A proxy before the server, which cuts connections where a test says.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

/// What becomes of the next COMMIT, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtCommit {
    /// The connection is cut, and the server does not get it.
    Lose,
    /// The server gets it, and the connection is cut before its answer.
    LoseAnswer,
    /// The connection is cut. The server gets it when the test says so.
    Delay,
}

/// A proxy on a port of loopback.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
    _accepting: AbortOnDropHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    at_commit: Mutex<Option<AtCommit>>,
    /// Wakes the delayed COMMIT.
    deliver: Notify,
    delivered: Notify,
    /// Wakes every connection, to be cut.
    cut: Notify,
    /// Whether LISTEN is kept from the server.
    is_deaf: Mutex<bool>,
    /// Whether new connections are closed at once.
    is_away: AtomicBool,
}

impl Proxy {
    /// A proxy before the server at this address.
    pub(crate) async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::<State>::default();
        let accepting = {
            let state = Arc::clone(&state);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    if state.is_away.load(Ordering::SeqCst) {
                        continue;
                    }
                    let server = TcpStream::connect(server).await.expect("the server answers");
                    tokio::spawn(Arc::clone(&state).carry(client, server));
                }
            }
        };
        Self { address, state, _accepting: AbortOnDropHandle::new(tokio::spawn(accepting)) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn at_next_commit(&self, what: AtCommit) {
        *self.state.at_commit.lock() = Some(what);
    }

    /// Gives the server the COMMIT that was delayed; returns when the server has answered it.
    pub(crate) async fn deliver(&self) {
        self.state.deliver.notify_one();
        self.state.delivered.notified().await;
    }

    /// Cuts all connections.
    pub(crate) fn cut(&self) {
        self.state.cut.notify_waiters();
    }

    /// From the next COMMIT on, which the server gets, nobody reaches it; until `come_back`.
    pub(crate) fn go_away_at_next_commit(&self) {
        self.at_next_commit(AtCommit::LoseAnswer);
        self.state.is_away.store(true, Ordering::SeqCst);
    }

    pub(crate) fn come_back(&self) {
        self.state.is_away.store(false, Ordering::SeqCst);
    }

    /// Keeps LISTEN from the server, as a pooler does.
    pub(crate) fn keep_deaf(&self) {
        *self.state.is_deaf.lock() = true;
    }
}

impl State {
    async fn carry(self: Arc<Self>, client: TcpStream, server: TcpStream) {
        let (from_client, to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let is_over = AtomicBool::new(false);
        // The client's connection ends with this.
        let delayed = tokio::select! {
            delayed = self.carry_requests(from_client, &mut to_server, &is_over) => delayed,
            () = carry_answers(&mut from_server, to_client, &is_over) => None,
            () = self.cut.notified() => None,
        };
        if let Some(commit) = delayed {
            self.deliver.notified().await;
            to_server.write_all(&commit).await.expect("the server takes it");
            to_server.shutdown().await.expect("the server is told that this is all");
            copy(&mut from_server, &mut sink()).await.expect("the server answers, and closes the connection");
            self.delivered.notify_one();
        }
    }

    /// Returns when the connection is to be cut, with a COMMIT that the server is to get later.
    async fn carry_requests(
        &self,
        mut client: OwnedReadHalf,
        server: &mut OwnedWriteHalf,
        is_over: &AtomicBool,
    ) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let Ok(count @ 1..) = client.read(&mut buffer).await else { return None };
            let bytes = &mut buffer[..count];
            if *self.is_deaf.lock() {
                replace(bytes, b"LISTEN docent_commits", b"SELECT 'not a LISTEN'");
            }
            let what = self.at_commit.lock().take_if(|_| find(bytes, b"; COMMIT").is_some());
            match what {
                None => server.write_all(bytes).await.ok()?,
                Some(AtCommit::Lose) => return None,
                Some(AtCommit::LoseAnswer) => {
                    is_over.store(true, Ordering::SeqCst);
                    server.write_all(bytes).await.expect("the server takes it");
                }
                Some(AtCommit::Delay) => return Some(bytes.to_vec()),
            }
        }
    }
}

/// Returns when the server has closed the connection, or has answered what is the last.
async fn carry_answers(server: &mut OwnedReadHalf, mut client: OwnedWriteHalf, is_over: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = server.read(&mut buffer).await {
        if is_over.load(Ordering::SeqCst) || client.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn replace(bytes: &mut [u8], what: &[u8], by: &[u8]) {
    if let Some(at) = find(bytes, what) {
        bytes[at..at + what.len()].copy_from_slice(by);
    }
}
