//! Request bodies that are too large, of the wrong type, or truncated.

use docent_tests::assistant::question_body;
use docent_tests::{Request, Site};
use serde_json::{Value, json};

use crate::errors::{Row, all_refused, row};

const MIB: usize = 1024 * 1024;

/// Every path that reads a body, with its key and its limit in bytes.
fn paths(site: &Site, job: &str) -> Vec<(String, String, usize)> {
    let agent = |path: String| (path, site.admin_key.clone(), MIB);
    let assistant = |path: &str| (path.to_owned(), site.assistant_key.clone(), 4 * MIB);
    vec![
        agent("/v2/agent/acme/job".to_owned()),
        agent(format!("/v2/agent/acme/job/{job}/message")),
        assistant("/discovery/v2/assistant/acme/message"),
        assistant("/discovery/v1/search/acme"),
        assistant("/discovery/v1/page/acme"),
    ]
}

fn padded(size: usize) -> Vec<u8> {
    let mut body = b"{\"prompt\":\"hello\",\"query\":\"hello\",\"pad\":\"".to_vec();
    body.resize(size - 2, b'x');
    body.extend_from_slice(b"\"}");
    body
}

#[test]
fn a_body_over_the_limit_is_413_whether_announced_or_not() {
    let site = Site::start();
    let job = site.agent().create("Replace \"no-such-term\" with \"another\"");
    let mut rows: Vec<Row> = Vec::new();
    for (path, key, limit) in paths(&site, docent_tests::agent::id(&job)) {
        let request = || Request::post(&path).bearer(&key).header("Content-Type", "application/json");
        rows.push(row(format!("{path} announced"), request().body(padded(limit + 1)), 413, &[]));
        rows.push(row(format!("{path} chunked"), request().chunked(padded(limit + 1)), 413, &[]));
    }
    all_refused(&site.server, &rows);
}

#[test]
fn a_body_at_the_limit_is_read() {
    let site = Site::start();
    for request in [
        site.agent().request("POST", "job").body(padded(MIB)),
        site.agent().request("POST", "job").chunked(padded(MIB)),
    ] {
        let response = site.server.send(&request);
        assert_eq!(response.status, 201, "{}", response.text());
    }
    let search = Request::post("/discovery/v1/search/acme").bearer(&site.assistant_key);
    assert_eq!(site.server.send(&search.body(padded(4 * MIB))).status, 200);
}

#[test]
fn other_content_types_are_415_on_every_path() {
    let site = Site::start();
    let job = site.agent().create("Replace \"no-such-term\" with \"another\"");
    let mut rows: Vec<Row> = Vec::new();
    for (path, key, _) in paths(&site, docent_tests::agent::id(&job)) {
        for kind in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json-ish"]
        {
            let request = Request::post(&path).bearer(&key).header("Content-Type", kind).body("{\"prompt\":\"x\"}");
            rows.push(row(format!("{path} as {kind}"), request, 415, &["application/json"]));
        }
    }
    all_refused(&site.server, &rows);
}

#[test]
fn a_client_that_leaves_in_the_middle_of_its_body_changes_nothing() {
    let site = Site::start();
    let address = site.server.address();
    let body = json!({ "prompt": "Replace \"widget\" with \"gadget\"" });
    let question = question_body("How often is a webhook retried?", &json!({}));
    for _ in 0..10 {
        site.agent().request("POST", "job").json(&body).send_only(20, address).expect("hang up");
        site.agent().request("POST", "job").chunked(body.to_string()).send_only(20, address).expect("hang up");
        let ask = Request::post(site.assistant().path()).bearer(&site.assistant_key);
        ask.json(&question).send_only(25, address).expect("hang up");
    }
    // One complete request afterwards: the server still works, and the truncated requests made no job.
    let job = site.agent().create("Replace \"warehouse\" with \"depot\"");
    let job = site.agent().reaches(docent_tests::agent::id(&job), "completed");
    assert_eq!(site.repository.branches(), [docent_tests::agent::branch(&job)]);
}

