//! Connections that clients and proxies keep for the next request. An answer that is given before the body was read
//! must not cost the next request its connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use docent_tests::assistant::question_body;
use docent_tests::third_party::{ThirdPartyServer, free_port};
use docent_tests::{Request, Site};
use serde_json::json;

/// Sends a request and then a second one on the same connection, the body of the first `at_once` with its head or in a
/// write of its own. The status of the first answer, and whether the second was answered or the close announced.
fn twice(to: SocketAddr, head: &str, body: &[u8], at_once: bool) -> (u16, bool) {
    let mut stream = TcpStream::connect(to).expect("connect");
    stream.set_nodelay(true).expect("send small packets");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set a limit");
    let head = format!("{head}\r\nHost: {to}\r\nContent-Length: {}\r\n\r\n", body.len());
    let mut reader = BufReader::new(stream.try_clone().expect("share the socket"));
    if at_once {
        stream.write_all(&[head.as_bytes(), body].concat()).expect("send the request");
    } else {
        stream.write_all(head.as_bytes()).expect("send the head");
        // The server may have closed already, which it then has announced.
        stream.write_all(body).ok();
    }
    let (status, closes) = read_answer(&mut reader).expect("an answer");
    if closes {
        return (status, true);
    }
    let second = format!("GET /healthz HTTP/1.1\r\nHost: {to}\r\n\r\n");
    let answered = stream.write_all(second.as_bytes()).is_ok() && matches!(read_answer(&mut reader), Some((200, _)));
    (status, answered)
}

/// Reads a whole answer: its status, and whether it announces that the connection closes.
fn read_answer(reader: &mut impl BufRead) -> Option<(u16, bool)> {
    let (mut status, mut length, mut closes) = (0, 0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(code) = line.strip_prefix("http/1.1 ") {
            status = code.get(..3)?.parse().ok()?;
        } else if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        } else if line.is_empty() {
            break;
        }
        closes |= line == "connection: close";
    }
    reader.take(length).read_to_end(&mut Vec::new()).ok()?;
    Some((status, closes))
}

#[test]
fn an_answer_before_the_body_keeps_the_connection_or_announces_its_end() {
    let site = Site::start();
    let (admin, assistant) = (&site.admin_key, &site.assistant_key);
    let question = question_body("How often is a webhook retried?", &json!({})).to_string().into_bytes();
    let ask = "POST /discovery/v2/assistant/acme/message HTTP/1.1";
    let padded = |size: usize| [&question[..], &vec![b' '; size]].concat();
    for (head, body, status) in [
        (ask.to_owned(), question.clone(), 401),
        (ask.to_owned(), padded(60_000), 401),
        (ask.to_owned(), padded(200_000), 401),
        (format!("{ask}\r\nAuthorization: Bearer {admin}"), question.clone(), 403),
        ("POST /nowhere HTTP/1.1".to_owned(), question.clone(), 404),
        ("POST /healthz HTTP/1.1".to_owned(), question.clone(), 405),
        (format!("{ask}\r\nAuthorization: Bearer {assistant}\r\nContent-Encoding: gzip"), question.clone(), 415),
        (
            format!("POST /v2/agent/acme/job/none/archive HTTP/1.1\r\nAuthorization: Bearer {admin}"),
            b"{}".to_vec(),
            404,
        ),
        (format!("POST /v2/agent/acme/job HTTP/1.1\r\nAuthorization: Bearer {admin}"), padded(2 << 20), 413),
    ] {
        for at_once in [true, false, true, false] {
            let seen = twice(site.server.address(), &head, &body, at_once);
            assert_eq!(seen, (status, true), "{head} with {} bytes, at once: {at_once}", body.len());
        }
    }
}

#[test]
#[ignore = "needs nginx: cargo xtask test"]
fn a_proxy_that_keeps_connections_loses_no_request() {
    let nginx = std::env::var_os("DOCENT_NGINX").expect("$DOCENT_NGINX names nginx");
    let site = Site::start();
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let port = free_port();
    let config = folder.path().join("nginx.conf");
    std::fs::write(&config, configuration(folder.path(), port, site.server.address())).expect("configure nginx");
    let mut command = Command::new(nginx);
    command.arg("-c").arg(&config).arg("-p").arg(folder.path()).args(["-e", "stderr"]);
    let proxy = ThirdPartyServer::start("nginx", command, port, folder.path());
    let search = Request::post("/discovery/v1/search/acme").json(&json!({ "query": "webhook" }));
    let keyless = Request::post("/discovery/v2/assistant/acme/message")
        .json(&question_body("How often is a webhook retried?", &json!({})));
    let done = AtomicBool::new(false);
    let status = |request: &Request| request.send(proxy.address()).expect("an answer").status;
    std::thread::scope(|scope| {
        let valid: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let request = search.clone().bearer(&site.assistant_key);
                    while !done.load(Ordering::Relaxed) {
                        assert_eq!(status(&request), 200);
                    }
                })
            })
            .collect();
        let refused: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..500).for_each(|_| assert_eq!(status(&keyless), 401)))).collect();
        let ended: Vec<_> = refused.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        assert!(
            ended.into_iter().chain(valid.into_iter().map(std::thread::ScopedJoinHandle::join)).all(|end| end.is_ok())
        );
    });
}

/// Passes a body on as it arrives, and tries no request twice, so that every lost one is seen.
fn configuration(folder: &Path, port: u16, upstream: SocketAddr) -> String {
    let folder = folder.display();
    format!(
        "daemon off;
master_process off;
pid {folder}/pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream docent {{ server {upstream}; keepalive 8; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://docent;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_request_buffering off;
            proxy_next_upstream off;
        }}
    }}
}}
"
    )
}
