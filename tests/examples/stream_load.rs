//! Readers of many concurrent streams, cheap enough that a server's use of its own core can be measured:
//!
//! ```text
//! echo '{"address":"127.0.0.1:8080","path":"/chat","head":"","bodies":["…"],"readers":1000,"work":{"open":{…}}}' | stream_load
//! ```
//!
//! One thread, one task per reader, and one read buffer for all sockets. Streams are not parsed: only the occurrences
//! of `"delta":"` are counted, with the number after it.
//!
//! The task is the first line of stdin. The program reports its progress on stdout, one JSON object per line:
//! `{"at":"begin"}` and `{"at":"end",…}` around the measurement, the latter with the counts. The streams stay open
//! after that, until stdin ends.
//!
//! Three kinds of work:
//!
//! - `open`: every reader holds one stream; they are opened one after another over `ramp_ms` milliseconds. The deltas
//!   of `seconds` seconds are counted, with the delay of each. A delta that begins with `t` contains the time it was
//!   due: milliseconds, modulo 100,000. An idle reader looks again a millisecond later: the kernel wakes readers in the
//!   writer's CPU time, so readers that are woken by every write would add to the server's cost, which no reader across
//!   a network does.
//! - `again`: every reader asks again as soon as a reply has ended; the deltas and replies are counted.
//! - `first`: every reader asks `times` times; the latencies of each request are measured, in microseconds. A delta
//!   that begins with `r…s…` contains the times at which the model got the request and began to reply.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, Write as _};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep, sleep_until};

/// Size of the read buffer, in bytes.
const READ: usize = 256 << 10;
const MARK: &[u8] = b"\"delta\":\"";
/// Times in the deltas are modulo this.
const ROUND: u64 = 100_000;
/// Timeout for all streams to open, beyond the ramp.
const PATIENCE: Duration = Duration::from_secs(60);
/// The limits in milliseconds; deltas later than each are counted.
const LATE: [u64; 3] = [25, 50, 100];

/// How long the thread of the readers sleeps when there is nothing to read, with work of the kind `open`.
const LOOKS_AWAY: Duration = Duration::from_millis(1);
static LOOKING_AWAY: AtomicBool = AtomicBool::new(false);

fn main() {
    let look_away = || {
        if LOOKING_AWAY.load(Ordering::Relaxed) {
            thread::sleep(LOOKS_AWAY);
        }
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().on_thread_park(look_away).build();
    runtime.expect("make a runtime").block_on(read());
}

async fn read() {
    let mut task = String::new();
    io::stdin().read_line(&mut task).expect("read stdin");
    let task: Value = serde_json::from_str(&task).expect("the first line is JSON");
    let crowd = Rc::new(Crowd::of(&task));
    let work = task["work"].clone();
    let kind = work.as_object().and_then(|work| work.keys().next()).expect("there is some work").clone();
    let work = work[&kind].clone();
    LocalSet::new()
        .run_until(async move {
            match kind.as_str() {
                "open" => open(&crowd, &work).await,
                "again" => again(&crowd, &work).await,
                "first" => first(&crowd, &work).await,
                other => panic!("there is no work `{other}`"),
            }
            let _ = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin().lock(), &mut io::sink())).await;
        })
        .await;
    // The streams end with the process.
    std::process::exit(0);
}

/// All readers, and their counters.
struct Crowd {
    address: String,
    /// The head of every request, without the `Content-Length`.
    head: String,
    bodies: Vec<String>,
    readers: usize,
    counting: Cell<bool>,
    /// Readers whose stream has received text.
    speaking: Cell<u64>,
    deltas: Cell<u64>,
    replies: Cell<u64>,
    bytes: Cell<u64>,
    reads: Cell<u64>,
    refused: Cell<u64>,
    broken: Cell<u64>,
    late: Cell<[u64; LATE.len()]>,
    latest: Cell<u64>,
    by_reader: RefCell<Vec<u64>>,
    ways: RefCell<Vec<[u64; 3]>>,
}

impl Crowd {
    fn of(task: &Value) -> Self {
        let text = |name: &str| task[name].as_str().unwrap_or_else(|| panic!("`{name}` is a string")).to_owned();
        let (address, path, head) = (text("address"), text("path"), text("head"));
        let readers = number(task, "readers");
        let bodies = task["bodies"].as_array().expect("`bodies` is a list").iter();
        Self {
            bodies: bodies.map(|body| body.as_str().expect("bodies are strings").to_owned()).collect(),
            head: format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{head}"),
            address,
            readers,
            counting: Cell::default(),
            speaking: Cell::default(),
            deltas: Cell::default(),
            replies: Cell::default(),
            bytes: Cell::default(),
            reads: Cell::default(),
            refused: Cell::default(),
            broken: Cell::default(),
            late: Cell::default(),
            latest: Cell::default(),
            by_reader: RefCell::new(vec![0; readers]),
            ways: RefCell::default(),
        }
    }

