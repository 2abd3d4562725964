//! JSON answers with an `ETag`.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::body::Body;
use crate::entity_tag::EntityTag;
use crate::error::HttpError;
use crate::request::Request;
use crate::respond::{FEW, Response, unwritable, with_headers, written};

/// 200 with `value` as JSON and an `ETag`, or 304 without a body if the client's `If-None-Match` lists that tag.
pub fn json_unless_known<T: Serialize>(request: &Request, value: &T) -> Response {
    written(value).map_or_else(|error| unwritable(&error), |bytes| TaggedJson::from(bytes).unless_known(request))
}

/// JSON and its `ETag`, serialized once and sent many times.
#[derive(Debug, Clone)]
pub struct TaggedJson {
    bytes: Bytes,
    tag: EntityTag,
}

impl TaggedJson {
    /// # Errors
    /// 500 for a type whose `Serialize` fails.
    pub fn of<T: Serialize>(value: &T) -> Result<Self, HttpError> {
        written(value).map(Self::from).map_err(HttpError::internal)
    }

    /// 200 with the body, or 304 without it if the client's `If-None-Match` lists its tag.
    pub fn unless_known(&self, request: &Request) -> Response {
        let mut response = if self.tag.is_known_to(request.header_values(IF_NONE_MATCH)) {
            with_headers(StatusCode::NOT_MODIFIED, Body::empty(), FEW)
        } else {
            let mut response = with_headers(StatusCode::OK, Body::full(self.bytes.clone()), FEW);
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        };
        response.headers_mut().insert(ETAG, self.tag.value().clone());
        response
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl From<Vec<u8>> for TaggedJson {
    fn from(bytes: Vec<u8>) -> Self {
        Self { tag: EntityTag::of(&bytes), bytes: bytes.into() }
    }
}
