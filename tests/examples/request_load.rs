//! Sends requests as fast as they are answered, or one waiting request on each of many connections: the load generator
//! of `cargo xtask bench engine`. It uses few cores, so that most are left to the server.
//!
//! ```text
//! echo '{"address":"127.0.0.1:8080","connections":256,"seconds":5,"warm_ms":500,"requests":["GET / HTTP/1.1\r\n…"]}' | request_load
//! ```
//!
//! One thread, one task per connection, and one request at a time on each: the `n`th connection repeats the `n`th of
//! the requests. Only the status and the length of a response are read.
//!
//! The task is the first line of stdin. The program reports its progress on stdout, one JSON object per line:
//! `{"at":"begin"}` when it begins to count, and `{"at":"end",…}` with the counts. With `"once": true` every connection
//! sends one request and stays open: `begin` is printed when all requests were sent, and `end` when all were answered.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::{Instant, sleep};

/// Buffer size for reads: larger than any response.
const READ: usize = 16 << 10;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut task = String::new();
    io::stdin().read_line(&mut task).expect("read stdin");
    let task: Value = serde_json::from_str(&task).expect("the first line is JSON");
    LocalSet::new().run_until(carry_out(&task)).await;
    // Outstanding requests end with the process.
    std::process::exit(0);
}

/// All connections, and their counters.
struct Crowd {
    address: String,
    requests: Vec<Vec<u8>>,
    counting: Cell<bool>,
    broken: Cell<u64>,
    statuses: RefCell<BTreeMap<u16, u64>>,
    /// The duration of each counted request, in microseconds.
    took: RefCell<Vec<u32>>,
}

async fn carry_out(task: &Value) {
    let requests = task["requests"].as_array().expect("`requests` is a list").iter();
    let crowd = Rc::new(Crowd {
        address: task["address"].as_str().expect("`address` is a string").to_owned(),
        requests: requests.map(|one| one.as_str().expect("requests are strings").as_bytes().to_vec()).collect(),
        counting: Cell::default(),
        broken: Cell::default(),
        statuses: RefCell::default(),
        took: RefCell::default(),
    });
    let connections = number(task, "connections");
    if task["once"] == true {
        once(&crowd, connections).await;
    } else {
        again(&crowd, connections, number(task, "warm_ms") as u64, number(task, "seconds") as u64).await;
    }
}

async fn again(crowd: &Rc<Crowd>, connections: usize, warm_ms: u64, seconds: u64) {
    for n in 0..connections {
        let crowd = Rc::clone(crowd);
        tokio::task::spawn_local(async move {
            while let Ok(mut connection) = Connection::open(&crowd.address).await {
                while let Ok(began) = connection.send(&crowd, n).await {
                    let Ok(status) = connection.answer().await else { break };
                    crowd.saw(status, began.elapsed());
                }
                crowd.broken.set(crowd.broken.get() + 1);
            }
        });
    }
    sleep(Duration::from_millis(warm_ms)).await;
    say(&json!({ "at": "begin" }));
    crowd.counting.set(true);
    let (began, cpu) = (Instant::now(), cpu());
    sleep(Duration::from_secs(seconds)).await;
    crowd.counting.set(false);
    say(&crowd.counts(began.elapsed(), self::cpu().saturating_sub(cpu)));
}

async fn once(crowd: &Rc<Crowd>, connections: usize) {
    crowd.counting.set(true);
    let (began, cpu) = (Instant::now(), cpu());
    let mut asked: Vec<JoinHandle<()>> = Vec::new();
    for n in 0..connections {
        let asking = async {
            let mut connection = Connection::open(&crowd.address).await?;
            connection.send(crowd, n).await.map(|began| (connection, began))
        };
        let here = Rc::clone(crowd);
        match asking.await {
            Ok((mut connection, began)) => asked.push(tokio::task::spawn_local(async move {
                match connection.answer().await {
                    Ok(status) => here.saw(status, began.elapsed()),
                    Err(_) => here.broken.set(here.broken.get() + 1),
                }
            })),
            Err(_) => here.broken.set(here.broken.get() + 1),
        }
    }
    say(&json!({ "at": "begin" }));
    for one in asked {
        one.await.expect("a connection ends");
    }
    say(&crowd.counts(began.elapsed(), self::cpu().saturating_sub(cpu)));
}

impl Crowd {
    fn saw(&self, status: u16, took: Duration) {
        if self.counting.get() {
            *self.statuses.borrow_mut().entry(status).or_default() += 1;
            self.took.borrow_mut().push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
        }
    }

    /// The counts so far, as a JSON object.
    fn counts(&self, took: Duration, cpu: Duration) -> Value {
        let mut each = self.took.borrow().clone();
        each.sort_unstable();
        let at = |share: f64| each.get(((share * each.len() as f64) as usize).min(each.len().saturating_sub(1)));
        let statuses = self.statuses.borrow();
        let statuses: BTreeMap<String, u64> = statuses.iter().map(|(status, n)| (status.to_string(), *n)).collect();
        json!({
            "at": "end",
            "seconds": took.as_secs_f64(),
            "answered": each.len(),
            "statuses": statuses,
            "broken": self.broken.get(),
            "p50": at(0.5),
            "p99": at(0.99),
            "slowest": each.last(),
            "own_cpu": cpu.as_secs_f64(),
        })
    }
}

struct Connection {
    socket: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> io::Result<Self> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        Ok(Self { socket, buffer: Vec::with_capacity(2 << 10) })
    }

    async fn send(&mut self, crowd: &Crowd, n: usize) -> io::Result<Instant> {
        let began = Instant::now();
        self.socket.write_all(&crowd.requests[n % crowd.requests.len()]).await?;
        Ok(began)
    }

    /// Reads a complete response, and returns its status.
    async fn answer(&mut self) -> io::Result<u16> {
        self.buffer.clear();
        loop {
            if self.buffer.len() > READ {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if self.socket.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some((status, length)) = answered(&self.buffer)
                && self.buffer.len() >= length
            {
                return Ok(status);
            }
        }
    }
}

/// The status of a response whose head is complete, and its total length.
fn answered(bytes: &[u8]) -> Option<(u16, usize)> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let status = std::str::from_utf8(bytes.get(9..12)?).ok()?.parse().ok()?;
    let mut lines = bytes[..head].split(|byte| *byte == b'\n');
    let length = lines.find_map(|line| {
        let (name, value) = line.split_at_checked(15)?;
        name.eq_ignore_ascii_case(b"content-length:").then(|| std::str::from_utf8(value).ok()?.trim().parse().ok())?
    });
    // Without a `Content-Length` there is no body: in these tests only 304.
    Some((status, head + length.unwrap_or(0)))
}

/// The CPU time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
    let fields = after.split(' ').skip(11).take(2);
    // Linux reports 100 ticks per second to user space.
    Duration::from_millis(fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10)
}

fn say(line: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

fn number(of: &Value, name: &str) -> usize {
    let number = of[name].as_u64().unwrap_or_else(|| panic!("`{name}` is a number"));
    usize::try_from(number).expect("numbers are small")
}
