//! Builds answers.

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
    serde_json::to_vec(value)
        .map_or_else(|error| unwritable(&error), |bytes| bytes_of(status, "application/json", bytes))
}

/// Reached only by a type whose `Serialize` fails; none of ours does.
pub(crate) fn unwritable(error: &serde_json::Error) -> Response {
    tracing::error!(%error, "an answer could not be written as JSON");
    let sentence = r#"{"error":"The answer could not be written. Report this."}"#;
    bytes_of(StatusCode::INTERNAL_SERVER_ERROR, "application/json", sentence)
}

/// Adds `Cache-Control: no-store`, unless the answer has a `Cache-Control` already. For answers that only the holder of
/// a key may see.
pub fn not_to_be_stored(response: &mut Response) {
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Bytes of the given content type.
pub fn bytes_of(status: StatusCode, content_type: &'static str, bytes: impl Into<Bytes>) -> Response {
    let mut response = http::Response::new(Body::full(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A status without a body: 204, or a redirect whose headers the caller adds.
pub fn empty(status: StatusCode) -> Response {
    let mut response = http::Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// 200 and a body that is sent while it is being produced, with headers against caching and proxy buffering.
pub fn stream(content_type: &'static str, stream: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let mut response = http::Response::new(Body::stream(stream));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
