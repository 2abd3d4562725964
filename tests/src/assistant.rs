//! The assistant endpoints, as a client of one docs site sees them.

use serde_json::{Value, json};

use crate::http::{Request, Response};
use crate::server::Server;
use crate::wait::eventually;

/// A client of one site's assistant, search and page endpoints.
#[derive(Debug, Clone)]
pub struct Assistant<'a> {
    server: &'a Server,
    domain: &'a str,
    key: &'a str,
}

impl<'a> Assistant<'a> {
    pub fn new(server: &'a Server, domain: &'a str, key: &'a str) -> Self {
        Self { server, domain, key }
    }

    /// `/discovery/v2/assistant/DOMAIN/message`
    pub fn path(&self) -> String {
        format!("/discovery/v2/assistant/{}/message", self.domain)
    }

    /// Waits until the docs are indexed for the first time; until then requests get 503.
    ///
    /// # Panics
    /// When the server answers with another status, or the 503 never ends.
    pub fn is_ready(&self) {
        eventually("the docs to be read", || {
            let response = self.search(&json!({ "query": "anything" }));
            if response.status == 503 {
                assert!(response.header("Retry-After").is_some(), "says when to come back: {:?}", response.headers);
                return None;
            }
            assert_eq!(response.status, 200, "{}", response.text());
            Some(())
        });
    }

    /// Sends a complete body; the response may have any status.
    pub fn send(&self, body: &Value) -> Response {
        self.server.send(&Request::post(self.path()).bearer(self.key).json(body))
    }

    /// Asks one question in a new thread; the answer must be a complete, valid stream.
    ///
    /// # Panics
    /// When it is not.
    pub fn ask(&self, question: &str) -> Answer {
        self.ask_with(question, &json!({}))
    }

    /// Asks one question with more fields in the body, such as `threadId`.
    ///
    /// # Panics
    /// When the answer is not a complete, valid stream.
    pub fn ask_with(&self, question: &str, more: &Value) -> Answer {
        let response = self.send(&question_body(question, more));
        assert_eq!(response.status, 200, "the assistant refused: {}", response.text());
        Answer::read(response)
    }

    /// `POST /discovery/v1/search/DOMAIN`; the response may have any status.
    pub fn search(&self, body: &Value) -> Response {
        self.server.send(&Request::post(format!("/discovery/v1/search/{}", self.domain)).bearer(self.key).json(body))
    }

    /// `POST /discovery/v1/page/DOMAIN`; the response may have any status.
    pub fn page(&self, body: &Value) -> Response {
        self.server.send(&Request::post(format!("/discovery/v1/page/{}", self.domain)).bearer(self.key).json(body))
    }
}

/// The smallest body that asks a question, merged with the fields of `more`.
pub fn question_body(question: &str, more: &Value) -> Value {
    let mut body = json!({ "fp": "anonymous", "messages": [user(question)] });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

/// A message of the user.
pub fn user(text: &str) -> Value {
    json!({ "id": "u1", "role": "user", "parts": [{ "type": "text", "text": text }] })
}

/// A reply, read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    pub response: Response,
    /// The frames before `[DONE]`.
    pub frames: Vec<Value>,
}

impl Answer {
    /// Reads the frames of a reply.
    ///
    /// # Panics
    /// When a frame is not JSON, or the stream does not end with `[DONE]`.
    pub fn read(response: Response) -> Self {
        let mut data: Vec<&str> = Vec::new();
        for block in response.text().split("\n\n").filter(|block| !block.is_empty()) {
            for line in block.lines() {
                match line.strip_prefix("data: ") {
                    Some(frame) => data.push(frame),
                    None => assert!(line.starts_with(':'), "neither a frame nor a comment: {line:?}"),
                }
            }
        }
        assert_eq!(data.pop(), Some("[DONE]"), "the stream ends with [DONE]:\n{}", response.text());
        let frames = data
            .iter()
            .map(|frame| serde_json::from_str(frame).unwrap_or_else(|error| panic!("{error} in frame {frame}")))
            .collect();
        Self { response, frames }
    }

    /// The `type` of every frame, in order.
    pub fn types(&self) -> Vec<&str> {
        self.frames.iter().map(|frame| frame["type"].as_str().unwrap_or("?")).collect()
    }

    pub fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.frames.iter().filter(|frame| frame["type"] == kind).collect()
    }

    /// The whole text of the reply.
    pub fn text(&self) -> String {
        self.of_type("text-delta").iter().filter_map(|frame| frame["delta"].as_str()).collect()
    }

    /// The URLs of the sources, in order.
    pub fn sources(&self) -> Vec<&str> {
        self.of_type("source-url").iter().filter_map(|frame| frame["url"].as_str()).collect()
    }

    /// The last frame, which must be the finish.
    ///
    /// # Panics
    /// When it is something else.
    pub fn finish(&self) -> &Value {
        let last = self.frames.last().expect("a reply has frames");
        assert_eq!(last["type"], "finish", "the last frame is the finish: {:?}", self.types());
        last
    }

    /// The id of the reply's thread, from the `finish` frame.
    ///
    /// # Panics
    /// When the frame has none.
    pub fn thread(&self) -> &str {
        let metadata = &self.finish()["messageMetadata"];
        metadata["threadId"].as_str().unwrap_or_else(|| panic!("the finish names the thread: {metadata}"))
    }
}
