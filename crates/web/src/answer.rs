//! The handling that every request and every answer gets, independent of the handler.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use bytes::Bytes;
use docent_types::{BoxError, Ids};
use futures::FutureExt;
use http::header::{CONNECTION, EXPECT, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, Version};
use tracing::{Instrument, Level, error_span};

use crate::draining::Draining;
use crate::error::{ErrorShape, HttpError};
use crate::limits::ServerLimits;
use crate::request::Request;
use crate::request_id::RequestId;
use crate::respond::Response;

/// Answers requests. Any `Fn(Request) -> impl Future<Output = Response>` is one.
pub trait Handler: Send + Sync + 'static {
    /// The future is dropped when the client hangs up before there is an answer.
    fn handle(&self, request: Request) -> impl Future<Output = Response> + Send;
}

impl<F, Fut> Handler for F
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Response> + Send,
{
    fn handle(&self, request: Request) -> impl Future<Output = Response> + Send {
        self(request)
    }
}

/// Answers one request: gives it an id, catches a panic, writes the access log line.
///
/// [`crate::serve`] does this for every request; call it yourself to mount a handler in a server of your own.
pub async fn answer<H, B>(
    handler: &H,
    mut request: http::Request<B>,
    peer: SocketAddr,
    ids: &dyn Ids,
    limits: &ServerLimits,
) -> Response
where
    H: Handler,
    B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<BoxError>,
{
    let draining = request.extensions_mut().remove().unwrap_or_default();
    answer_until(draining, handler, request, peer, ids, limits).await
}

/// Like [`answer()`], with the shutdown signal for the handler.
pub(crate) async fn answer_until<H, B>(
    draining: Draining,
    handler: &H,
    request: http::Request<B>,
    peer: SocketAddr,
    ids: &dyn Ids,
    limits: &ServerLimits,
) -> Response
where
    H: Handler,
    B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<BoxError>,
{
    let id = RequestId::choose(request.headers(), ids);
    // At the highest level, so that every log line names its request.
    let span = error_span!("request", request_id = %id);
    let (version, asks_first) = (request.version(), request.headers().contains_key(EXPECT));
    let (request, unread) = Request::new(request, peer, id.clone(), limits.body, draining);
    let line = LogLine::if_wanted(&request);
    async {
        // Boxed, so that the future of the connection stays small while it waits for a request.
        let work = Box::pin(async { Ok(handler.handle(request).await) });
        let mut response = catch_panic(work).await.unwrap_or_else(|error| error.response(&id, ErrorShape::Error));
        // Reading the body would invite a client that asks first to send it.
        let is_read = if asks_first { unread.was_read() } else { unread.discard().await };
        let headers = response.headers_mut();
        if !is_read && version <= Version::HTTP_11 {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        // Letters, digits and a few signs, or a UUID: always a header value.
        if let Ok(value) = HeaderValue::from_str(id.as_str()) {
            headers.insert(RequestId::HEADER, value);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(line) = line {
            line.write(&response);
        }
        response
    }
    .instrument(span)
    .await
}

/// The line of the access log. Its fields are collected only when that log level is enabled.
struct LogLine {
    started: Instant,
    method: Method,
    path: String,
}

impl LogLine {
    fn if_wanted(request: &Request) -> Option<Self> {
        let (method, path) = (request.method(), request.path());
        tracing::enabled!(Level::DEBUG).then(|| Self {
            started: Instant::now(),
            method: method.clone(),
            path: without_tokens(path),
        })
    }

    fn write(&self, response: &Response) {
        tracing::debug!(
            method = %self.method,
            path = self.path,
            status = response.status().as_u16(),
            micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
            "answered"
        );
    }
}

/// The path with secret segments replaced: segments of 64 or more hexadecimal digits, such as the token of a sign-in
/// link.
fn without_tokens(path: &str) -> String {
    const TOKEN: usize = 64;
    let is_token = |segment: &str| segment.len() >= TOKEN && segment.bytes().all(|byte| byte.is_ascii_hexdigit());
    path.split('/').map(|segment| if is_token(segment) { "…" } else { segment }).collect::<Vec<_>>().join("/")
}

/// Turns a panic of `work` into a 500, for an API that gives its errors their own shape or headers.
///
/// # Errors
/// Those of `work`, and [`HttpError::Internal`] when it panics.
pub async fn catch_panic(work: impl Future<Output = Result<Response, HttpError>>) -> Result<Response, HttpError> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<&str>()
            .map(|said| (*said).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "without a message".to_owned());
        Err(HttpError::internal(format!("panicked: {said}")))
    })
}

