//! Selects the proxy for a destination.

use std::sync::Arc;

use docent_types::is_loopback_host;
use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

/// The proxies of this machine, as `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` name them, in either case.
#[derive(Debug, Clone)]
pub(crate) struct Proxies(Arc<Matcher>);

impl Proxies {
    pub(crate) fn of_the_environment() -> Self {
        Self(Arc::new(Matcher::from_env()))
    }

    #[cfg(test)]
    pub(crate) fn of(proxy: &str, except: &str) -> Self {
        Self(Arc::new(Matcher::builder().all(proxy.to_owned()).no(except.to_owned()).build()))
    }

    /// The proxy for a destination, if there is one. This machine is always reached directly.
    pub(crate) fn for_destination(&self, destination: &Uri) -> Option<Intercept> {
        if is_loopback_host(destination.host().unwrap_or_default()) { None } else { self.0.intercept(destination) }
    }
}

/// Whether this kind of proxy is supported.
pub(crate) fn is_supported(proxy: &Intercept) -> bool {
    matches!(proxy.uri().scheme_str(), Some("http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_the_exceptions_are_reached_directly() {
        let proxies = Proxies::of("http://proxy.example:3128", "example.org, 10.0.0.0/8,.corp.example");
        let through = |text: &'static str| proxies.for_destination(&Uri::from_static(text)).is_some();
        assert!(through("https://api.example.com/") && through("http://api.example.com/"));
        for direct in [
            "http://127.0.0.1:9/",
            "https://localhost/",
            "http://[::1]/",
            "https://example.org/",
            "https://api.example.org/",
            "http://10.2.3.4/",
            "https://git.corp.example/",
        ] {
            assert!(!through(direct), "{direct}");
        }
    }
}
