//! Answers.

use bytes::Bytes;
use futures::Stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use crate::body::Body;

/// An answer.
pub type Response = http::Response<Body>;

/// `value` as JSON.
pub fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => bytes_of(status, "application/json", bytes),
        Err(error) => {
            // Only a type that refuses to be written comes here; none of ours does.
            tracing::error!(%error, "an answer could not be written as JSON");
            let sentence = r#"{"error":"The answer could not be written. Report this."}"#;
            bytes_of(StatusCode::INTERNAL_SERVER_ERROR, "application/json", sentence)
        }
    }
}

/// Bytes of the given content type.
pub fn bytes_of(status: StatusCode, content_type: &'static str, bytes: impl Into<Bytes>) -> Response {
    let mut response = http::Response::new(Body::full(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A status alone: 204, or a redirection whose headers the caller adds.
pub fn empty(status: StatusCode) -> Response {
    let mut response = http::Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// 200 and a body that is sent as it comes about, past caches and buffering proxies.
pub fn stream(content_type: &'static str, stream: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let mut response = http::Response::new(Body::stream(stream));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
