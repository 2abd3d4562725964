//! The description of the HTTP API: `GET /openapi.json`, and `GET /docs/api`, the same as a page.
//!
//! `openapi.yaml` is kept by hand; tests hold it against the routes and the answers of a running server. This crate
//! knows nothing of what it describes.

#[cfg(test)]
mod breaking;
mod description;
mod page;

use docent_web::{HttpError, Methods, Request, Response, answer_unless_known, bytes_unless_known, respond};
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderValue, Method, StatusCode};

use crate::description::description;

/// Answers a request for the description; `None` for other paths.
pub fn answer(request: &Request) -> Option<Response> {
    let answer = match *request.segments().as_slice() {
        ["openapi.json"] => json,
        ["docs", "api"] => html,
        _ => return None,
    };
    if request.method() == Method::OPTIONS {
        return Some(Methods::GET.options());
    }
    let allowed = Methods::GET.check(request.method());
    let refused = |error: HttpError| error.response(request.id(), docent_web::ErrorShape::Error);
    Some(allowed.map_or_else(refused, |_| answer(request)))
}

fn json(request: &Request) -> Response {
    bytes_unless_known(request, "application/json", description().json.clone().into_bytes())
}

fn html(request: &Request) -> Response {
    answer_unless_known(request, &description().json, || {
        let page = page::page(&description().value).into_string();
        let mut response = respond::bytes_of(StatusCode::OK, "text/html; charset=utf-8", page);
        let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        response
    })
}
