use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use docent_http_client::{Client, ClientOptions, Secret};
use docent_search::conformance::Twin;
use docent_search::{Asker, Embedder, Role, conformance};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{EmbeddingsEndpoint, EndpointOptions, Questions, Waits};

const KEY: &str = "sk-test-0123456789";

/// A server that embeds like [`Twin`], unless given other answers.
struct Server {
    address: SocketAddr,
    /// The heads and bodies of the requests received.
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

#[derive(Clone)]
enum Answer {
    Reply(u16, String),
    Never,
}

impl Server {
    async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (received, answers) = (Arc::clone(&requests), Arc::new(Mutex::new(VecDeque::from(answers))));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&received), Arc::clone(&answers)));
            }
        });
        Self { address, requests }
    }

    fn embedder(&self, dimensions: Option<usize>) -> EmbeddingsEndpoint {
        let options = EndpointOptions {
            base_url: format!("http://{}/v1/", self.address),
            model: "small".to_owned(),
            key: Some(Secret::parse(KEY).expect("a key")),
            dimensions,
        };
        let client = Client::new(ClientOptions::default());
        EmbeddingsEndpoint::new(client, options).expect("an embedder")
    }
}

async fn serve(
    mut socket: TcpStream,
    received: Arc<Mutex<Vec<(String, Value)>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
) {
    let mut bytes = Vec::new();
    loop {
        let (head, length) = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&bytes[..end + 4]).to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                break (head, length.unwrap_or(0));
            }
            if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        };
        while bytes.len() < head.len() + length {
            if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let body: Value = serde_json::from_slice(&bytes[head.len()..][..length]).expect("JSON");
        bytes.drain(..head.len() + length);
        received.lock().push((head, body.clone()));
        let next = answers.lock().pop_front();
        let (status, text) = match next {
            Some(Answer::Reply(status, text)) => (status, text),
            Some(Answer::Never) => return std::future::pending().await,
            None => (200, embeddings(&body).await),
        };
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{text}", text.len());
        if socket.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A server's answer, with the vectors not in the order of the texts.
async fn embeddings(body: &Value) -> String {
    let texts: Vec<&str> = body["input"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    let vectors = Twin::named("server").embed(&texts, Role::Passage).await.expect("vectors");
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .rev()
        // Not of length 1: the embedder must normalize them.
        .map(|(index, vector)| json!({"index": index, "embedding": vector.iter().map(|n| n * 3.0).collect::<Vec<_>>()}))
        .collect();
    json!({"object": "list", "data": data}).to_string()
}

#[tokio::test]
async fn an_endpoint_is_an_embedder() {
    let server = Server::start(Vec::new()).await;
    let embedder = Arc::new(server.embedder(None));
    assert_eq!(embedder.dimensions(), 0, "not known before the first answer");
    conformance::run(embedder).await;
    let requests = server.requests.lock();
    assert!(requests.iter().all(|(_, body)| body["input"].as_array().is_some_and(|texts| texts.len() <= 64)));
    let (head, body) = &requests[0];
    assert!(
        head.starts_with("post /v1/embeddings ") && head.contains(&format!("authorization: bearer {KEY}")),
        "{head}"
    );
    assert_eq!(
        (&body["model"], &body["encoding_format"], &body["dimensions"]),
        (&json!("small"), &json!("float"), &Value::Null)
    );
}

#[tokio::test]
async fn errors_never_contain_the_key() {
    let reply = |status, body: Value| Answer::Reply(status, body.to_string());
    for (answer, sentence) in [
        (reply(401, json!({"error": {"message": format!("bad key {KEY}")}})), "does not accept the key"),
        (reply(429, json!({"error": "slow down"})), "is overloaded (429 Too Many Requests: slow down)"),
        (reply(503, json!(null)), "is overloaded"),
        (
            reply(404, json!({"detail": "no such model"})),
            "refuses to embed with the model `small` (404 Not Found: no such model)",
        ),
        (Answer::Reply(200, "<html>".to_owned()), "not a list of embeddings"),
        (reply(200, json!({"data": []})), "0 vectors for 1 texts"),
        (reply(200, json!({"data": [{"index": 3, "embedding": [1.0]}]})), "numbers its vectors otherwise"),
        (reply(200, json!({"data": [{"index": 0, "embedding": []}]})), "0 numbers"),
        (reply(302, json!(null)), "refuses to embed with the model"),
    ] {
        let server = Server::start(vec![answer]).await;
        let error = server.embedder(None).embed(&["text"], Role::Passage).await.expect_err(sentence).to_string();
        assert!(error.contains(sentence) && !error.contains(KEY), "{error}");
    }
    let server = Server::start(Vec::new()).await;
    let error = server.embedder(Some(7)).embed(&["text"], Role::Passage).await.expect_err("not what was configured");
    assert!(error.to_string().contains("64 numbers, not 7"), "{error}");
}

#[tokio::test]
async fn a_question_does_not_wait_for_a_server_that_never_answers() {
    let server = Server::start(vec![Answer::Never]).await;
    let embedder = Questions::new(Arc::new(server.embedder(None)), Waits::default());
    tokio::time::pause();
    let error = embedder.question("why?", Asker::SearchBox).await.expect_err("too slow").to_string();
    assert!(error.contains("longer than 300 ms"), "{error}");
    assert!(embedder.question(" ", Asker::SearchBox).await.is_ok(), "nothing to ask for");
}

#[test]
fn an_address_that_cannot_be_one_is_refused() {
    for base_url in ["", "localhost:8080", "ftp://x/v1", "https://me:hunter2@x/v1", "https://x/v1?key=1"] {
        let client = Client::new(ClientOptions::default());
        let options =
            EndpointOptions { base_url: base_url.to_owned(), model: "m".to_owned(), key: None, dimensions: None };
        let error = EmbeddingsEndpoint::new(client, options).expect_err(base_url).to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
