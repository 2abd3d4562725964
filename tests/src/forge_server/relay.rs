//! A proxy before a third-party server that records all requests and responses.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::http::{Headers, Request};
use crate::http_server::{AfterAnswer, Connection, Received, listen};

/// A running relay. It ends with the process.
#[derive(Debug, Clone)]
pub struct Relay {
    address: SocketAddr,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

/// One request and its response.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub method: String,
    pub target: String,
    /// Keyed by lower-case name.
    pub headers: HashMap<String, String>,
    /// Null if the body is not JSON.
    pub body: Value,
    pub status: u16,
    pub answer_headers: Headers,
    pub answer: Value,
}

impl Relay {
    /// Starts a relay to `upstream`.
    pub fn start(upstream: SocketAddr) -> Self {
        let exchanges: Arc<Mutex<Vec<Exchange>>> = Arc::default();
        let kept = exchanges.clone();
        let handler = move |received, connection: &mut Connection| pass(received, connection, upstream, &kept);
        Self { address: listen(0, Arc::new(handler)), exchanges }
    }

    /// `http://ADDR`, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All exchanges so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.lock().clone()
    }
}

fn pass(
    received: Received,
    connection: &mut Connection,
    upstream: SocketAddr,
    kept: &Mutex<Vec<Exchange>>,
) -> io::Result<AfterAnswer> {
    let Received { method, target, headers, body } = received;
    let mut request = Request::new(&method, target.clone());
    for (name, value) in &headers {
        // Connection-specific headers are not forwarded.
        if !matches!(name.as_str(), "host" | "connection" | "content-length" | "transfer-encoding" | "accept-encoding")
        {
            request = request.header(name, value.clone());
        }
    }
    if !body.is_empty() {
        request = request.body(body.clone());
    }
    let answer = request.send(upstream)?;
    let exchange = Exchange {
        method,
        target,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        status: answer.status,
        answer_headers: answer.headers.clone(),
        answer: serde_json::from_slice(&answer.body).unwrap_or_default(),
    };
    kept.lock().push(exchange);
    let of_the_connection = ["connection", "keep-alive", "content-length", "transfer-encoding"];
    let passed = answer.headers.iter().filter(|(name, _)| !of_the_connection.contains(&&*name.to_ascii_lowercase()));
    let passed: Vec<(&str, String)> = passed.map(|(name, value)| (name, value.to_owned())).collect();
    connection.answer(answer.status, &passed, &answer.body)
}
