//! The id of a request in answers and logs.

use std::fmt;
use std::sync::Arc;

use docent_types::Ids;
use http::{HeaderMap, HeaderName};
use uuid::fmt::Hyphenated;

/// The id of a request in answers and logs.
#[derive(Clone)]
pub struct RequestId(Text);

#[derive(Clone)]
enum Text {
    /// Generated here, so of fixed length and stored without an allocation.
    Ours([u8; Hyphenated::LENGTH]),
    Theirs(Arc<str>),
}

impl RequestId {
    /// The header that carries it, in requests and answers.
    pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

    /// A client's own id, if it is safe in a log line: up to 128 letters, digits and `-_.:/+=`.
    pub fn of(text: &str) -> Option<Self> {
        let fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
        (!text.is_empty() && text.len() <= 128 && text.bytes().all(fit)).then(|| Self(Text::Theirs(text.into())))
    }

    pub(crate) fn choose(headers: &HeaderMap, ids: &dyn Ids) -> Self {
        let given = headers.get(Self::HEADER).and_then(|value| value.to_str().ok()).and_then(Self::of);
        given.unwrap_or_else(|| {
            let mut text = [0; Hyphenated::LENGTH];
            ids.unguessable().hyphenated().encode_lower(&mut text);
            Self(Text::Ours(text))
        })
    }

    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Ours(text) => str::from_utf8(text).expect("digits, letters and hyphens"),
            Text::Theirs(text) => text,
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Ours(text) => text,
            Text::Theirs(text) => text.as_bytes(),
        }
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RequestId {}

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