#[cfg(test)]
mod tests {
    use docent_types::FixedIds;
    use http::StatusCode;
    use http_body_util::{BodyExt, Full};

    use super::*;
    use crate::respond;

    #[test]
    fn the_token_of_a_link_is_not_logged() {
        let token = "0123456789abcdef".repeat(4);
        assert_eq!(without_tokens(&format!("/dashboard/-/join/{token}")), "/dashboard/-/join/…");
        assert_eq!(without_tokens("/v2/agent/acme/jobs"), "/v2/agent/acme/jobs");
    }

    #[derive(Clone, Default)]
    struct Log(std::sync::Arc<parking_lot::Mutex<Vec<u8>>>);

    impl Log {
        /// Redirects the logs of this thread to a new log, until the guard is dropped.
        fn kept() -> (Self, tracing::subscriber::DefaultGuard) {
            let log = Self::default();
            let writer = log.clone();
            let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
            (log, tracing::subscriber::set_default(subscriber))
        }

        fn line(&self, part: &str) -> String {
            let text = String::from_utf8(self.0.lock().clone()).expect("UTF-8");
            text.lines()
                .find(|line| line.contains(part))
                .unwrap_or_else(|| panic!("no `{part}` in:\n{text}"))
                .to_owned()
        }
    }

    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    async fn ask<H: Handler>(handler: H, request: http::Request<Full<Bytes>>) -> (http::response::Parts, String) {
        let peer = SocketAddr::from(([127, 0, 0, 1], 9));
        let response = answer(&handler, request, peer, &FixedIds::default(), &ServerLimits::default()).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn every_answer_carries_its_request_id() {
        let handler = |_request: Request| async { respond::empty(StatusCode::NO_CONTENT) };
        let (parts, _) = ask(handler, http::Request::default()).await;
        assert_eq!(parts.headers["x-request-id"], "00000000-0000-0000-0000-000000000001");
        let given = http::Request::builder().header("x-request-id", "mine").body(Full::default()).unwrap();
        let (parts, _) = ask(handler, given).await;
        assert_eq!(parts.headers["x-request-id"], "mine");
    }

    #[tokio::test]
    async fn log_lines_of_a_request_have_its_id_as_a_field() {
        let (log, _guard) = Log::kept();
        let handler = |_request: Request| async {
            tracing::warn!("in the handler");
            let words = futures::stream::once(async {
                tracing::warn!("in the body");
                Bytes::from("words")
            });
            respond::stream("text/plain", words)
        };
        let given = http::Request::builder().header("x-request-id", "mine").body(Full::default()).unwrap();
        let (_, body) = ask(handler, given).await;
        assert_eq!(body, "words");
        for part in ["in the handler", "in the body"] {
            let line = log.line(part);
            assert!(line.contains("request{request_id=mine}"), "{line}");
        }
    }

    #[tokio::test]
    async fn a_panic_is_a_500_that_keeps_its_words_to_itself() {
        let handler = |request: Request| async move {
            assert!(request.path().is_empty(), "the vault code is 1234");
            respond::empty(StatusCode::NO_CONTENT)
        };
        let (parts, body) = ask(handler, http::Request::default()).await;
        assert_eq!(parts.status, 500);
        assert!(body.contains("00000000-0000-0000-0000-000000000001") && !body.contains("vault"), "{body}");
    }
}
