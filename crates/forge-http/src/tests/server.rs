//! A server on this machine that gives scripted responses and records the requests.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A recorded request.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    /// As it was sent, still percent-encoded, without the query.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Asked {
    /// Method and path.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// A value of the query, percent-decoded.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.into_iter().find(|(key, _)| *key == name)?.1;
        Some(unescaped(value))
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

pub(super) fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// A response to send.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Answer {
    pub(super) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    #[allow(clippy::needless_pass_by_value, reason = "a story writes the value where it is answered")]
    pub(super) fn json(status: u16, body: Value) -> Self {
        Self::new(status, body.to_string()).with("content-type", "application/json")
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

type Script = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

pub(super) struct Server {
    authority: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let authority = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, seen): (Script, _) = (Arc::new(script), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                let service = service_fn(move |request| answer(request, Arc::clone(&script), Arc::clone(&seen)));
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { authority, asked, task }
    }

    /// A server that always sends the same response.
    pub(super) async fn saying(answer: Answer) -> Self {
        Self::start(move |_| answer.clone()).await
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.authority)
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    /// Method and path of all requests.
    pub(super) fn lines(&self) -> Vec<String> {
        self.asked().iter().map(Asked::line).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    script: Script,
    seen: Arc<Mutex<Vec<Asked>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let asked = Asked {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    seen.lock().push(asked.clone());
    let answer = script(&asked);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    Ok(response.body(Full::new(Bytes::from(answer.body))).expect("a response"))
}
