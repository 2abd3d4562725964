//! Every answer that is not a success, in one envelope: `{"error": "sentence"}`.

use std::error::Error;
use std::time::Duration;

use docent_types::{BoxError, CallError, Refusal, RefusalKind, StoreError, error_chain, retry_after_seconds};
use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Serialize;

use crate::methods::Methods;
use crate::rate_limit::rate_limit;
use crate::request_id::RequestId;
use crate::respond::{self, Response};

/// When a request that met a database that is away may be sent again.
const UNAVAILABLE_RETRY: Duration = Duration::from_secs(5);

/// Why a request gets no 2xx.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// A refusal of the core, or one of HTTP that a core could have made: 400, 401, 403, 404, 409, 413, 429, 503.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// 405.
    #[error("`{method}` does not work here. Use {}.", allowed.sentence_list(" or "))]
    MethodNotAllowed { method: Method, allowed: Methods },
    /// 408: the body took too long.
    #[error("the body did not arrive within {} seconds. Send it again in one go.", after.as_secs())]
    RequestTimeout { after: Duration },
    /// 415: the body is not what the endpoint reads.
    #[error("{0}")]
    UnsupportedMediaType(String),
    /// 500. The source is logged and never sent.
    #[error("a request could not be answered")]
    Internal(#[source] BoxError),
}

/// The keys that hold the error sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorShape {
    /// `error`.
    Error,
    /// `error`, and the same under `message` for clients that look there.
    ErrorAndMessage,
    /// `error`; and of a 400 the same under `details[0].message` for clients that look there.
    ErrorAndDetails,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<[Detail<'a>; 1]>,
}

#[derive(Serialize)]
struct Detail<'a> {
    message: &'a str,
}

impl HttpError {
    /// An internal failure: 500; 503 if its cause is a store that is away for the moment.
    pub fn internal(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        if !is_of_an_unavailable_store(&*source) {
            return Self::Internal(source);
        }
        tracing::warn!(error = error_chain(&*source), "the database cannot be reached");
        let kind = RefusalKind::Unavailable(UNAVAILABLE_RETRY);
        let sentence = "the database cannot be reached at the moment; send the request again in a moment, with the same \
                        `Idempotency-Key` if it has one";
        Refusal::new(kind, sentence).into()
    }

    /// 404 for a path without an endpoint.
    pub fn no_such_path(path: &str) -> Self {
        let shown: String = path.chars().take(200).collect();
        Refusal::not_found(format!("There is no endpoint at `{shown}`. Check the path against the API documentation."))
            .into()
    }

    /// 413 for a body over `limit` bytes.
    pub fn too_large(limit: usize) -> Self {
        let sentence = format!("The body is larger than {limit} bytes, the most this endpoint takes. Send less.");
        Refusal::new(RefusalKind::TooLarge, sentence).into()
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Self::Refused(refusal) => match refusal.kind {
                RefusalKind::Invalid => StatusCode::BAD_REQUEST,
                RefusalKind::Unauthenticated => StatusCode::UNAUTHORIZED,
                RefusalKind::Forbidden => StatusCode::FORBIDDEN,
                RefusalKind::NotFound => StatusCode::NOT_FOUND,
                RefusalKind::Conflict => StatusCode::CONFLICT,
                RefusalKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                RefusalKind::Limited(_) => StatusCode::TOO_MANY_REQUESTS,
                RefusalKind::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            },
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The answer to send. Errors are handled here, so an internal failure is logged here and nowhere else.
    pub fn response(&self, request: &RequestId, shape: ErrorShape) -> Response {
        let sentence = match self {
            Self::Internal(source) => {
                tracing::error!(error = error_chain(&**source), "could not answer a request");
                format!("Something failed on our side. Try again; if it fails again, report request id `{request}`.")
            }
            text => as_sentence(&text.to_string()),
        };
        let message = (shape == ErrorShape::ErrorAndMessage).then_some(sentence.as_str());
        let has_details = shape == ErrorShape::ErrorAndDetails && self.status() == StatusCode::BAD_REQUEST;
        let details = has_details.then_some([Detail { message: &sentence }]);
        let mut response = respond::json(self.status(), &ErrorBody { error: &sentence, message, details });
        self.headers(response.headers_mut());
        response
    }

    fn headers(&self, headers: &mut HeaderMap) {
        match self {
            Self::Refused(refusal) => match &refusal.kind {
                RefusalKind::Unauthenticated => {
                    headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                }
                RefusalKind::Limited(quota_status) => {
                    rate_limit(headers, quota_status);
                    headers.insert(RETRY_AFTER, HeaderValue::from(retry_after_seconds(quota_status.retry_after)));
                }
                RefusalKind::Unavailable(wait) => {
                    headers.insert(RETRY_AFTER, HeaderValue::from(retry_after_seconds(*wait)));
                }
                _ => {}
            },
            Self::MethodNotAllowed { allowed, .. } => {
                headers.insert(ALLOW, allowed.header());
            }
            Self::RequestTimeout { .. } | Self::UnsupportedMediaType(_) | Self::Internal(_) => {}
        }
    }
}

impl From<CallError> for HttpError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(refusal) => refusal.into(),
            CallError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> Self {
        Self::internal(error)
    }
}

