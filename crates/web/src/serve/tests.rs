//! Tests over real sockets on loopback, with hand-written bytes that well-behaved clients never send.

use bytes::Bytes;
use docent_types::{RandomIds, Refusal, RefusalKind};
use futures::stream;
use http::StatusCode;
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo};
use proptest::prelude::*;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;
use crate::{ErrorShape, HttpError, Methods, Request, Response, respond};

const LIMIT: usize = 1000;
const LARGE: usize = 30_000_000;

/// A server on a port of its own.
struct Site {
    address: SocketAddr,
    shutdown: Option<oneshot::Sender<()>>,
    task: JoinHandle<Drained>,
    /// One message for each stream or wait that began, and for each that was dropped.
    seen: mpsc::UnboundedReceiver<&'static str>,
}

impl Site {
    async fn start(limits: ServerLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, seen) = mpsc::unbounded_channel();
        let handler = move |request: Request| handle(request, sender.clone());
        let (shutdown, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(serve(listener, handler, limits, Arc::new(RandomIds), async {
            stopped.await.ok();
        }));
        Self { address, shutdown: Some(shutdown), task, seen }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends `bytes` and reads until the server closes.
    async fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut socket = self.connect().await;
        socket.write_all(bytes.as_ref()).await.unwrap();
        rest(&mut socket).await
    }

    async fn is_well(&self) {
        let answer = self.exchange("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhello"), "{answer}");
    }

    async fn sees(&mut self, word: &str) {
        assert_eq!(self.seen.recv().await, Some(word));
    }

    async fn stop(&mut self) -> Drained {
        self.shutdown.take().unwrap().send(()).unwrap();
        (&mut self.task).await.unwrap()
    }
}

async fn handle(mut request: Request, seen: mpsc::UnboundedSender<&'static str>) -> Response {
    let id = request.id().clone();
    let answered = match request.segments()[..] {
        ["hello"] => {
            Methods::GET.check(request.method()).map(|_| respond::bytes_of(StatusCode::OK, "text/plain", "hello"))
        }
        ["json"] => read(&mut request).await,
        // Answered before the body was read, as a request without a key.
        ["refused"] => Err(Refusal::new(RefusalKind::Unauthenticated, "no key").into()),
        ["stream"] => {
            let witness = Witness::new(seen);
            let first = stream::iter([Bytes::from("first")]);
            let silence = stream::once(async move {
                std::future::pending::<()>().await;
                drop(witness);
                Bytes::new()
            });
            Ok(respond::stream("text/event-stream", futures::StreamExt::chain(first, silence)))
        }
        ["flood"] => {
            let witness = Witness::new(seen);
            let block = Bytes::from(vec![b'x'; 64 * 1024]);
            let flood = stream::repeat_with(move || {
                let _ = &witness;
                block.clone()
            });
            Ok(respond::stream("text/plain", flood))
        }
        ["count"] => Ok(respond::stream("text/plain", stream::iter(["a", "b", "", "c"].map(Bytes::from)))),
        ["drawn"] => {
            let witness = Witness::new(seen);
            let block = Bytes::from(vec![b'x'; 64 * 1024]);
            let drawn = stream::repeat_with(move || {
                witness.0.send("drawn").ok();
                block.clone()
            });
            Ok(respond::stream("text/plain", drawn))
        }
        ["slow"] => {
            let last = stream::once(async {
                tokio::time::sleep(Duration::from_secs(100)).await;
                Bytes::from("last")
            });
            Ok(respond::stream("text/plain", futures::StreamExt::chain(stream::iter([Bytes::from("first")]), last)))
        }
        ["until-told-streaming"] => {
            let draining = request.draining().clone();
            let last = stream::once(async move {
                draining.begun().await;
                Bytes::from("told")
            });
            Ok(respond::stream("text/plain", futures::StreamExt::chain(stream::iter([Bytes::from("first")]), last)))
        }
        ["large"] => Ok(respond::bytes_of(StatusCode::OK, "text/plain", vec![b'x'; LARGE])),
        ["until-told"] => {
            let _witness = Witness::new(seen);
            request.draining().begun().await;
            Ok(respond::bytes_of(StatusCode::OK, "text/plain", "told"))
        }
        ["wait"] => {
            let _witness = Witness::new(seen);
            std::future::pending().await
        }
        _ => Err(HttpError::no_such_path(request.path())),
    };
    answered.unwrap_or_else(|error| error.response(&id, ErrorShape::Error))
}

