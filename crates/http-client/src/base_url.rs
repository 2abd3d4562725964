//! The base URL of a server, to which the paths of its API are appended.

use docent_types::is_private_host;
use http::Uri;
use http::uri::Scheme;

/// An `http` or `https` URL without credentials, query and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Uri);

impl BaseUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(given: &str) -> Result<Self, &'static str> {
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

    pub fn uri(&self) -> &Uri {
        &self.0
    }

    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Whether requests there can be read by others: plain http to a host outside of this machine and its network.
    pub fn is_in_the_clear(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTP) && !is_private_host(self.host())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_of_the_web_and_holds_no_secret() {
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
    fn plain_http_is_for_the_own_network() {
        let in_the_clear = |url: &str| BaseUrl::parse(url).expect("an address").is_in_the_clear();
        for private in
            ["http://127.0.0.1:1/v1", "http://[::1]/", "http://ollama:11434", "http://10.0.0.7/", "https://example.com"]
        {
            assert!(!in_the_clear(private), "{private}");
        }
        for public in ["http://example.com", "http://8.8.8.8/", "http://[2001:db8::1]/"] {
            assert!(in_the_clear(public), "{public}");
        }
    }
}