    /// The `n`th request. `{n}` in a body is replaced by the number, so that every chat has a unique id.
    fn request(&self, n: usize) -> Vec<u8> {
        let body = self.bodies[n % self.bodies.len()].replace("{n}", &n.to_string());
        format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len()).into_bytes()
    }

    async fn connected(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn saw(&self, reader: usize, seen: &Seen) {
        if !self.counting.get() {
            return;
        }
        add(&self.deltas, seen.deltas);
        add(&self.bytes, seen.bytes);
        add(&self.reads, 1);
        self.by_reader.borrow_mut()[reader] += seen.deltas;
        let mut late = self.late.get();
        for (count, more) in late.iter_mut().zip(seen.late) {
            *count += more;
        }
        self.late.set(late);
        self.latest.set(self.latest.get().max(seen.latest));
    }

    /// The counts so far, as a JSON object.
    fn counts(&self, took: Duration) -> Value {
        let mut by_reader = self.by_reader.borrow().clone();
        by_reader.sort_unstable();
        json!({
            "at": "end",
            "seconds": took.as_secs_f64(),
            "speaking": self.speaking.get(),
            "deltas": self.deltas.get(),
            "replies": self.replies.get(),
            "bytes": self.bytes.get(),
            "reads": self.reads.get(),
            "refused": self.refused.get(),
            "broken": self.broken.get(),
            "late": self.late.get(),
            "latest": self.latest.get(),
            "least": by_reader.first(),
            "median": by_reader.get(by_reader.len() / 2),
            "ways": *self.ways.borrow(),
        })
    }
}

async fn open(crowd: &Rc<Crowd>, work: &Value) {
    LOOKING_AWAY.store(true, Ordering::Relaxed);
    let (seconds, ramp) = (number(work, "seconds") as u64, number(work, "ramp_ms") as u64);
    let began = Instant::now();
    for reader in 0..crowd.readers {
        let due = Duration::from_micros(ramp * 1_000 * reader as u64 / crowd.readers as u64);
        sleep_until(began + due).await;
        let crowd = Rc::clone(crowd);
        tokio::task::spawn_local(async move {
            if one_stream(&crowd, reader).await.is_err() {
                add(&crowd.broken, 1);
            }
        });
    }
    let until = Instant::now() + PATIENCE;
    while crowd.speaking.get() < crowd.readers as u64 && Instant::now() < until {
        sleep(Duration::from_millis(20)).await;
    }
    sleep(Duration::from_millis(number(work, "warm_ms") as u64)).await;
    counted(crowd, sleep(Duration::from_secs(seconds))).await;
}

async fn again(crowd: &Rc<Crowd>, work: &Value) {
    for reader in 0..crowd.readers {
        let crowd = Rc::clone(crowd);
        tokio::task::spawn_local(async move {
            while let Ok(mut socket) = crowd.connected().await {
                let asked = async {
                    loop {
                        ask(&crowd, &mut socket, reader).await?;
                    }
                };
                let broken: io::Result<()> = asked.await;
                add(&crowd.broken, u64::from(broken.is_err()));
            }
        });
    }
    sleep(Duration::from_millis(number(work, "warm_ms") as u64)).await;
    counted(crowd, sleep(Duration::from_secs(number(work, "seconds") as u64))).await;
}

async fn first(crowd: &Rc<Crowd>, work: &Value) {
    let (times, warm) = (number(work, "times"), number(work, "warm"));
    let round = |times: usize, from: usize| {
        let crowd = Rc::clone(crowd);
        async move {
            let readers = (0..crowd.readers).map(|reader| {
                let crowd = Rc::clone(&crowd);
                tokio::task::spawn_local(async move {
                    let mut socket = crowd.connected().await.expect("connect");
                    for time in 0..times {
                        let n = from + time * crowd.readers + reader;
                        match first_words(&crowd, &mut socket, n).await {
                            Ok(Some(way)) if crowd.counting.get() => crowd.ways.borrow_mut().push(way),
                            Ok(Some(_)) => {}
                            Ok(None) => add(&crowd.refused, 1),
                            Err(_) => {
                                add(&crowd.broken, 1);
                                socket = crowd.connected().await.expect("connect");
                            }
                        }
                    }
                })
            });
            for reader in readers.collect::<Vec<_>>() {
                reader.await.expect("a reader ends");
            }
        }
    };
    round(warm, 0).await;
    counted(crowd, round(times, warm * crowd.readers)).await;
}

async fn counted(crowd: &Crowd, work: impl Future<Output = ()>) {
    say(&json!({ "at": "begin" }));
    crowd.counting.set(true);
    let began = Instant::now();
    work.await;
    crowd.counting.set(false);
    say(&crowd.counts(began.elapsed()));
}

