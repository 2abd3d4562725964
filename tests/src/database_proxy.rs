//! A proxy before PostgreSQL, which can lead to another server, and cuts connections where a test says.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Stack size of the threads that carry bytes.
const STACK_BYTES: usize = 256 << 10;
const BUFFER_BYTES: usize = 16 << 10;

/// Where a connection is cut that commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitCut {
    /// The server does not get the COMMIT.
    Before,
    /// The server gets it, and the client gets no answer.
    After,
}

/// A proxy on a port of loopback. It ends with the process.
#[derive(Debug, Clone)]
pub struct DatabaseProxy {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    server: Mutex<SocketAddr>,
    cuts: Mutex<VecDeque<CommitCut>>,
    /// Until when sessions that LISTEN are cut.
    deaf_until: Mutex<Option<Instant>>,
    /// The connections that there are.
    carried: Mutex<HashMap<u64, Arc<Carried>>>,
    next: AtomicU64,
}

/// One connection, from both sides.
#[derive(Debug)]
struct Carried {
    client: TcpStream,
    server: TcpStream,
    /// Whether it has sent LISTEN.
    listens: AtomicBool,
    /// Whether the server's answers are withheld.
    is_mute: AtomicBool,
}

impl DatabaseProxy {
    /// A proxy that leads to this server.
    ///
    /// # Panics
    /// When there is no port for it.
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listen on the loopback interface");
        let address = listener.local_addr().expect("a listener has an address");
        let state = Arc::new(State {
            server: Mutex::new(server),
            cuts: Mutex::default(),
            deaf_until: Mutex::default(),
            carried: Mutex::default(),
            next: AtomicU64::new(0),
        });
        let accepting = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = *accepting.server.lock();
                // Without a server, the client's connection is closed.
                let Ok(server) = TcpStream::connect(server) else { continue };
                let state = Arc::clone(&accepting);
                small_thread(move || state.carry(client, server));
            }
        });
        Self { address, state }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Leads new connections to another server, and cuts those that there are.
    pub fn leads_to(&self, server: SocketAddr) {
        *self.state.server.lock() = server;
        self.cut_all();
    }

    /// Cuts all connections.
    pub fn cut_all(&self) {
        self.state.cut(|_| true);
    }

    /// Cuts the sessions that LISTEN, and for this long each that begins to.
    pub fn cut_listeners_for(&self, time: Duration) {
        *self.state.deaf_until.lock() = Some(Instant::now() + time);
        self.state.cut(|carried| carried.listens.load(Ordering::SeqCst));
    }

    /// Cuts the connections of the next commits, each where its place in the list says.
    pub fn cut_commits(&self, cuts: impl IntoIterator<Item = CommitCut>) {
        self.state.cuts.lock().extend(cuts);
    }

    /// The commits that are still to be cut.
    pub fn cuts_left(&self) -> usize {
        self.state.cuts.lock().len()
    }
}

impl State {
    fn cut(&self, which: impl Fn(&Carried) -> bool) {
        self.carried.lock().values().filter(|carried| which(carried)).for_each(|carried| carried.cut());
    }

    fn carry(&self, client: TcpStream, server: TcpStream) {
        let (listens, is_mute) = (AtomicBool::new(false), AtomicBool::new(false));
        let carried = Arc::new(Carried { client, server, listens, is_mute });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.carried.lock().insert(number, Arc::clone(&carried));
        let answering = Arc::clone(&carried);
        small_thread(move || {
            let _ = answering.carry_answers();
            answering.cut();
        });
        // An error means what the end of the connection means.
        let _ = self.carry_requests(&carried);
        if !carried.is_mute.load(Ordering::SeqCst) {
            carried.cut();
        }
        self.carried.lock().remove(&number);
    }

    /// Returns when the client has closed the connection, or it is to be cut.
    fn carry_requests(&self, carried: &Carried) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let count = (&carried.client).read(&mut buffer)?;
            let bytes = &buffer[..count];
            if bytes.is_empty() {
                return Ok(());
            }
            if contains(bytes, b"LISTEN docent_commits") {
                carried.listens.store(true, Ordering::SeqCst);
                if self.deaf_until.lock().is_some_and(|until| Instant::now() < until) {
                    return Ok(());
                }
            }
            let cut = if contains(bytes, b"; COMMIT") { self.cuts.lock().pop_front() } else { None };
            match cut {
                None => (&carried.server).write_all(bytes)?,
                Some(CommitCut::Before) => return Ok(()),
                Some(CommitCut::After) => {
                    carried.is_mute.store(true, Ordering::SeqCst);
                    return (&carried.server).write_all(bytes);
                }
            }
        }
    }
}

impl Carried {
    /// Returns when the server has closed the connection, or has begun to answer what must not be answered.
    fn carry_answers(&self) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let count = (&self.server).read(&mut buffer)?;
            if count == 0 || self.is_mute.load(Ordering::SeqCst) {
                return Ok(());
            }
            (&self.client).write_all(&buffer[..count])?;
        }
    }

    fn cut(&self) {
        // Either side may be gone already.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

fn small_thread(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("start a thread for a connection");
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}
