//! Keys and tokens that cannot be printed by accident.

use std::fmt;
use std::sync::Arc;

use http::HeaderValue;
use thiserror::Error;
use zeroize::Zeroizing;

/// A key or token for another server: hidden from `Debug`, without `Display`, and wiped from memory with its last
/// clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<Zeroizing<String>>);

/// The text cannot be a key. It is not repeated here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SecretError {
    #[error("the key is empty")]
    Empty,
    #[error("the key holds white space or characters that are not visible ASCII, which no key has")]
    NotAKey,
}

impl Secret {
    /// Parses a key as read from a variable or a file, without surrounding white space.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let key = text.trim();
        if key.is_empty() {
            return Err(SecretError::Empty);
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretError::NotAKey);
        }
        Ok(Self(Arc::new(Zeroizing::new(key.to_owned()))))
    }

    /// The secret itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// As the value of an `Authorization` header.
    pub fn bearer(&self) -> HeaderValue {
        sensitive(&format!("Bearer {}", self.expose()))
    }

    /// As the value of a header that contains nothing else, such as `x-api-key` or `private-token`.
    pub fn header(&self) -> HeaderValue {
        sensitive(self.expose())
    }

    /// Replaces occurrences of the secret in a text from another server.
    pub fn scrub(&self, text: &str) -> String {
        text.replace(self.expose(), "…")
    }
}

fn sensitive(text: &str) -> HeaderValue {
    // A parsed secret is visible ASCII, which every header accepts.
    let mut value = HeaderValue::from_str(text).expect("visible ASCII is a header value");
    value.set_sensitive(true);
    value
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_shown_by_nothing_but_expose() {
        let secret = Secret::parse(" sk-live-4711\n").expect("a key");
        assert_eq!(secret.expose(), "sk-live-4711");
        assert_eq!(format!("{:?}", Some(&secret)), "Some(…)");
        assert_eq!(secret.bearer(), "Bearer sk-live-4711");
        assert_eq!(secret.header(), "sk-live-4711");
        assert_eq!(format!("{:?}", secret.bearer()), "Sensitive");
        assert_eq!(secret.scrub("invalid key sk-live-4711 given"), "invalid key … given");
    }

    #[test]
    fn malformed_keys_are_refused_without_being_repeated() {
        assert_eq!(Secret::parse(" \n").err(), Some(SecretError::Empty));
        for text in ["two words", "line\nbreak", "schlüssel", "nul\0"] {
            let error = Secret::parse(text).expect_err(text);
            assert_eq!(error, SecretError::NotAKey);
            assert!(!error.to_string().contains(text));
        }
    }
}
