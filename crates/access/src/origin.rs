//! Web origins, the values of `--allow-origin` and of the `Origin` header.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A scheme, a host and a port: `https://docs.example.com`. Lower case, without the scheme's default port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin(String);

/// Why a text is not an origin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{given}` is not an origin: write scheme, host and, if need be, port, such as `https://docs.example.com`")]
pub struct OriginError {
    given: String,
}

impl Origin {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn parse(text: &str) -> Option<String> {
    let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    let (scheme, host) = text.split_once("://")?;
    let own_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let host = host.strip_suffix(own_port).unwrap_or(host);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_name = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
    };
    (is_name && port.is_none_or(is_port)).then(|| format!("{scheme}://{host}"))
}

impl FromStr for Origin {
    type Err = OriginError;
    fn from_str(text: &str) -> Result<Self, OriginError> {
        let origin = parse(text.trim()).map(Self);
        origin.ok_or_else(|| OriginError { given: text.chars().take(80).collect() })
    }
}

impl TryFrom<String> for Origin {
    type Error = OriginError;
    fn try_from(text: String) -> Result<Self, OriginError> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> String {
        origin.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_place_is_the_same_origin() {
        let table = [
            ("https://docs.example.com", "https://docs.example.com"),
            ("https://Docs.Example.com/", "https://docs.example.com"),
            ("HTTPS://docs.example.com:443", "https://docs.example.com"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://localhost:80/", "http://localhost"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://[::1]", "http://[::1]"),
            ("https://127.0.0.1:80", "https://127.0.0.1:80"),
        ];
        for (given, expected) in table {
            assert_eq!(given.parse::<Origin>().expect(given).as_str(), expected);
        }
    }

    #[test]
    fn malformed_origins_are_refused() {
        for bad in [
            "", "null", "*", "docs.example.com", "https://", "https:///", "ftp://a", "https://a/b", "https://a?b",
            "https://u@a", "https://a:x", "https://a:99999", "https://a:", "https://a b", "https://[a]", "https://*.a",
        ] {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text: String) {
            let _ = text.parse::<Origin>();
            if let Ok(origin) = format!("https://{text}").parse::<Origin>() {
                prop_assert_eq!(origin.as_str().parse::<Origin>(), Ok(origin));
            }
        }
    }
}
