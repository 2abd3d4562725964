//! Bodies that say a little at a time, many of them at once.
//!
//! A runtime is woken for every packet that comes, and when hundreds of models speak, being woken is most of what their words
//! cost. So the sockets of many such bodies are watched by a thread of their own, which looks every few milliseconds and
//! tells of all that has come since:
//!
//! ```text
//!   packets       · ·   ·  ·    ·  · ·  ·     ·   · ·
//!   it looks    |         |         |         |         |
//! ```
//!
//! A few are watched like any other socket, and so is each until its first words are there. Who has promised to come again
//! by itself ([`promise`]) needs nobody to watch.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::promise;

/// How often the thread looks.
const EVERY: Duration = Duration::from_millis(20);
/// From so many bodies on.
const MANY: usize = 20;
/// As many sockets are told of at a look; others wait for the next.
const AT_A_LOOK: usize = 8 * 1024;

/// The bodies of a client that stream at the moment. Clones count the same ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    open: AtomicUsize,
    /// `None` when it could not be started: then all are watched as a few are.
    watch: OnceLock<Option<Watch>>,
}

/// Ends its thread when it is dropped.
#[derive(Debug)]
struct Watch {
    handle: Handle,
    _stop: oneshot::Sender<()>,
}

/// A body that streams, and who watches its socket.
#[derive(Debug)]
pub(crate) struct Stream {
    streams: Streams,
    /// Whether anything of it was read.
    has_spoken: bool,
    is_watched: bool,
}

impl Streams {
    pub(crate) fn begin(&self) -> Stream {
        self.0.open.fetch_add(1, Ordering::Relaxed);
        Stream { streams: self.clone(), has_spoken: false, is_watched: false }
    }

    fn are_many(&self) -> bool {
        self.0.open.load(Ordering::Relaxed) >= MANY
    }

    fn watch(&self) -> Option<&Handle> {
        self.0.watch.get_or_init(|| Watch::start().ok()).as_ref().map(|watch| &watch.handle)
    }
}

impl Watch {
    fn start() -> io::Result<Self> {
        let mut builder = Builder::new_current_thread();
        builder.enable_io().max_io_events_per_tick(AT_A_LOOK).on_thread_park(|| thread::sleep(EVERY));
        let runtime = builder.build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let watch = move || drop(runtime.block_on(stopped));
        thread::Builder::new().name("model-streams".to_owned()).spawn(watch)?;
        Ok(Self { handle, _stop: stop })
    }
}

impl Stream {
    pub(crate) const fn speaks(&mut self) {
        self.has_spoken = true;
    }

    /// Whether the socket need not be watched: who reads comes again by itself.
    pub(crate) fn may_rely(&self) -> bool {
        self.has_spoken && promise::is_made()
    }

    /// Whether the socket, which has nothing to read, is better watched by the thread.
    pub(crate) fn may_be_late(&self) -> bool {
        self.has_spoken && !self.is_watched && self.streams.are_many()
    }

    /// Has the socket watched by the thread, where there is one.
    pub(crate) fn watched(&mut self, socket: TcpStream) -> io::Result<TcpStream> {
        self.is_watched = true;
        let Some(watch) = self.streams.watch() else { return Ok(socket) };
        let _there = watch.enter();
        TcpStream::from_std(socket.into_std()?)
    }

    /// Has the socket watched by the runtime of whoever calls, as it is to answer the next request.
    pub(crate) fn ended(&self, socket: TcpStream) -> io::Result<TcpStream> {
        if self.is_watched { TcpStream::from_std(socket.into_std()?) } else { Ok(socket) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.streams.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::SocketAddr;
    use std::task::{Context, Poll, Waker};

    use bytes::Bytes;
    use futures::poll;
    use http::Request;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;
    use tokio::time::{sleep, timeout};

    use super::*;
    use crate::connector::tcp;
    use crate::direct::{Direct, DirectBody};
    use crate::promise::promising;

    const WORDS: usize = 8;
    const PAUSE: Duration = Duration::from_millis(15);
    const PATIENCE: Duration = Duration::from_secs(20);

    /// A model that speaks to everybody, word by word, and keeps its connections: where it is, and how many there are.
    async fn speaker(pause: Duration) -> (SocketAddr, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (address, connections) = (listener.local_addr().expect("bound"), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(speaks(socket, pause, Arc::clone(&count)));
            }
        });
        (address, connections)
    }

    async fn speaks(mut socket: TcpStream, pause: Duration, connections: Arc<AtomicUsize>) {
        let mut request = [0; 1024];
        while let Ok(1..) = socket.read(&mut request).await {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
            let mut said = socket.write_all(head.as_bytes()).await;
            for word in 0..WORDS {
                sleep(pause).await;
                said = said.and(socket.write_all(format!("3\r\n{word}, \r\n").as_bytes()).await);
            }
            if said.and(socket.write_all(b"0\r\n\r\n").await).is_err() {
                break;
            }
        }
        connections.fetch_sub(1, Ordering::Relaxed);
    }

    async fn asked(direct: &Direct, address: SocketAddr) -> DirectBody {
        let request = Request::get(format!("http://{address}/")).body(Bytes::new()).expect("a request");
        direct.send(request).await.expect("an answer").into_body()
    }