/// Bodies whose last byte is never sent.
#[cfg(target_os = "linux")]
#[test]
fn bodies_in_memory_are_bounded_and_gone_with_their_clients() {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use docent_tests::eventually;

    const CLIENTS: usize = 100;
    let site = Site::start();
    let resident = || site.server.resident() >> 20;
    let before = resident();
    let head = format!(
        "POST /discovery/v1/search/acme HTTP/1.1\r\nHost: docent\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        site.assistant_key,
        4 * MIB
    );
    let body = padded(4 * MIB);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let mut stream = TcpStream::connect(site.server.address()).expect("connect");
            // A client that is refused in the middle of its body cannot send the rest.
            let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body[..body.len() - 1]));
            stream.set_nonblocking(true).expect("set");
            (stream, sent.is_ok())
        })
        .collect();
    let during = resident();
    assert!(during < before + 256 + 100, "{during} MiB, {before} MiB before");
    let refused = clients.iter().filter(|(stream, sent)| {
        let mut answer = [0; 1024];
        let length = (&*stream).read(&mut answer).unwrap_or(0);
        let text = String::from_utf8_lossy(&answer[..length]).to_lowercase();
        assert!(length == 0 || (text.starts_with("http/1.1 503") && text.contains("retry-after: 2")), "{text}");
        !sent || length > 0
    });
    let refused = refused.count();
    assert!((20..=45).contains(&refused), "{refused} of {CLIENTS} are over 256 MiB");
    drop(clients);
    eventually("their memory to be free", || (resident() < before + 60).then_some(()));
    let search = Request::post("/discovery/v1/search/acme").bearer(&site.assistant_key).body(padded(4 * MIB));
    assert_eq!(site.server.send(&search).status, 200);
}

#[test]
fn a_text_that_was_cut_inside_a_character_is_read_on_every_path() {
    let site = Site::start();
    let job = site.agent().create("Replace \"no-such-term\" with \"another\"");
    let job = docent_tests::agent::id(&job);
    // U+1F600 in JSON is `\ud83d\ude00`; a text cut in between ends or begins with one of them.
    let half = |body: Value| body.to_string().replace('#', r"\ud83d").replace('%', r"\ude00");
    let question = question_body("How often is a webhook retried? #", &json!({ "currentPath": "/%guides" }));
    let message = json!({ "role": "user", "content": "Replace \"no-such-term\" with \"another\" #" });
    let (admin, assistant) = (&site.admin_key, &site.assistant_key);
    for (path, key, body, status) in [
        ("/v2/agent/acme/job".to_owned(), admin, json!({ "prompt": "Replace \"no-such-term\" with \"#\"" }), 201),
        (format!("/v2/agent/acme/job/{job}/message"), admin, json!({ "prompt": "% and so on" }), 200),
        ("/v1/agent/acme/job".to_owned(), admin, json!({ "messages": [message] }), 200),
        ("/discovery/v2/assistant/acme/message".to_owned(), assistant, question.clone(), 200),
        ("/discovery/v1/assistant/acme/message".to_owned(), assistant, question, 200),
        ("/discovery/v1/search/acme".to_owned(), assistant, json!({ "query": "webhook #" }), 200),
        ("/discovery/v1/page/acme".to_owned(), assistant, json!({ "path": "/guides/webhooks", "#": "%" }), 200),
        (
            "/discovery/v1/assistant/acme/feedback".to_owned(),
            assistant,
            json!({ "threadId": "#", "messageId": "%", "rating": "up" }),
            404,
        ),
    ] {
        let request = Request::post(&path).bearer(key).header("Content-Type", "application/json").body(half(body));
        let response = site.server.send(&request);
        assert_eq!(response.status, status, "{path}: {}", response.text());
    }
    let create = |body: &str| {
        let request = site.agent().request("POST", "job").header("Content-Type", "application/json");
        site.server.send(&request.header("Idempotency-Key", "cut").body(body))
    };
    let (first, again) = (create(r#"{"prompt":"Cut \ud83d"}"#), create(r#"{"prompt":"Cut \ud83d"}"#));
    assert_eq!((first.status, &first.json()["id"]), (201, &again.json()["id"]));
}
