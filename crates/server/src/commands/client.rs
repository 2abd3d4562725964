//! A minimal HTTP client for the demo's calls of its own server.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use thiserror::Error;
use tokio::net::TcpStream;

/// A server and the API key for it.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    address: SocketAddr,
}

/// Why a request failed.
#[derive(Debug, Error)]
pub(crate) enum ClientError {
    #[error("could not talk to the server at {address}")]
    Connection { address: SocketAddr, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the server answered {status}: {body}")]
    Status { status: u16, body: String },
    #[error("the server's answer is not JSON")]
    Json(#[from] serde_json::Error),
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ClientError {
        ClientError::Connection { address: self.address, source: source.into() }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        key: &str,
        body: Option<&Value>,
    ) -> Result<Response<Incoming>, ClientError> {
        let stream = TcpStream::connect(self.address).await.map_err(|error| self.failed(error))?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.failed(error))?;
        // A failed connection is reported by reading the response.
        tokio::spawn(async move { drop(connection.await) });
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.map(Value::to_string).unwrap_or_default())))
            .map_err(|error| self.failed(error))?;
        let response = sender.send_request(request).await.map_err(|error| self.failed(error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.map_err(|error| self.failed(error))?.to_bytes();
        Err(ClientError::Status { status, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// Sends a request and reads the JSON response.
    pub(crate) async fn json(
        &self,
        method: &str,
        path: &str,
        key: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value), ClientError> {
        let response = self.send(method, path, key, body).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.map_err(|error| self.failed(error))?.to_bytes();
        Ok((status, serde_json::from_slice(&body)?))
    }

    /// Sends a request and passes on the data of each server-sent event.
    pub(crate) async fn events(
        &self,
        path: &str,
        key: &str,
        body: &Value,
        mut on_event: impl FnMut(&Value),
    ) -> Result<(), ClientError> {
        let mut body = self.send("POST", path, key, Some(body)).await?.into_body();
        let mut pending = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| self.failed(error))?;
            pending.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = pending.drain(..=end).collect();
                if let Some(data) = line.strip_prefix(b"data: ").filter(|data| !data.starts_with(b"[DONE]")) {
                    on_event(&serde_json::from_slice(data)?);
                }
            }
        }
        Ok(())
    }
}
