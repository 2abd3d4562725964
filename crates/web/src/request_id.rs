//! The id of a request in answers and logs.

use std::fmt;
use std::sync::Arc;

use docent_types::Ids;
use http::{HeaderMap, HeaderName};

/// The id of a request in answers and logs.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The header that carries it, in requests and answers.
    pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

    /// A client's own id, if it is safe in a log line: up to 128 letters, digits and `-_.:/+=`.
    pub fn of(text: &str) -> Option<Self> {
        let fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
        (!text.is_empty() && text.len() <= 128 && text.bytes().all(fit)).then(|| Self(text.into()))
    }

    pub(crate) fn choose(headers: &HeaderMap, ids: &dyn Ids) -> Self {
        let given = headers.get(Self::HEADER).and_then(|value| value.to_str().ok()).and_then(Self::of);
        given.unwrap_or_else(|| Self::generate(ids))
    }

    pub(crate) fn generate(ids: &dyn Ids) -> Self {
        Self(ids.unguessable().to_string().into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestId").field(&self.as_str()).finish()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
