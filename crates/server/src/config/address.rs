//! Addresses and names given on the command line and in the configuration.

use docent_http_client::is_near;
use http::Uri;
use http::uri::Scheme;

/// An `http` or `https` address without anything secret in it.
#[derive(Debug, Clone)]
pub(crate) struct BaseUrl(Uri);

impl BaseUrl {
    /// Parses an address. The error says what is wrong with it.
    pub(crate) fn parse(given: &str) -> Result<Self, &'static str> {
        let url: Uri = given.parse().map_err(|_| "this is not an address")?;
        if url.scheme() != Some(&Scheme::HTTP) && url.scheme() != Some(&Scheme::HTTPS) {
            return Err("the address must begin with https:// or http://");
        }
        match url.authority() {
            Some(authority) if authority.as_str().contains('@') => Err("the address must not hold credentials"),
            Some(authority) if !authority.host().is_empty() => {
                let is_plain = url.query().is_none() && !given.contains('#');
                if is_plain { Ok(Self(url)) } else { Err("the address must end with its path, without `?` and `#`") }
            }
            _ => Err("the address names no host"),
        }
    }

    pub(crate) fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Whether requests there can be read by others: plain http to a host outside of this machine and its network.
    pub(crate) fn is_in_the_clear(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTP) && !is_near(&self.0)
    }
}

/// Whether this can be the name of an environment variable.
pub(crate) fn is_variable(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_an_address_of_the_web_without_secrets() {
        for good in ["https://docs.example.com", "http://localhost:3000/docs/", "http://[::1]:8000/v1"] {
            assert!(BaseUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "docs",
            "docs.example.com",
            "/docs",
            "ftp://example.com",
            "https://",
            "https://a b",
            "javascript:alert(1)",
            "https://user:secret@example.com",
            "https://example.com/?q=1",
            "https://example.com/#x",
        ] {
            assert!(BaseUrl::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn plain_http_is_for_what_is_near() {
        let in_the_clear = |url: &str| BaseUrl::parse(url).expect("an address").is_in_the_clear();
        for near in
            ["http://127.0.0.1:1/v1", "http://[::1]/", "http://ollama:11434", "http://10.0.0.7/", "https://example.com"]
        {
            assert!(!in_the_clear(near), "{near}");
        }
        for far in ["http://example.com", "http://8.8.8.8/", "http://[2001:db8::1]/"] {
            assert!(in_the_clear(far), "{far}");
        }
    }

    #[test]
    fn a_variable_is_told_from_a_secret() {
        assert!(is_variable("ANTHROPIC_API_KEY") && is_variable("_x1"));
        for bad in ["", "1X", "sk-ant-x", "A B", "Ä", "$X"] {
            assert!(!is_variable(bad), "{bad}");
        }
    }
}