    async fn read(mut body: DirectBody) -> String {
        let mut text = Vec::new();
        while let Some(piece) = poll_fn(|context| body.poll_data(context)).await {
            text.extend_from_slice(&piece.expect("a piece"));
        }
        String::from_utf8(text).expect("text")
    }

    /// So many read at a time, each to the end.
    async fn read_by(readers: usize, direct: &Direct, address: SocketAddr) {
        let mut reading = JoinSet::new();
        for _ in 0..readers {
            let direct = direct.clone();
            reading.spawn(async move { read(asked(&direct, address).await).await });
        }
        let texts = timeout(PATIENCE, reading.join_all()).await.expect("none stands still");
        assert!(texts.iter().all(|text| text == "0, 1, 2, 3, 4, 5, 6, 7, "), "{texts:?}");
    }

    fn direct() -> Direct {
        Direct::new(tcp(), PATIENCE)
    }

    #[tokio::test]
    async fn many_are_read_to_their_ends_and_their_connections_used_again() {
        let (direct, (address, connections)) = (direct(), speaker(PAUSE).await);
        read_by(MANY + 5, &direct, address).await;
        assert!(direct.streams().0.watch.get().is_some(), "a thread watches them");
        assert_eq!(direct.streams().0.open.load(Ordering::Relaxed), 0);
        read_by(MANY + 5, &direct, address).await;
        assert!(connections.load(Ordering::Relaxed) <= MANY + 5, "no more were made");
    }

    #[tokio::test]
    async fn a_few_need_no_thread() {
        let (direct, (address, _)) = (direct(), speaker(PAUSE).await);
        read_by(MANY - 1, &direct, address).await;
        assert!(direct.streams().0.watch.get().is_none());
    }

    /// The next piece, by somebody who comes again every so often, woken or not; the first is waited for as usual. Counts how
    /// often that was relied on.
    async fn piece_without_waking(body: &mut DirectBody, relied_on: &mut usize) -> Option<Bytes> {
        loop {
            let mut context = Context::from_waker(Waker::noop());
            let mut polled = Poll::Pending;
            let is_relied_on = promising(&mut || polled = body.poll_data(&mut context));
            match polled {
                Poll::Ready(piece) => return piece.map(|piece| piece.expect("a piece")),
                Poll::Pending if is_relied_on => {
                    *relied_on += 1;
                    sleep(PAUSE).await;
                }
                Poll::Pending => {
                    return poll_fn(|context| body.poll_data(context)).await.map(|piece| piece.expect("one"));
                }
            }
        }
    }

    #[tokio::test]
    async fn who_comes_again_by_itself_is_not_woken_and_reads_all() {
        let (direct, (address, connections)) = (direct(), speaker(PAUSE * 4).await);
        for _ in 0..2 {
            let (mut body, mut text, mut relied_on) = (asked(&direct, address).await, Vec::new(), 0);
            let reading = async {
                while let Some(piece) = piece_without_waking(&mut body, &mut relied_on).await {
                    text.extend_from_slice(&piece);
                }
            };
            timeout(PATIENCE, reading).await.expect("in time");
            assert_eq!(text, b"0, 1, 2, 3, 4, 5, 6, 7, ");
            assert!(relied_on > 0, "nobody was to be woken");
        }
        assert_eq!(connections.load(Ordering::Relaxed), 1, "it was used again");
    }

    #[tokio::test]
    async fn who_comes_no_more_is_woken_again() {
        let (direct, (address, _)) = (direct(), speaker(PAUSE * 4).await);
        let mut body = asked(&direct, address).await;
        let (mut text, mut relied_on) = (Vec::new(), 0);
        let reading = async {
            for turn in 0.. {
                let piece = if turn % 3 == 2 {
                    poll_fn(|context| body.poll_data(context)).await.map(|piece| piece.expect("read"))
                } else {
                    piece_without_waking(&mut body, &mut relied_on).await
                };
                let Some(piece) = piece else { return };
                text.extend_from_slice(&piece);
            }
        };
        timeout(PATIENCE, reading).await.expect("in time");
        assert_eq!(text, b"0, 1, 2, 3, 4, 5, 6, 7, ");
        assert!(relied_on > 0, "there was a time when nobody was to be woken");
    }

    #[tokio::test]
    async fn whoever_has_heard_enough_hangs_up() {
        let (direct, (address, connections)) = (direct(), speaker(PAUSE * 20).await);
        let mut bodies = Vec::new();
        for _ in 0..MANY {
            bodies.push(asked(&direct, address).await);
        }
        for body in &mut bodies {
            // The first word, and then a wait that the thread takes over.
            assert!(poll_fn(|context| body.poll_data(context)).await.is_some());
            assert!(poll!(poll_fn(|context| body.poll_data(context))).is_pending());
        }
        assert!(direct.streams().0.watch.get().is_some());
        drop(bodies);
        let all_gone = async {
            while connections.load(Ordering::Relaxed) > 0 {
                sleep(PAUSE).await;
            }
        };
        timeout(PATIENCE, all_gone).await.expect("they are closed");
    }

    #[tokio::test]
    async fn the_thread_ends_with_its_client() {
        let (direct, (address, _)) = (direct(), speaker(PAUSE).await);
        read_by(MANY, &direct, address).await;
        let there = direct.streams().watch().expect("a thread").clone();
        drop(direct);
        let ended = async { while there.spawn(async {}).await.is_ok() {} };
        timeout(PATIENCE, ended).await.expect("it ends");
    }
}