async fn read(request: &mut Request) -> Result<Response, HttpError> {
    let value: Value = request.json(LIMIT).await?.parse()?;
    Ok(respond::json(StatusCode::OK, &value))
}

struct Witness(mpsc::UnboundedSender<&'static str>);

impl Witness {
    fn new(seen: mpsc::UnboundedSender<&'static str>) -> Self {
        seen.send("begun").ok();
        Self(seen)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.send("dropped").ok();
    }
}

async fn rest(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset is noticed by the assertions on the answer.
    socket.read_to_end(&mut answer).await.ok();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut answer = String::new();
    let mut chunk = [0; 1024];
    while !answer.contains(end) {
        let count = socket.read(&mut chunk).await.unwrap();
        assert!(count > 0, "closed before `{end}`: {answer}");
        answer.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    answer
}

#[tokio::test]
async fn two_requests_in_one_write_get_two_answers_in_order() {
    let site = Site::start(ServerLimits::default()).await;
    let answer = site
        .exchange(concat!(
            "GET /hello HTTP/1.1\r\nHost: a\r\nX-Request-Id: one\r\n\r\n",
            "GET /nowhere HTTP/1.1\r\nHost: a\r\nX-Request-Id: two\r\nConnection: close\r\n\r\n"
        ))
        .await;
    let (first, second) = answer.split_once("hello").unwrap();
    assert!(first.starts_with("HTTP/1.1 200") && first.contains("x-request-id: one\r\n"), "{answer}");
    assert!(second.starts_with("HTTP/1.1 404") && second.contains("x-request-id: two\r\n"), "{answer}");
    assert!(second.contains(r#"{"error":"There is no endpoint at `/nowhere`."#), "{answer}");
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let site = Site::start(ServerLimits::default()).await;
    let answer = site.exchange("HEAD /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("content-length: 5\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn malformed_requests_are_refused_alone() {
    let site = Site::start(ServerLimits::default()).await;
    for bytes in [
        "\r\n\r\n\r\nrubbish\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /\u{1}\u{2} HTTP/1.1\r\n\r\n",
        "POST /json HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /json HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST /json HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /hello HTTP/1.1\r\nbad header\r\n\r\n",
    ] {
        let answer = site.exchange(bytes).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{bytes:?}: {answer:?}");
        assert_says_why(&answer);
    }
    let endless = format!("GET /hello HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(200_000));
    let answer = site.exchange(endless).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_says_why(&answer);
    site.is_well().await;
}

fn assert_says_why(answer: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("\r\nx-request-id: ") && head.contains("\r\nconnection: close"), "{answer}");
    assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{answer}");
    assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{answer}");
    assert!(serde_json::from_str::<Value>(body).unwrap()["error"].is_string(), "{answer}");
}

#[tokio::test]
async fn a_refused_head_behind_good_requests_says_why() {
    let site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    for _ in 0..2 {
        socket.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        read_until(&mut socket, "hello").await;
    }
    socket.write_all(b"GET /hello HTTP/1.1\r\nbad header\r\n\r\n").await.unwrap();
    assert_says_why(&rest(&mut socket).await);
}

#[tokio::test]
async fn an_answer_before_the_body_leaves_a_connection_that_works_or_says_that_it_closes() {
    let site = Site::start(ServerLimits::default()).await;
    let small = "x".repeat(60_000);
    for body in ["{}", &small] {
        let mut socket = site.connect().await;
        for head in [format!("Content-Length: {}\r\n\r\n", body.len()), "Transfer-Encoding: chunked\r\n\r\n".to_owned()]
        {
            let bytes = if head.starts_with('C') {
                body.to_owned()
            } else {
                format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
            };
            socket.write_all(format!("POST /refused HTTP/1.1\r\nHost: a\r\n{head}").as_bytes()).await.unwrap();
            // The body comes in two pieces, the second after the server had time to see the first.
            let (first, second) = bytes.split_at(1);
            socket.write_all(first.as_bytes()).await.unwrap();
            tokio::task::yield_now().await;
            socket.write_all(second.as_bytes()).await.unwrap();
            let answer = read_until(&mut socket, "}").await;
            assert!(answer.starts_with("HTTP/1.1 401") && !answer.contains("connection: close"), "{answer}");
            socket.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
            read_until(&mut socket, "hello").await;
        }
    }
    let large = "x".repeat(100_000);
    for head in ["Content-Length: 100000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n186a0\r\n"] {
        let answer = site.exchange(format!("POST /refused HTTP/1.1\r\nHost: a\r\n{head}{large}")).await;
        assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("connection: close\r\n"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_too_late_for_a_refusal_closes_the_connection_with_a_word() {
    let site = Site::start(ServerLimits::default()).await;
    for head in ["Content-Length: 10\r\n\r\n{", "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n"] {
        let answer = site.exchange(format!("POST /refused HTTP/1.1\r\nHost: a\r\n{head}")).await;
        assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("connection: close\r\n"), "{answer}");
    }
}

#[tokio::test]
async fn over_http_2_answers_before_the_body_leave_the_connection_as_it_was() {
    let site = Site::start(ServerLimits::default()).await;
    let io = TokioIo::new(site.connect().await);
    let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    for size in [2, 1_000_000, 60_000, 1_000_000, 1_000_000, 2] {
        let body = http_body_util::Full::new(Bytes::from(vec![b'x'; size]));
        let answer = sender.send_request(http::Request::post("http://a/refused").body(body).unwrap()).await.unwrap();
        assert_eq!((answer.status(), answer.headers().get("connection")), (StatusCode::UNAUTHORIZED, None));
        assert!(answer.collect().await.unwrap().to_bytes().ends_with(b"}"), "{size}");
    }
}

#[test]
fn arbitrary_bytes_hurt_nobody() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let site = runtime.block_on(Site::start(ServerLimits::default()));
    let garbled =
        ("(GET|POST|PRI \\*|OPTIONS)? ?(/json|/hello|/%[0-9a-z]{2}|\\PC{0,20}) ?(HTTP/[12].[01])?", any::<Vec<u8>>());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(64));
    runner
        .run(&garbled, |(line, bytes)| {
            runtime.block_on(async {
                let mut socket = site.connect().await;
                socket.write_all(line.as_bytes()).await.ok();
                socket.write_all(b"\r\nContent-Length: 20\r\n").await.ok();
                socket.write_all(&bytes).await.ok();
                socket.shutdown().await.ok();
                let answer = rest(&mut socket).await;
                assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
                site.is_well().await;
            });
            Ok(())
        })
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_closes_the_connection() {
    let site = Site::start(ServerLimits::default()).await;
    for begun in ["", "P", "PRI * HTTP/2.0\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nA:"] {
        let start = Instant::now();
        site.exchange(begun).await;
        let waited = start.elapsed().as_secs();
        assert!((30..=31).contains(&waited), "{begun:?}: {waited} s");
    }
}

#[tokio::test]
async fn an_answer_that_would_go_on_hears_that_the_server_stops() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /until-told HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    site.sees("begun").await;
    assert_eq!(site.stop().await, Drained { cut: 0 });
    assert!(rest(&mut socket).await.ends_with("told"));
}

#[tokio::test]
async fn a_request_that_was_on_its_way_when_the_server_stopped_is_answered() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut early = site.connect().await;
    // The runtime has one thread, so the server has not accepted this one when it is told to stop.
    let late = std::net::TcpStream::connect(site.address).unwrap();
    late.set_nonblocking(true).unwrap();
    let mut late = TcpStream::from_std(late).unwrap();
    site.shutdown.take().unwrap().send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(TcpStream::connect(site.address).await.is_err(), "nobody else gets in");
    for socket in [&mut early, &mut late] {
        socket.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        assert!(rest(socket).await.ends_with("hello"));
    }
    assert_eq!((&mut site.task).await.unwrap(), Drained { cut: 0 });
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_and_a_running_one_is_not() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut idle = site.connect().await;
    idle.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut idle, "hello").await;
    let mut running = site.connect().await;
    running.write_all(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut running, "first").await;
    site.sees("begun").await;
    assert_eq!(rest(&mut idle).await, "");
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(site.seen.is_empty(), "the stream still runs");
}

#[tokio::test(start_paused = true)]
async fn a_connection_behind_a_long_stream_has_all_its_time_for_the_next_request() {
    let site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut socket, "0\r\n\r\n").await;
    let start = Instant::now();
    assert_eq!(rest(&mut socket).await, "");
    let waited = start.elapsed().as_secs();
    assert!((30..=46).contains(&waited), "{waited} s");
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_even_while_it_is_sent() {
    let site = Site::start(ServerLimits::default()).await;
    let megabytes = "x".repeat(5_000_000);
    let announced = format!("POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n{megabytes}");
    let chunked = format!(
        "POST /json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4c4b40\r\n{megabytes}\r\n0\r\n\r\n"
    );
    for bytes in [announced, chunked] {
        let answer = site.exchange(bytes).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer:?}");
        assert!(answer.contains("larger than 1000 bytes"), "{answer:?}");
    }
    site.is_well().await;
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_no_before_it_sends() {
    let site = Site::start(ServerLimits::default()).await;
    let head = "POST /json HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ";
    let mut socket = site.connect().await;
    socket.write_all(format!("{head}2\r\n\r\n").as_bytes()).await.unwrap();
    read_until(&mut socket, "100 Continue\r\n\r\n").await;
    socket.write_all(b"{}").await.unwrap();
    assert!(read_until(&mut socket, "{}").await.starts_with("HTTP/1.1 200"));
    let answer = site.exchange(format!("{head}9999\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn a_client_gone_in_the_middle_of_its_body_is_nobodys_trouble() {
    let site = Site::start(ServerLimits::default()).await;
    for head in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        let mut socket = site.connect().await;
        socket.write_all(format!("POST /json HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n5\r\n{{").as_bytes()).await.unwrap();
        drop(socket);
        site.is_well().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_a_408() {
    let site = Site::start(ServerLimits::default()).await;
    let answer = site.exchange("POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{").await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("within 60 seconds"), "{answer}");
}

#[tokio::test]
async fn hanging_up_drops_a_silent_stream() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let head = read_until(&mut socket, "first").await;
    assert!(head.contains("x-accel-buffering: no\r\n") && head.contains("cache-control: no-cache\r\n"), "{head}");
    site.sees("begun").await;
    drop(socket);
    timeout(Duration::from_secs(1), site.sees("dropped")).await.expect("dropped within a second");
}

#[tokio::test]
async fn hanging_up_drops_work_that_has_no_answer_yet() {
    let mut site = Site::start(ServerLimits::default()).await;
    for request in
        ["GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"]
    {
        let mut socket = site.connect().await;
        socket.write_all(request.as_bytes()).await.unwrap();
        site.sees("begun").await;
        drop(socket);
        timeout(Duration::from_secs(1), site.sees("dropped")).await.expect("dropped within a second");
    }
}

#[tokio::test]
async fn over_http_2_one_stream_can_be_given_up_and_the_next_begun() {
    let mut site = Site::start(ServerLimits::default()).await;
    let io = TokioIo::new(site.connect().await);
    let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let ask =
        |path: &str| http::Request::get(format!("http://a{path}")).body(http_body_util::Empty::<Bytes>::new()).unwrap();
    let mut answer = sender.send_request(ask("/stream")).await.unwrap();
    assert_eq!(answer.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
    site.sees("begun").await;
    drop(answer);
    timeout(Duration::from_secs(1), site.sees("dropped")).await.expect("dropped within a second");
    let answer = sender.send_request(ask("/hello")).await.unwrap();
    assert_eq!(answer.collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_is_let_go() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /flood HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    site.sees("begun").await;
    let start = Instant::now();
    site.sees("dropped").await;
    assert!((60..=61).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    drop(socket);
}

#[tokio::test]
async fn a_connection_goes_on_behind_a_stream_with_what_was_sent_meanwhile() {
    let site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    let count = "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
    socket.write_all(format!("{count}{count}GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).await.unwrap();
    let first = read_until(&mut socket, "hello").await;
    let counted = "\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n";
    assert_eq!(first.matches(counted).count(), 2, "{first}");
    assert_eq!(first.matches("HTTP/1.1 200 OK\r\n").count(), 3, "{first}");
    let again =
        format!("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n{}", count.replace("a\r\nC", "a\r\nConnection: close\r\nC"));
    socket.write_all(again.as_bytes()).await.unwrap();
    let last = rest(&mut socket).await;
    let (hello, counting) = last.split_once("hello").unwrap();
    assert!(hello.starts_with("HTTP/1.1 200 OK\r\n"), "{last}");
    assert!(counting.contains("connection: close\r\n") && counting.ends_with(counted), "{last}");
}

#[tokio::test]
async fn a_stream_says_about_itself_what_any_answer_does() {
    let site = Site::start(ServerLimits::default()).await;
    for (version, ends) in [("1.1", "0\r\n\r\n"), ("1.0", "abc")] {
        let request =
            format!("GET /count HTTP/{version}\r\nHost: a\r\nConnection: close\r\nX-Request-Id: mine\r\n\r\n");
        let answer = site.exchange(request).await;
        for header in
            ["date: ", "x-request-id: mine\r\n", "content-type: text/plain\r\n", "x-content-type-options: nosniff"]
        {
            assert!(answer.contains(header), "{header}: {answer}");
        }
        assert_eq!(answer.contains("transfer-encoding: chunked\r\n"), version == "1.1", "{answer}");
        assert!(answer.ends_with(ends), "{answer}");
    }
    let head = site.exchange("HEAD /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(head.ends_with("\r\n\r\n"), "{head}");
}

#[tokio::test]
async fn a_stream_is_not_drawn_ahead_of_a_client_that_does_not_read() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /drawn HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    site.sees("begun").await;
    // The stream is polled until the socket buffers are full, and no further.
    let mut drawn = 0;
    while let Ok(Some(_)) = timeout(Duration::from_millis(500), site.seen.recv()).await {
        drawn += 1;
    }
    assert!(drawn < 1_000, "{drawn} blocks of 64 KiB were drawn");
    let mut piece = vec![0; 8 << 20];
    while timeout(Duration::from_millis(10), site.seen.recv()).await.is_err() {
        assert!(socket.read(&mut piece).await.unwrap() > 0);
    }
}

#[tokio::test]
async fn told_to_stop_it_ends_a_connection_behind_its_stream() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /until-told-streaming HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut socket, "first").await;
    assert_eq!(site.stop().await, Drained { cut: 0 });
    assert!(rest(&mut socket).await.ends_with("4\r\ntold\r\n0\r\n\r\n"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_gets_all_of_it() {
    let site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut piece = vec![0; 1_000_000];
    let mut read = 0;
    while let Ok(count @ 1..) = socket.read(&mut piece).await {
        read += count;
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    assert!(read > LARGE, "{read}");
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_their_turn() {
    let site = Site::start(ServerLimits { connections: 1, ..ServerLimits::default() }).await;
    let mut first = site.connect().await;
    first.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut first, "hello").await;
    let mut second = site.connect().await;
    second.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut byte = [0];
    assert!(timeout(Duration::from_millis(50), second.read(&mut byte)).await.is_err(), "no room yet");
    drop(first);
    assert!(rest(&mut second).await.ends_with("hello"));
}

#[tokio::test]
async fn told_to_stop_it_finishes_what_runs() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut idle = site.connect().await;
    idle.write_all(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut idle, "hello").await;
    let mut busy = site.connect().await;
    busy.write_all(b"POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\nExpect: 100-continue\r\n\r\n")
        .await
        .unwrap();
    read_until(&mut busy, "100 Continue").await;
    let address = site.address;
    let drained = tokio::spawn(async move { site.stop().await });
    assert_eq!(rest(&mut idle).await, "");
    drop(idle);
    busy.write_all(br#"{"a":1}"#).await.unwrap();
    assert!(rest(&mut busy).await.ends_with(r#"{"a":1}"#));
    drop(busy);
    assert_eq!(drained.await.unwrap(), Drained { cut: 0 });
    assert!(TcpStream::connect(address).await.is_err(), "nothing listens any more");
}

#[tokio::test(start_paused = true)]
async fn told_to_stop_it_cuts_what_does_not_end() {
    let mut site = Site::start(ServerLimits::default()).await;
    let mut socket = site.connect().await;
    socket.write_all(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut socket, "first").await;
    site.sees("begun").await;
    let start = Instant::now();
    assert_eq!(site.stop().await, Drained { cut: 1 });
    assert_eq!(start.elapsed().as_secs(), 10);
    site.sees("dropped").await;
}
