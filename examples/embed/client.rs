//! The other end of the wire: a client that knows nothing but the HTTP API.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::BoxError;

/// How long a job of the sample may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Client {
    http: Hyper<HttpConnector, Full<Bytes>>,
    address: SocketAddr,
}

/// A streamed reply, put together.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The pages it leans on.
    pub(crate) sources: Vec<String>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { http: Hyper::builder(TokioExecutor::new()).build_http(), address }
    }

    pub(crate) async fn get(&self, path: &str, key: Option<&str>) -> Result<(u16, Value), BoxError> {
        read(self.send(Method::GET, path, key, Bytes::new()).await?).await
    }

    async fn post(&self, path: &str, key: &str, body: &Value) -> Result<Response<Incoming>, BoxError> {
        self.send(Method::POST, path, Some(key), Bytes::from(body.to_string())).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Bytes,
    ) -> Result<Response<Incoming>, BoxError> {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        request = request.header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        Ok(self.http.request(request.body(Full::new(body))?).await?)
    }

    /// Creates a job and waits until it is no longer active.
    pub(crate) async fn job_to_its_end(&self, project: &str, key: &str, prompt: &str) -> Result<Value, BoxError> {
        let path = format!("/v2/agent/{project}/job");
        let (status, created) = read(self.post(&path, key, &json!({ "prompt": prompt })).await?).await?;
        if status != 201 {
            return Err(format!("the job was not accepted: {status} {created}").into());
        }
        // Answered as soon as the job has ended, and after 30 seconds at the latest.
        let path = format!("{path}/{}?wait=30", created["id"].as_str().unwrap_or_default());
        let ended = async {
            loop {
                let (_, job) = self.get(&path, Some(key)).await?;
                if job["status"] != "active" {
                    return Ok(job);
                }
            }
        };
        timeout(PATIENCE, ended).await?
    }

    /// Asks the assistant, and reads the stream to its end.
    pub(crate) async fn answer(&self, domain: &str, key: &str, question: &str) -> Result<Answer, BoxError> {
        let message = json!({ "id": "q1", "role": "user", "parts": [{ "type": "text", "text": question }] });
        let body = json!({ "fp": "anonymous", "messages": [message], "retrievalPageSize": 3 });
        let response = self.post(&format!("/discovery/v2/assistant/{domain}/message"), key, &body).await?;
        let status = response.status();
        // Each event is one line, `data: ` and JSON; the last one is `[DONE]`. A chat would show them as they come.
        let stream = response.into_body().collect().await?.to_bytes();
        let stream = String::from_utf8(stream.to_vec())?;
        if !status.is_success() {
            return Err(format!("the assistant was not willing: {status} {stream}").into());
        }
        let mut answer = Answer::default();
        for data in stream.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]") {
            let event: Value = serde_json::from_str(data)?;
            match event["type"].as_str().unwrap_or_default() {
                "text-delta" => answer.text.push_str(event["delta"].as_str().unwrap_or_default()),
                "source-url" => answer.sources.extend(event["url"].as_str().map(str::to_owned)),
                "error" => return Err(event["errorText"].to_string().into()),
                _ => {}
            }
        }
        Ok(answer)
    }
}

async fn read(response: Response<Incoming>) -> Result<(u16, Value), BoxError> {
    let status = response.status().as_u16();
    Ok((status, serde_json::from_slice(&response.into_body().collect().await?.to_bytes())?))
}
