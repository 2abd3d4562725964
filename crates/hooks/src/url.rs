//! The URL to which events are posted.

use std::fmt;

use docent_http_client::BaseUrl;
use http::Uri;

/// An `https` URL without credentials, or an `http` URL of this machine or its network. `Display` and `Debug` show its
/// host alone, because many receivers keep a secret in the path or the query.
#[derive(Clone, PartialEq, Eq)]
pub struct HookUrl(Uri);

impl HookUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it, without repeating it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains('#') {
            return Err("the address must not hold a `#`");
        }
        let base = BaseUrl::parse(text.split_once('?').map_or(text, |(base, _)| base))?;
        if base.is_in_the_clear() {
            return Err("events are not sent to another network over plain http; use https");
        }
        text.parse().map(Self).map_err(|_| "this is not an address")
    }

    pub fn uri(&self) -> &Uri {
        &self.0
    }
}

impl fmt::Display for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, authority) = (self.0.scheme_str().unwrap_or_default(), self.0.authority());
        write!(f, "{scheme}://{}", authority.map_or("", |authority| authority.as_str()))?;
        let rest = self.0.path_and_query().map_or("/", |rest| rest.as_str());
        f.write_str(if rest == "/" { "/" } else { "/…" })
    }
}

impl fmt::Debug for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_reached_safely_and_its_path_is_not_shown() {
        for (given, shown) in [
            ("https://example.com", "https://example.com/"),
            ("https://example.com:8443/docent", "https://example.com:8443/…"),
            ("https://example.com/?code=s3cret", "https://example.com/…"),
            ("http://127.0.0.1:9/hook?a=b&c", "http://127.0.0.1:9/…"),
            ("http://receiver/hook", "http://receiver/…"),
        ] {
            let url = HookUrl::parse(given).expect(given);
            assert_eq!((url.to_string(), format!("{url:?}")), (shown.to_owned(), shown.to_owned()));
            let rest = given.split_once("//").map_or("", |(_, rest)| rest);
            assert!(url.uri().to_string().contains(rest), "{given}: nothing is lost of it");
        }
        for bad in [
            "",
            "example.com/hook",
            "ftp://example.com",
            "https://user:pass@example.com/",
            "https://example.com/#x",
            "https://example.com/?a=b#x",
            "https://example.com/?a b",
            "http://example.com/hook",
            "http://8.8.8.8/",
        ] {
            assert!(HookUrl::parse(bad).is_err(), "{bad}");
        }
    }
}
