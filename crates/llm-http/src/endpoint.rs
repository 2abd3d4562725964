//! The address, key and limits of a model.

use std::fmt;
use std::time::Duration;

use docent_http_client::{BaseUrl, Secret};
use http::Uri;
use thiserror::Error;

/// The configuration of a model. `Debug` hides the key.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Base URL of the API; `None` for the provider's own. A trailing slash and the end of the API's own path are
    /// ignored.
    ///
    /// - [`Anthropic`](crate::Anthropic): the part before `/v1/messages`; the default is `https://api.anthropic.com`.
    /// - [`OpenAi`](crate::OpenAi): the part before `/chat/completions`; the default is `https://api.openai.com/v1`. An
    ///   address without a path, such as `http://127.0.0.1:8080`, gets `/v1`.
    pub base_url: Option<String>,
    /// `None` for servers without authentication.
    pub key: Option<Secret>,
    /// Where the key is configured, such as the name of a variable, for error sentences.
    pub key_source: Option<String>,
    /// The provider's name for the model.
    pub model: String,
    /// Maximum number of tokens of a request and its reply together; `None` for the provider's default: 200,000 for
    /// Anthropic, 128,000 for the others. Must be set for small local models, which have less.
    pub context_tokens: Option<u32>,
    /// Maximum number of tokens of a reply, whatever a request allows.
    pub max_reply_tokens: Option<u32>,
    /// Maximum time between two pieces of a reply. The client's own limit applies too.
    pub idle: Duration,
}

impl Endpoint {
    /// An endpoint with the provider's own URL, no key, and an idle limit of 60 seconds.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            base_url: None,
            key: None,
            key_source: None,
            model: model.into(),
            context_tokens: None,
            max_reply_tokens: None,
            idle: Duration::from_secs(60),
        }
    }
}

/// The `base_url` is not a base URL.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a base URL: write https://HOST or http://HOST, optionally with a port and a path")]
pub struct EndpointError(String);

/// A base URL without a trailing slash, to which the paths of an API are appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base(String);

impl Base {
    /// Parses a URL and removes the given suffixes of the API's own path.
    pub(crate) fn parse(text: &str, own_ends: &[&str]) -> Result<Self, EndpointError> {
        let shown = || EndpointError(text.rsplit_once('@').map_or(text, |(_, host)| host).to_owned());
        let mut base = text.trim().trim_end_matches('/');
        for end in own_ends {
            base = base.strip_suffix(end).unwrap_or(base).trim_end_matches('/');
        }
        BaseUrl::parse(base).map(|_| Self(base.to_owned())).map_err(|_| shown())
    }

    /// Appends a path if the URL has none.
    pub(crate) fn or_path(self, path: &str) -> Self {
        let has_path = self.0.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
        if has_path { self } else { Self(self.0 + path) }
    }

    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.0.parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(|own| own.eq_ignore_ascii_case(host)))
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_an_http_address_without_anything_secret() {
        for (text, base) in [
            ("https://api.example.com/", "https://api.example.com"),
            (" http://127.0.0.1:8080/x/v1// ", "http://127.0.0.1:8080/x/v1"),
        ] {
            assert_eq!(Base::parse(text, &[]), Ok(Base(base.to_owned())), "{text}");
        }
        for text in ["", "api.example.com", "ftp://example.com", "https://a/?key=1", "https://a/#x", "https://", "/v1"]
        {
            assert!(Base::parse(text, &[]).is_err(), "{text}");
        }
        let error = Base::parse("https://me:hunter2@example.com", &[]).expect_err("a password");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