fn is_of_an_unavailable_store(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(StoreError::is_unavailable)
        || error.source().is_some_and(is_of_an_unavailable_store)
}

/// Error texts are written to follow a colon; here the text becomes a sentence with a capital and a full stop. A
/// leading field name keeps its case.
fn as_sentence(text: &str) -> String {
    let mut sentence = String::with_capacity(text.len() + 1);
    let names_a_field = text.split(' ').next().is_some_and(|word| word.ends_with(':'));
    let mut chars = text.chars();
    if let Some(first) = chars.next().filter(|_| !names_a_field) {
        sentence.extend(first.to_uppercase());
        sentence.push_str(chars.as_str());
    } else {
        sentence.push_str(text);
    }
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use docent_types::QuotaStatus;
    use http_body_util::BodyExt;

    use super::*;

    fn id() -> RequestId {
        RequestId::of("req-1").expect("a good id")
    }

    async fn body(response: Response) -> String {
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    fn refused(kind: RefusalKind) -> HttpError {
        Refusal::new(kind, "no.").into()
    }

    #[test]
    fn every_refusal_has_its_status() {
        let quota_status =
            QuotaStatus { limit: 1, window: Duration::ZERO, remaining: 0, retry_after: Duration::from_millis(1500) };
        for (kind, status) in [
            (RefusalKind::Invalid, 400),
            (RefusalKind::Unauthenticated, 401),
            (RefusalKind::Forbidden, 403),
            (RefusalKind::NotFound, 404),
            (RefusalKind::Conflict, 409),
            (RefusalKind::TooLarge, 413),
            (RefusalKind::Limited(quota_status), 429),
            (RefusalKind::Unavailable(Duration::ZERO), 503),
        ] {
            assert_eq!(refused(kind).status(), status);
        }
    }

    #[tokio::test]
    async fn the_envelope_has_the_sentence_once_or_twice() {
        let error = refused(RefusalKind::NotFound);
        assert_eq!(body(error.response(&id(), ErrorShape::Error)).await, r#"{"error":"No."}"#);
        let both = error.response(&id(), ErrorShape::ErrorAndMessage);
        assert_eq!(both.headers()["content-type"], "application/json");
        assert_eq!(body(both).await, r#"{"error":"No.","message":"No."}"#);
    }

    #[test]
    fn an_error_becomes_a_sentence() {
        for (text, sentence) in [
            ("no key was given: send one", "No key was given: send one."),
            ("Already one.", "Already one."),
            ("threadId: there is none", "threadId: there is none."),
            ("`GET` is not", "`GET` is not."),
        ] {
            assert_eq!(as_sentence(text), sentence);
        }
    }

    #[test]
    fn each_no_says_in_headers_what_to_do() {
        let quota_status = QuotaStatus {
            limit: 100,
            window: Duration::from_secs(3600),
            remaining: 0,
            retry_after: Duration::from_millis(1500),
        };
        let answer = |error: HttpError| error.response(&id(), ErrorShape::Error);
        assert_eq!(answer(refused(RefusalKind::Unauthenticated)).headers()["www-authenticate"], "Bearer");
        let limited = answer(refused(RefusalKind::Limited(quota_status)));
        assert_eq!(limited.headers()["retry-after"], "2");
        assert_eq!(limited.headers()["ratelimit"], r#""default";r=0;t=2"#);
        assert_eq!(answer(refused(RefusalKind::Unavailable(Duration::ZERO))).headers()["retry-after"], "1");
        let method = HttpError::MethodNotAllowed { method: Method::PUT, allowed: Methods::GET };
        assert_eq!(answer(method).headers()["allow"], "GET, HEAD, OPTIONS");
    }

    #[test]
    fn a_database_out_of_reach_is_no_failure_of_ours() {
        let away = StoreError::unavailable("read a job", "the connection is refused");
        let answer = HttpError::from(away).response(&id(), ErrorShape::Error);
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()["retry-after"], "5");
        let caused =
            StoreError::new("merge", StoreError::unavailable("read a pull request", "the connection is refused"));
        assert_eq!(HttpError::internal(caused).status(), StatusCode::SERVICE_UNAVAILABLE);
        let full = StoreError::new("read a job", "the disk is full");
        assert_eq!(
            HttpError::from(full).response(&id(), ErrorShape::Error).status(),
            StatusCode::INTERNAL_SERVER_ERROR
        );
    }

    #[tokio::test]
    async fn a_failure_of_ours_shows_its_request_id_and_nothing_of_the_insides() {
        let error = HttpError::from(StoreError::new("read a job", "disk is on fire"));
        let text = body(error.response(&id(), ErrorShape::Error)).await;
        assert!(text.contains("req-1"), "{text}");
        assert!(!text.contains("disk") && !text.contains("job"), "{text}");
    }
}
