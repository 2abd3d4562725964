//! Tests against small servers on loopback that misbehave on purpose.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, StatusCode};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::proxy::Proxies;
use crate::{Client, ClientOptions, SendError, Wait};

/// Serves every connection of a listener on loopback with one function, for as long as the test runs.
async fn server<F, S>(serve: F) -> SocketAddr
where
    F: Fn(TcpStream) -> S + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(serve(socket));
        }
    });
    address
}

/// Reads the head of a request, up to the blank line.
async fn head(socket: &mut (impl AsyncRead + Unpin)) -> String {
    let mut seen = Vec::new();
    while !seen.ends_with(b"\r\n\r\n") {
        match socket.read_u8().await {
            Ok(byte) => seen.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(seen).expect("an ASCII head")
}

async fn say(socket: &mut (impl AsyncWrite + Unpin), text: &str) {
    // The client may have closed the connection already.
    let _ = socket.write_all(text.as_bytes()).await;
    let _ = socket.flush().await;
}

/// Answers with these bytes and closes the connection.
async fn answers(bytes: &'static str) -> SocketAddr {
    server(move |mut socket| async move {
        head(&mut socket).await;
        say(&mut socket, bytes).await;
    })
    .await
}

/// Answers with these bytes, then sends nothing until the client closes the connection.
async fn stalls_after(bytes: &'static str) -> (SocketAddr, mpsc::UnboundedReceiver<()>) {
    let (hung_up, gone) = mpsc::unbounded_channel();
    let address = server(move |mut socket| {
        let hung_up = hung_up.clone();
        async move {
            head(&mut socket).await;
            say(&mut socket, bytes).await;
            let _ = socket.read_to_end(&mut Vec::new()).await;
            let _ = hung_up.send(());
        }
    })
    .await;
    (address, gone)
}

fn hasty() -> ClientOptions {
    let blink = Duration::from_millis(50);
    ClientOptions { connect: Duration::from_secs(5), head: blink, idle: blink, ..ClientOptions::default() }
}

fn no_roots() -> Arc<RootCertStore> {
    Arc::new(RootCertStore::empty())
}

fn direct(options: ClientOptions) -> Client {
    Client::assemble(options, Proxies::of("", ""), no_roots)
}

fn client() -> Client {
    direct(ClientOptions::default())
}

fn get(address: &str) -> Request<Bytes> {
    Request::get(address).body(Bytes::new()).expect("a request")
}

fn with_key(address: &str) -> Request<Bytes> {
    let key = crate::Secret::parse("key-4711").expect("a key");
    Request::get(address).header("authorization", key.bearer()).body(Bytes::new()).expect("a request")
}

const HELLO: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

#[tokio::test]
async fn a_request_says_who_asks_and_the_answer_arrives_whole() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let address = server(move |mut socket| {
        let told = told.clone();
        async move {
            let head = head(&mut socket).await;
            let mut body = [0; 4];
            socket.read_exact(&mut body).await.expect("a body");
            let _ = told.send((head, body));
            say(&mut socket, "HTTP/1.1 201 Created\r\nx-id: 7\r\ncontent-length: 5\r\n\r\nhello").await;
        }
    })
    .await;
    let request = Request::post(format!("http://{address}/v1/x?y=1")).body(Bytes::from("body")).expect("a request");
    let answer = client().send(request).await.expect("an answer");
    assert_eq!((answer.status(), &answer.headers()["x-id"]), (StatusCode::CREATED, &"7".parse().expect("a value")));
    assert_eq!(answer.text(5).await.expect("a body"), "hello");
    let (head, body) = heard.recv().await.expect("a request");
    assert!(head.starts_with("POST /v1/x?y=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(concat!("user-agent: docent/", env!("CARGO_PKG_VERSION"))), "{head}");
    assert!(head.contains(&format!("host: {address}\r\n")) && head.contains("content-length: 4\r\n"), "{head}");
    assert_eq!(&body, b"body");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let address = answers("HTTP/1.1 302 Found\r\nlocation: http://example.com/\r\ncontent-length: 0\r\n\r\n").await;
    let answer = client().send(with_key(&format!("http://{address}/"))).await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::FOUND);
}

#[tokio::test]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let (address, mut gone) = stalls_after("HTTP/1.1 200 OK\r\nslow: ").await;
    let error = direct(hasty()).send(get(&format!("http://{address}/"))).await.expect_err("too slow");
    assert!(matches!(error, SendError::Timeout { what: Wait::Head, .. }), "{error:?}");
    assert_eq!(error.to_string(), format!("{address} was too slow: the beginning of the answer took longer than 50ms"));
    assert!(error.is_transient());
    gone.recv().await.expect("the connection is closed");
}

#[tokio::test]
async fn a_body_that_falls_silent_is_given_up_and_the_connection_closed() {
    let (address, mut gone) = stalls_after("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel").await;
    let options = ClientOptions { head: Duration::from_secs(5), ..hasty() };
    let answer = direct(options).send(get(&format!("http://{address}/"))).await.expect("a head");
    let chunks: Vec<_> = answer.chunks().collect().await;
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[0].as_ref().expect("the first bytes"), "hel");
    assert!(matches!(chunks[1], Err(SendError::Timeout { what: Wait::Chunk, .. })), "{chunks:?}");
    gone.recv().await.expect("the connection is closed");
}

