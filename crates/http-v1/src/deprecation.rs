//! The headers by which every answer of this version announces the newer one.

use docent_web::{Request, Response};
use http::header::LINK;
use http::{HeaderName, HeaderValue};

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
/// Date of the deprecation, in the format of RFC 9745: seconds since 1970. It is 2026-11-21.
const SINCE: HeaderValue = HeaderValue::from_static("@1795219200");

/// Sets the headers on `response`.
pub(crate) fn deprecate(request: &Request, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(DEPRECATION, SINCE);
    // Each path of this version has a counterpart in the next that differs only in the number. The path is still
    // percent-encoded, so it contains no character that ends a link.
    let path = request.path();
    let successor = ["/", "/discovery/"].into_iter().find_map(|base| {
        let rest = path.strip_prefix(base)?.strip_prefix("v1/")?;
        HeaderValue::try_from(format!("<{base}v2/{rest}>; rel=\"successor-version\"")).ok()
    });
    if let Some(link) = successor {
        headers.insert(LINK, link);
    }
    response
}
