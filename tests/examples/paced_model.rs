//! A model server that streams at a fixed pace, for up to ten thousand connections:
//!
//! ```text
//! paced_model DELTAS EVERY_MS
//! ```
//!
//! It listens on a free port of the loopback interface, prints the address, and answers every `POST` with a stream of
//! chat completions: `DELTAS` deltas, each in its own chunk, one every `EVERY_MS` milliseconds; with 0 as fast as
//! possible. `GET` returns how many deltas it has sent, and how many of them late.
//!
//! A delta of a paced reply is `t` and the time it was sent, in milliseconds modulo 100,000. A reply without a pace
//! begins with `r` and the time the request arrived, then `s` and the time it was answered, in microseconds. If the
//! server is behind schedule, it sends all due deltas at once.

use std::cell::{Cell, RefCell};
use std::io::{self, Write as _};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep_until};

/// A delta that is sent later than this counts as late.
const LATE: Duration = Duration::from_millis(20);
/// Times in the deltas are modulo this.
const ROUND: u128 = 100_000;
/// Maximum size of a request, in bytes.
const REQUEST: usize = 4 << 20;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const BEFORE: &str = r#"data: {"id":"chatcmpl-4f1c9d2ab37e","object":"chat.completion.chunk","created":1763740800,"model":"paced-1","choices":[{"index":0,"delta":{"content":""#;
const AFTER: &str = "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
const LAST: &str = "data: {\"id\":\"chatcmpl-4f1c9d2ab37e\",\"object\":\"chat.completion.chunk\",\"created\":1763740800,\"model\":\"paced-1\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"chatcmpl-4f1c9d2ab37e\",\"object\":\"chat.completion.chunk\",\"created\":1763740800,\"model\":\"paced-1\",\"choices\":[],\"usage\":{\"prompt_tokens\":900,\"completion_tokens\":200,\"total_tokens\":1100}}\n\ndata: [DONE]\n\n";

#[derive(Clone, Copy)]
struct Pace {
    deltas: u32,
    every: Duration,
}

#[derive(Default)]
struct Counts {
    sent: Cell<u64>,
    late: Cell<u64>,
    delta: RefCell<Delta>,
}

/// The last encoded delta, as a cache. Consecutive deltas differ only in their time, and are identical within a
/// millisecond.
#[derive(Default)]
struct Delta {
    chunk: Vec<u8>,
    stamp: Option<u128>,
}

impl Delta {
    fn say(&mut self, stamp: u128, times: u32, out: &mut Vec<u8>) {
        if self.stamp != Some(stamp) {
            self.chunk.clear();
            chunk(&mut self.chunk, format_args!("{BEFORE}t{stamp:05} {AFTER}"));
            self.stamp = Some(stamp);
        }
        (0..times).for_each(|_| out.extend_from_slice(&self.chunk));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let argument = |n: usize| -> u32 {
        let argument = std::env::args().nth(n).expect("usage: paced_model DELTAS EVERY_MS");
        argument.parse().expect("the arguments are numbers")
    };
    let pace = Pace { deltas: argument(1), every: Duration::from_millis(argument(2).into()) };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    io::stdout().flush()?;
    let counts = Rc::new(Counts::default());
    LocalSet::new()
        .run_until(async {
            loop {
                let (socket, _) = listener.accept().await?;
                let counts = Rc::clone(&counts);
                // An error means that the client closed the connection, and is ignored.
                spawn_local(async move { serve(socket, pace, &counts).await });
            }
        })
        .await
}

async fn serve(mut socket: TcpStream, pace: Pace, counts: &Counts) -> io::Result<()> {
    socket.set_nodelay(true)?;
    loop {
        let mut request = Vec::new();
        let Some(head) = read_request(&mut socket, &mut request).await? else { return Ok(()) };
        let received = now().as_micros();
        let asks = head.starts_with("GET ");
        drop((request, head));
        if asks {
            let body = format!("{{\"sent\":{},\"late\":{}}}", counts.sent.get(), counts.late.get());
            let length = body.len();
            let answer =
                format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
            socket.write_all(answer.as_bytes()).await?;
        } else if pace.every.is_zero() {
            answer_at_once(&mut socket, pace.deltas, received).await?;
        } else {
            answer(&mut socket, pace, counts).await?;
        }
    }
}

/// Reads the next request with its body, and returns its head; `None` if there is none.
async fn read_request(socket: &mut TcpStream, request: &mut Vec<u8>) -> io::Result<Option<String>> {
    let (mut whole, mut head) = (None, String::new());
    while whole.is_none_or(|whole| request.len() < whole) {
        if socket.read_buf(request).await? == 0 {
            return Ok(None);
        }
        if whole.is_none()
            && let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n")
        {
            head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase().replacen("get ", "GET ", 1);
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            whole = Some(end + 4 + length.map_or(0, |length| length.trim().parse().unwrap_or(REQUEST)));
        }
    }
    Ok(Some(head))
}

async fn answer(socket: &mut TcpStream, Pace { deltas, every }: Pace, counts: &Counts) -> io::Result<()> {
    let begun = Instant::now();
    socket.write_all(HEAD.as_bytes()).await?;
    let mut sent = 0;
    let mut out = Vec::new();
    while sent < deltas {
        let due = begun + every * sent;
        sleep_until(due).await;
        let behind = due.elapsed();
        // At least the delta that was waited for.
        let now_due = (behind.as_micros() / every.as_micros()) as u32 + 1;
        let now_due = now_due.min(deltas - sent);
        out.clear();
        counts.delta.borrow_mut().say(now().as_millis() % ROUND, now_due, &mut out);
        sent += now_due;
        counts.sent.set(counts.sent.get() + u64::from(now_due));
        counts.late.set(counts.late.get() + u64::from(behind > LATE));
        socket.write_all(&out).await?;
    }
    end(&mut out);
    socket.write_all(&out).await
}

async fn answer_at_once(socket: &mut TcpStream, deltas: u32, received: u128) -> io::Result<()> {
    let mut out = HEAD.as_bytes().to_vec();
    let spoke = now().as_micros();
    chunk(&mut out, format_args!("{BEFORE}r{received}s{spoke} {AFTER}"));
    for n in 1..deltas {
        chunk(&mut out, format_args!("{BEFORE}w{n:05} {AFTER}"));
    }
    end(&mut out);
    socket.write_all(&out).await
}

fn end(out: &mut Vec<u8>) {
    chunk(out, format_args!("{LAST}"));
    out.extend_from_slice(b"0\r\n\r\n");
}

fn chunk(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // The chunk length precedes the data but is known after it; four hex digits are enough.
    let at = out.len();
    out.extend_from_slice(b"0000\r\n");
    let _ = out.write_fmt(text);
    let length = format!("{:04x}", out.len() - at - 6);
    out[at..at + 4].copy_from_slice(length.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970")
}