fn say(line: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// Asks once and reads until the reply ends.
async fn one_stream(crowd: &Crowd, reader: usize) -> io::Result<()> {
    let mut socket = crowd.connected().await?;
    ask(crowd, &mut socket, reader).await
}

/// Asks, and reads the reply to its end.
async fn ask(crowd: &Crowd, socket: &mut TcpStream, reader: usize) -> io::Result<()> {
    socket.write_all(&crowd.request(reader)).await?;
    let mut reply = Reading::default();
    let mut spoke = false;
    loop {
        let seen = reply.read(socket, &mut |_| ()).await?;
        crowd.saw(reader, &seen);
        if seen.deltas > 0 && !std::mem::replace(&mut spoke, true) {
            add(&crowd.speaking, 1);
        }
        if seen.refused {
            add(&crowd.refused, 1);
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        if seen.ended {
            add(&crowd.replies, u64::from(crowd.counting.get()));
            return Ok(());
        }
    }
}

/// The latencies of a request: in total, until the model got it, and from the model's first word.
async fn first_words(crowd: &Crowd, socket: &mut TcpStream, n: usize) -> io::Result<Option<[u64; 3]>> {
    let request = crowd.request(n);
    let asked = now().as_micros() as u64;
    socket.write_all(&request).await?;
    let mut way = None;
    let mut reply = Reading::default();
    loop {
        let seen = reply
            .read(socket, &mut |words| {
                let heard = now().as_micros() as u64;
                let stamps = || {
                    let (received, rest) = digits(words.strip_prefix(b"r")?);
                    let (spoke, _) = digits(rest.strip_prefix(b"s")?);
                    Some((received, spoke))
                };
                if let (None, Some((received, spoke))) = (way, stamps()) {
                    way = Some([heard - asked, received - asked, heard - spoke]);
                }
            })
            .await?;
        if seen.refused {
            return Ok(None);
        }
        if seen.ended {
            return Ok(way);
        }
    }
}

/// The result of one read.
#[derive(Default)]
struct Seen {
    deltas: u64,
    bytes: u64,
    late: [u64; LATE.len()],
    latest: u64,
    refused: bool,
    ended: bool,
}

/// The state of a reply that is being read.
#[derive(Default)]
struct Reading {
    begun: bool,
    /// An incomplete line at the end of the last read.
    rest: Vec<u8>,
    /// The last bytes, to recognise the end of the reply.
    last: [u8; 7],
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

impl Reading {
    async fn read(&mut self, socket: &mut TcpStream, words: &mut dyn FnMut(&[u8])) -> io::Result<Seen> {
        poll_fn(|context| {
            BUFFER.with_borrow_mut(|buffer| {
                let mut read = ReadBuf::new(buffer);
                match Pin::new(&mut *socket).poll_read(context, &mut read) {
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                    Poll::Ready(Ok(())) if read.filled().is_empty() => {
                        Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()))
                    }
                    Poll::Ready(Ok(())) => Poll::Ready(Ok(self.take(read.filled(), words))),
                }
            })
        })
        .await
    }

    fn take(&mut self, bytes: &[u8], words: &mut dyn FnMut(&[u8])) -> Seen {
        let mut seen = Seen { bytes: bytes.len() as u64, ..Seen::default() };
        if !std::mem::replace(&mut self.begun, true) {
            seen.refused = !bytes.starts_with(b"HTTP/1.1 200 ");
        }
        for byte in &bytes[bytes.len().saturating_sub(7)..] {
            self.last.rotate_left(1);
            self.last[6] = *byte;
        }
        seen.ended = self.last == *b"\r\n0\r\n\r\n";
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut joined = std::mem::take(&mut self.rest);
        if joined.is_empty() {
            count(&bytes[..whole], &mut seen, words);
        } else {
            joined.extend_from_slice(&bytes[..whole]);
            if whole > 0 {
                count(&joined, &mut seen, words);
                joined.clear();
            }
        }
        joined.extend_from_slice(&bytes[whole..]);
        self.rest = joined;
        seen
    }
}

fn count(bytes: &[u8], seen: &mut Seen, words: &mut dyn FnMut(&[u8])) {
    let time = now().as_millis() as u64 % ROUND;
    let mut rest = bytes;
    while let Some(at) = find(rest, MARK) {
        rest = &rest[at + MARK.len()..];
        seen.deltas += 1;
        words(rest);
        if let Some(due) = rest.strip_prefix(b"t") {
            let late = (time + ROUND - digits(due).0) % ROUND;
            // The clocks of two processes may differ slightly: a delta that seems early is not late.
            let late = if late > ROUND / 2 { 0 } else { late };
            seen.latest = seen.latest.max(late);
            for (count, limit) in seen.late.iter_mut().zip(LATE) {
                *count += u64::from(late > limit);
            }
        }
    }
}

/// The position of `what` in `bytes`.
fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn digits(bytes: &[u8]) -> (u64, &[u8]) {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    let number = bytes[..end].iter().fold(0, |number: u64, byte| number.wrapping_mul(10) + u64::from(byte - b'0'));
    (number, &bytes[end..])
}

fn number(of: &Value, name: &str) -> usize {
    let number = of[name].as_u64().unwrap_or_else(|| panic!("`{name}` is a number"));
    usize::try_from(number).expect("numbers are small")
}

fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get() + more);
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970")
}
