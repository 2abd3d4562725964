//! Tests of both protocols against a scripted server on loopback, and without a network where bytes are enough.

mod anthropic;
mod chunks;
mod failures;
mod openai;
mod too_many_calls;

use std::net::SocketAddr;
use std::time::Duration;

use docent_http_client::{Client, ClientOptions, Secret};
use docent_llm::{Event, Model, ModelError, Request, ToolChoice, ToolSpec};
use docent_types::{ContentPart, Message, Role};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::decoder::{Decoder, ReplyError, ReplyParser};
use crate::{Anthropic, Dialect, Endpoint, OpenAi};

const KEY: &str = "sk-test-0123456789";

/// A request as the server received it.
#[derive(Debug)]
struct Asked {
    line: String,
    head: String,
    body: Value,
}

/// A server that gives its answers in order, one per connection, and records the requests.
struct Server {
    address: SocketAddr,
    asked: mpsc::UnboundedReceiver<Asked>,
    /// One message for each connection that the client closed.
    gone: mpsc::UnboundedReceiver<()>,
}

/// An answer, and what happens after it.
#[derive(Debug, Clone)]
enum Answer {
    /// These bytes, then the connection is closed.
    Whole(Vec<u8>),
    /// These bytes, then nothing, until the client closes the connection.
    Stalled(Vec<u8>),
}

impl Server {
    async fn answering(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (tell, asked) = mpsc::unbounded_channel();
        let (hung_up, gone) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for answer in answers {
                let (mut socket, _) = listener.accept().await.expect("a connection");
                let _ = tell.send(read(&mut socket).await);
                let (bytes, stalls) = match answer {
                    Answer::Whole(bytes) => (bytes, false),
                    Answer::Stalled(bytes) => (bytes, true),
                };
                let _ = socket.write_all(&bytes).await;
                if stalls {
                    let hung_up = hung_up.clone();
                    tokio::spawn(async move {
                        let _ = socket.read_to_end(&mut Vec::new()).await;
                        let _ = hung_up.send(());
                    });
                }
            }
        });
        Self { address, asked, gone }
    }

    async fn was_asked(&mut self) -> Asked {
        self.asked.recv().await.expect("a request")
    }

    fn base(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn read(socket: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    let head_end = loop {
        let found = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = found {
            break end + 4;
        }
        assert!(socket.read_buf(&mut bytes).await.expect("a request") > 0, "the head is cut");
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).expect("an ASCII head");
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().expect("n"));
    while bytes.len() < head_end + length {
        assert!(socket.read_buf(&mut bytes).await.expect("a request") > 0, "the body is cut");
    }
    let body = serde_json::from_slice(&bytes[head_end..]).unwrap_or_default();
    Asked { line: head.lines().next().unwrap_or_default().to_owned(), head, body }
}

/// An HTTP answer after which the connection is closed.
fn http(status: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn json_answer(status: &str, headers: &[&str], body: &Value) -> Answer {
    Answer::Whole(http(status, &[&["content-type: application/json"], headers].concat(), &body.to_string()))
}

/// A stream of these frames, chunked so that its end is distinguishable from a cut.
fn sse(body: &str) -> Answer {
    let body = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    Answer::Whole([SSE_HEAD, body.as_bytes()].concat())
}

/// The same stream without the final chunk.
fn sse_then_nothing(body: &str) -> Answer {
    let body = format!("{:x}\r\n{body}\r\n", body.len());
    Answer::Stalled([SSE_HEAD, body.as_bytes()].concat())
}

const SSE_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

fn endpoint(base: &str) -> Endpoint {
    Endpoint {
        base_url: Some(base.to_owned()),
        key: Some(Secret::parse(KEY).expect("a key")),
        key_source: Some("MODEL_KEY".to_owned()),
        idle: Duration::from_secs(20),
        ..Endpoint::new("model-1")
    }
}

fn client() -> Client {
    Client::new(ClientOptions::default())
}

fn anthropic(base: &str) -> Anthropic {
    Anthropic::new(client(), endpoint(base)).expect("a base URL")
}

fn openai(base: &str) -> OpenAi {
    OpenAi::new(client(), endpoint(base), Dialect::default()).expect("a base URL")
}

/// The one tool of these tests.
fn read_tool() -> ToolSpec {
    ToolSpec {
        name: "read".into(),
        description: "Reads a file.".into(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
    }
}

fn request() -> Request {
    Request {
        system: "You edit docs.".into(),
        messages: vec![Message::text(Role::User, "Fix the title.")],
        tools: vec![read_tool()],
        tool_choice: ToolChoice::Auto,
        max_tokens: 4096,
    }
}

/// A request with every kind of content that a transcript may have.
fn long_request() -> Request {
    let text = |text: &str| ContentPart::Text { text: text.into() };
    let call = |id: &str, input: Value| ContentPart::ToolCall { id: id.into(), name: "read".into(), input };
    let result = |id: &str, output: &str, is_error| ContentPart::ToolResult {
        call_id: id.into(),
        output: output.into(),
        is_error,
    };
    let message = |role, parts| Message { role, parts };
    let mut request = request();
    request.messages = vec![
        Message::text(Role::System, "The house style is plain."),
        Message::text(Role::User, "Fix the title."),
        Message::text(Role::User, "Of index.md, please."),
        message(Role::Assistant, vec![text("I will look."), call("call:1", json!({ "path": "index.md" }))]),
        message(Role::Assistant, vec![call("c2", json!("{\"path\":"))]),
        message(Role::User, vec![text("  "), text("And hurry."), result("call:1", "# Ttile", false)]),
        message(Role::User, vec![result("c2", "the input is no JSON", true)]),
        Message::text(Role::Assistant, " \n"),
        Message::text(Role::User, "Well?"),
        message(Role::Assistant, vec![call("c3", json!({}))]),
        message(Role::User, vec![result("c3", "path is missing", true)]),
    ];
    request
}

/// All events of a call, and its result.
async fn ask(model: &dyn Model, request: Request) -> (Vec<Event>, Result<(), ModelError>) {
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error is the end");
                return (events, Err(error));
            }
        }
    }
    (events, Ok(()))
}

/// The events of a byte stream split into chunks of this size; adjacent texts are merged.
fn decode(parser: impl ReplyParser, bytes: &[u8], size: usize) -> (Vec<Event>, Result<(), ReplyError>) {
    let (mut decoder, mut events) = (Decoder::of_stream(parser), Vec::new());
    let fed = bytes.chunks(size.max(1)).try_for_each(|chunk| decoder.feed(chunk, &mut events));
    let ended = fed.and_then(|()| decoder.end(&mut events));
    (joined(events), ended)
}

fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut joined: Vec<Event> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(Event::TextDelta(text)), Event::TextDelta(more)) => text.push_str(&more),
            (_, event) => joined.push(event),
        }
    }
    joined
}

fn frames(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("event: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap_or("x"))).collect()
}

fn chunks(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
}

fn text(text: &str) -> Event {
    Event::TextDelta(text.to_owned())
}

fn call(id: &str, name: &str, input: Value) -> Event {
    Event::ToolCall { id: id.to_owned(), name: name.to_owned(), input }
}