#[tokio::test]
async fn the_whole_exchange_has_its_own_limit() {
    let total = Some(Duration::from_millis(500));
    let (address, _gone) = stalls_after("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel").await;
    let client = direct(ClientOptions { total, ..ClientOptions::default() });
    let answer = client.send(get(&format!("http://{address}/"))).await.expect("a head");
    let error = answer.bytes(100).await.expect_err("too slow");
    assert!(matches!(error, SendError::Timeout { what: Wait::Total, .. }), "{error:?}");
    let (address, _gone) = stalls_after("").await;
    let error = client.send(get(&format!("http://{address}/"))).await.expect_err("too slow");
    assert!(matches!(error, SendError::Timeout { what: Wait::Total, .. }), "{error:?}");
}

#[tokio::test]
async fn a_dropped_answer_closes_the_connection() {
    let (address, mut gone) = stalls_after("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n").await;
    let mut chunks = Box::pin(client().send(get(&format!("http://{address}/"))).await.expect("a head").chunks());
    assert_eq!(chunks.next().await.expect("open").expect("bytes"), "hel");
    drop(chunks);
    gone.recv().await.expect("the connection is closed");
}

#[tokio::test]
async fn a_cut_answer_is_told_from_a_whole_one() {
    for half in [
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n",
    ] {
        let address = answers(half).await;
        let answer = client().send(get(&format!("http://{address}/"))).await.expect("a head");
        let error = answer.bytes(100).await.expect_err("cut");
        assert!(matches!(error, SendError::Cut { .. }) && error.is_transient(), "{error:?}");
    }
    for no_head in ["", "HTTP/1.1 200 OK\r\nx: ", "SSH-2.0-OpenSSH_9.2\r\n"] {
        let address = answers(no_head).await;
        let error = client().send(get(&format!("http://{address}/"))).await.expect_err("cut");
        assert!(matches!(error, SendError::Cut { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_body_is_read_within_its_limit_whether_or_not_it_says_its_length() {
    for long in [
        HELLO,
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
    ] {
        let address = answers(long).await;
        let address = format!("http://{address}/");
        let answer = client().send(get(&address)).await.expect("a head");
        assert_eq!(answer.bytes(5).await.expect("it fits"), "hello");
        let answer = client().send(get(&address)).await.expect("a head");
        let error = answer.bytes(4).await.expect_err("it does not fit");
        assert!(matches!(error, SendError::TooLarge { limit: 4, .. }) && !error.is_transient(), "{error:?}");
    }
}

/// Answers each request on a connection with the next of these, then closes it; counts connections.
async fn answers_on_one_connection(answers: &'static [&'static str]) -> (SocketAddr, mpsc::UnboundedReceiver<()>) {
    let (opened, connections) = mpsc::unbounded_channel();
    let address = server(move |mut socket| {
        let _ = opened.send(());
        async move {
            for answer in answers {
                if head(&mut socket).await.is_empty() {
                    return;
                }
                say(&mut socket, answer).await;
            }
        }
    })
    .await;
    (address, connections)
}

async fn body(client: &Client, address: SocketAddr) -> String {
    let answer = client.send(get(&format!("http://{address}/"))).await.expect("an answer");
    answer.text(100).await.expect("a body")
}

#[tokio::test]
async fn a_connection_is_used_again_for_as_long_as_its_server_keeps_it() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    const NONE: &str = "HTTP/1.1 204 No Content\r\n\r\n";
    let (address, mut connections) = answers_on_one_connection(&[HELLO, CHUNKED, NONE, HELLO]).await;
    let client = client();
    // The server closes the connection after the fourth answer, and the next request must not use the closed
    // connection.
    for told in ["hello", "hello", "", "hello", "hello", "hello"] {
        assert_eq!(body(&client, address).await, told);
    }
    connections.recv().await.expect("the first");
    connections.recv().await.expect("the second");
    assert!(connections.is_empty());
}

#[tokio::test]
async fn a_connection_that_is_not_kept_or_said_too_much_is_not_used_again() {
    for (answer, told) in [
        ("HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 5\r\n\r\nhello", "hello"),
        ("HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", "hello"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello and more", "hello"),
        ("HTTP/1.1 204 No Content\r\n\r\nmore", ""),
    ] {
        let (address, connections) = answers_on_one_connection(Vec::leak(vec![answer, answer])).await;
        let client = client();
        for _ in 0..2 {
            assert_eq!(body(&client, address).await, told);
        }
        assert_eq!(connections.len(), 2, "{answer}");
    }
}

#[tokio::test]
async fn informational_responses_are_skipped() {
    let answer = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\ncontent-length: 5\n\nhello";
    assert_eq!(body(&client(), answers(answer).await).await, "hello");
}

#[tokio::test]
async fn a_head_that_does_not_end_is_given_up() {
    let long = format!("HTTP/1.1 200 OK\r\n{}", "x-more: and more\r\n".repeat(5_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(101));
    for head in [long, many] {
        let address = answers(head.leak()).await;
        let error = client().send(get(&format!("http://{address}/"))).await.expect_err("too large");
        assert!(matches!(error, SendError::Cut { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_to_what_is_still_being_sent_is_heard() {
    let address = server(|mut socket| async move {
        head(&mut socket).await;
        say(&mut socket, "HTTP/1.1 413 Content Too Large\r\ncontent-length: 5\r\n\r\nlarge").await;
        let _ = socket.shutdown().await;
        // Continues reading, as servers do so that their answer is not lost by a reset.
        let _ = socket.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let request =
        Request::post(format!("http://{address}/")).body(Bytes::from(vec![b'a'; 8 << 20])).expect("a request");
    let answer = client().send(request).await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer.text(10).await.expect("a body"), "large");
}

#[tokio::test]
async fn text_that_is_no_utf_8_is_read_all_the_same() {
    let address = server(|mut socket| async move {
        head(&mut socket).await;
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\na\xffb").await;
    })
    .await;
    let answer = client().send(get(&format!("http://{address}/"))).await.expect("a head");
    assert_eq!(answer.text(10).await.expect("a text"), "a\u{fffd}b");
}

#[tokio::test]
async fn nobody_there_is_a_failure_to_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    drop(listener);
    let error = client().send(get(&format!("http://{address}/"))).await.expect_err("nobody");
    assert!(matches!(error, SendError::Connect { .. }) && error.is_transient(), "{error:?}");
    assert_eq!(error.to_string(), format!("could not connect to {address}"));
}

#[tokio::test]
async fn an_address_that_cannot_be_asked_is_refused_with_the_reason() {
    for (address, reason) in [
        ("ftp://example.com/", "https:// or http://"),
        ("/v1/messages", "https:// or http://"),
        ("http://me:hunter2@127.0.0.1/", "keep those out"),
    ] {
        let error = client().send(get(address)).await.expect_err(address);
        assert!(matches!(error, SendError::Address { .. }) && !error.is_transient(), "{error:?}");
        let told = error.to_string();
        assert!(told.contains(reason) && !told.contains("hunter2"), "{told}");
    }
}

#[tokio::test]
async fn a_key_is_not_sent_in_plain_text_to_another_network() {
    for name in ["authorization", "x-api-key", "private-token"] {
        let request = Request::get("http://api.example.com/").header(name, "key-4711").body(Bytes::new());
        let error = client().send(request.expect("a request")).await.expect_err(name);
        assert_eq!(
            error.to_string(),
            "could not ask api.example.com: a key is not sent over plain http to another network; use https"
        );
    }
    let address = answers(HELLO).await;
    client().send(with_key(&format!("http://{address}/"))).await.expect("loopback is near");
    let far_proxy = Client::assemble(hasty(), Proxies::of("http://proxy.example:3128", ""), no_roots);
    let error = far_proxy.send(with_key("http://ollama/")).await.expect_err("the proxy is far");
    assert!(matches!(error, SendError::Address { .. }), "{error:?}");
}

#[tokio::test]
async fn plain_http_goes_through_the_proxy_with_its_whole_address() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let proxy = server(move |mut socket| {
        let told = told.clone();
        async move {
            let _ = told.send(head(&mut socket).await);
            say(&mut socket, HELLO).await;
        }
    })
    .await;
    let proxies = Proxies::of(&format!("http://us%65r:word@{proxy}"), "direct.example");
    let client = Client::assemble(ClientOptions::default(), proxies, no_roots);
    let answer = client.send(get("http://model.example:8000/v1")).await.expect("an answer");
    assert_eq!(answer.text(10).await.expect("a body"), "hello");
    let head = heard.recv().await.expect("a request");
    assert!(head.starts_with("GET http://model.example:8000/v1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("proxy-authorization: Basic dXNlcjp3b3Jk\r\n"), "{head}");

    // Loopback is reached directly: a request to the proxy would be recorded.
    let own = answers(HELLO).await;
    client.send(get(&format!("http://{own}/"))).await.expect("an answer");
    assert!(heard.try_recv().is_err());
}

/// A self-signed certificate for `names`, and the server side of TLS with it.
fn certificate(names: &[&str], protocols: &[&str]) -> (TlsAcceptor, RootCertStore) {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let certificate: CertificateDer<'static> = cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_no_client_auth();
    let mut config = builder.with_single_cert(vec![certificate.clone()], key).expect("a matching key");
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a root");
    (TlsAcceptor::from(Arc::new(config)), roots)
}

async fn tls_server(acceptor: TlsAcceptor) -> SocketAddr {
    server(move |socket| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(mut socket) = acceptor.accept(socket).await {
                head(&mut socket).await;
                say(&mut socket, HELLO).await;
                let _ = socket.shutdown().await;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused_with_a_sentence() {
    let (acceptor, roots) = certificate(&["localhost"], &[]);
    let address = tls_server(acceptor).await;
    let url = format!("https://localhost:{}/", address.port());

    let error = client().send(with_key(&url)).await.expect_err("untrusted");
    let told = error.to_string();
    assert!(matches!(error, SendError::Tls { .. }) && !error.is_transient(), "{error:?}");
    assert!(told.contains("is not trusted here") && told.contains("SSL_CERT_FILE"), "{told}");

    let trusting = Client::assemble(ClientOptions::default(), Proxies::of("", ""), || Arc::new(roots));
    let answer = trusting.send(with_key(&url)).await.expect("trusted");
    assert_eq!(answer.text(10).await.expect("a body"), "hello");

    let other_name = format!("https://{address}/");
    let error = trusting.send(get(&other_name)).await.expect_err("a name it does not have");
    assert!(error.to_string().contains("is for another name"), "{error}");
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_a_broken_connection() {
    let plain = answers("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    // A TLS hello contains no blank line, so this server answers without reading up to one.
    let blunt = server(|mut socket| async move {
        let _ = socket.read(&mut [0; 1024]).await;
        say(&mut socket, "HTTP/1.1 400 Bad Request\r\n\r\n").await;
    })
    .await;
    let error = client().send(get(&format!("https://{blunt}/"))).await.expect_err("no TLS");
    assert!(error.to_string().contains("http://") && matches!(error, SendError::Tls { .. }), "{error:?}");
    let slow = direct(ClientOptions { connect: Duration::from_millis(50), ..ClientOptions::default() });
    let error = slow.send(get(&format!("https://{plain}/"))).await.expect_err("no handshake");
    assert!(matches!(error, SendError::Timeout { what: Wait::Connect, .. }), "{error:?}");
    let cut = server(|socket| async move { drop(socket) }).await;
    let error = client().send(get(&format!("https://{cut}/"))).await.expect_err("no handshake");
    assert!(matches!(error, SendError::Connect { .. }), "{error:?}");
}

#[tokio::test]
async fn https_goes_through_the_proxy_in_a_tunnel() {
    let (acceptor, roots) = certificate(&["model.example"], &["http/1.1"]);
    let (told, mut heard) = mpsc::unbounded_channel();
    let proxy = server(move |mut socket| {
        let (told, acceptor) = (told.clone(), acceptor.clone());
        async move {
            let _ = told.send(head(&mut socket).await);
            say(&mut socket, "HTTP/1.1 200 Connection established\r\n\r\n").await;
            let mut socket = acceptor.accept(socket).await.expect("a handshake");
            let _ = told.send(head(&mut socket).await);
            say(&mut socket, HELLO).await;
        }
    })
    .await;
    let proxies = Proxies::of(&format!("http://user:word@{proxy}"), "");
    let client = Client::assemble(ClientOptions::default(), proxies, || Arc::new(roots));
    let answer = client.send(with_key("https://model.example/v1")).await.expect("an answer");
    assert_eq!(answer.text(10).await.expect("a body"), "hello");
    let connect = heard.recv().await.expect("a request to the proxy");
    assert!(connect.starts_with("CONNECT model.example:443 HTTP/1.1\r\n"), "{connect}");
    assert!(connect.contains("Proxy-Authorization: Basic dXNlcjp3b3Jk\r\n") && !connect.contains("4711"), "{connect}");
    let inner = heard.recv().await.expect("a request in the tunnel");
    assert!(inner.starts_with("GET /v1 HTTP/1.1\r\n") && inner.contains("authorization: Bearer key-4711"), "{inner}");
    assert!(!inner.contains("proxy-authorization"), "{inner}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named() {
    let proxy = answers("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n").await;
    let proxies = Proxies::of(&format!("http://{proxy}"), "");
    let client = Client::assemble(ClientOptions::default(), proxies, no_roots);
    let error = client.send(get("https://model.example/v1")).await.expect_err("refused");
    assert_eq!(error.to_string(), format!("could not connect to model.example through the proxy {proxy}"));
    let why = std::error::Error::source(&error).expect("a source").to_string();
    assert!(why.contains("authorization required"), "{why}");

    let client = Client::assemble(ClientOptions::default(), Proxies::of("socks5://127.0.0.1:1080", ""), no_roots);
    let error = client.send(get("https://model.example/v1")).await.expect_err("refused");
    assert!(std::error::Error::source(&error).expect("a source").to_string().contains("only proxies"), "{error:?}");
}

#[tokio::test]
async fn a_server_that_prefers_http_2_is_spoken_to_in_it() {
    let (acceptor, roots) = certificate(&["localhost"], &["h2", "http/1.1"]);
    let address = server(move |socket| {
        let acceptor = acceptor.clone();
        async move {
            let socket = acceptor.accept(socket).await.expect("a handshake");
            let service = hyper::service::service_fn(|request: Request<hyper::body::Incoming>| async move {
                let told = format!("{:?} {}", request.version(), request.uri().path());
                Ok::<_, std::convert::Infallible>(http::Response::new(http_body_util::Full::new(Bytes::from(told))))
            });
            let socket = hyper_util::rt::TokioIo::new(socket);
            let executor = hyper_util::rt::TokioExecutor::new();
            let _ = hyper::server::conn::http2::Builder::new(executor).serve_connection(socket, service).await;
        }
    })
    .await;
    let client = Client::assemble(ClientOptions::default(), Proxies::of("", ""), || Arc::new(roots));
    let answer = client.send(with_key(&format!("https://localhost:{}/v1", address.port()))).await.expect("an answer");
    assert_eq!(answer.text(100).await.expect("a body"), "HTTP/2.0 /v1");
}
