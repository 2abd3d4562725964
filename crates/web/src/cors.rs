//! Which origins' scripts may read an answer.
//!
//! Keys travel in the `Authorization` header and never in cookies, so opening an answer to any origin gives a page
//! nothing that it could not request without its visitor's browser.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderMap, ORIGIN, VARY,
};
use http::{HeaderName, HeaderValue};

use crate::methods::Methods;
use crate::respond::Response;

/// The origins whose scripts may read an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    Any,
    /// Only these, in the form browsers send: `https://docs.example.com`.
    Only(Vec<String>),
}

/// The answer to a preflight: 204, cacheable for a day, allowing `methods` and the requested headers.
pub fn preflight(request: &HeaderMap, methods: Methods, origins: &Origins) -> Response {
    let mut response = methods.options();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods.header());
    let asked = request.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        asked.unwrap_or_else(|| HeaderValue::from_static("authorization, content-type")),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    vary(headers, ACCESS_CONTROL_REQUEST_HEADERS);
    allow(request, headers, origins);
    response
}

/// Lets scripts of `origins` read an answer, errors included, and the headers listed in `exposed`.
pub fn add_headers(request: &HeaderMap, response: &mut HeaderMap, origins: &Origins, exposed: &'static str) {
    allow(request, response, origins);
    response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
}

fn allow(request: &HeaderMap, response: &mut HeaderMap, origins: &Origins) {
    match origins {
        Origins::Any => {
            response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        Origins::Only(listed) => {
            vary(response, ORIGIN);
            let origin =
                request.get(ORIGIN).filter(|origin| listed.iter().any(|one| one.as_bytes() == origin.as_bytes()));
            if let Some(origin) = origin {
                response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            }
        }
    }
}

fn vary(headers: &mut HeaderMap, on: HeaderName) {
    headers.append(VARY, HeaderValue::from(on));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(origin: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
        headers
    }

    #[test]
    fn a_preflight_lets_any_page_ask_for_a_day() {
        let mut asked = from("https://docs.example.com");
        asked.insert(ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("authorization,x-odd"));
        let response = preflight(&asked, Methods::POST, &Origins::Any);
        assert_eq!(response.status(), 204);
        let headers = response.headers();
        assert_eq!(headers["access-control-allow-origin"], "*");
        assert_eq!(headers["access-control-allow-methods"], "POST, OPTIONS");
        assert_eq!(headers["access-control-allow-headers"], "authorization,x-odd");
        assert_eq!(headers["access-control-max-age"], "86400");
    }

    #[test]
    fn a_list_of_origins_is_kept_and_caches_are_told() {
        let only = Origins::Only(vec!["https://docs.example.com".to_owned()]);
        for (origin, allowed) in [("https://docs.example.com", true), ("https://evil.example", false), ("null", false)]
        {
            let mut headers = HeaderMap::new();
            add_headers(&from(origin), &mut headers, &only, "X-Request-Id");
            assert_eq!(
                headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).map(HeaderValue::as_bytes),
                allowed.then_some(origin.as_bytes())
            );
            assert_eq!(headers[VARY], "origin");
        }
    }
}
