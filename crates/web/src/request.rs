//! A request, as a handler sees it.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

use bytes::Bytes;
use docent_types::{BoxError, Refusal};
use http::Method;
use http::header::{CONTENT_LENGTH, HeaderMap};
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::body_memory::{BufferedBody, Reservation};
use crate::draining::Draining;
use crate::error::HttpError;
use crate::request_id::RequestId;
use crate::target;
use crate::unread::{RequestBody, Rest, UnreadBody};

/// One request. Its body is read by [`Request::body`] or [`Request::json`], at most once.
pub struct Request {
    head: http::request::Parts,
    segments: Vec<String>,
    peer: SocketAddr,
    client: IpAddr,
    id: RequestId,
    body: RequestBody,
    /// The memory that the body takes, held for as long as the request lives.
    body_memory: Reservation,
    body_deadline: Duration,
    draining: Draining,
}

impl Request {
    pub(crate) fn new<B>(
        request: http::Request<B>,
        peer: SocketAddr,
        id: RequestId,
        body_deadline: Duration,
        draining: Draining,
    ) -> (Self, UnreadBody)
    where
        B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError>,
    {
        let (head, body) = request.into_parts();
        let segments = target::segments(head.uri.path());
        let (body, unread) = RequestBody::of(body);
        let request = Self {
            head,
            segments,
            peer,
            client: peer.ip(),
            id,
            body,
            body_memory: Reservation::default(),
            body_deadline,
            draining,
        };
        (request, unread)
    }

    pub fn method(&self) -> &Method {
        &self.head.method
    }

    /// The path as it was sent.
    pub fn path(&self) -> &str {
        self.head.uri.path()
    }

    /// The path's segments, each percent-decoded on its own.
    pub fn segments(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).collect()
    }

    /// The segment at this index, counted from 0; empty if there is none.
    pub fn segment(&self, index: usize) -> &str {
        self.segments.get(index).map_or("", String::as_str)
    }

    /// The first query parameter of this name, decoded.
    pub fn query(&self, name: &str) -> Option<Cow<'_, str>> {
        target::parameter(self.head.uri.query()?, name)
    }

    /// The query as it was sent, for parameters that may occur several times.
    pub fn raw_query(&self) -> Option<&str> {
        self.head.uri.query()
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The value of a header that occurs exactly once and is plain text.
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        let mut values = self.headers().get_all(name).iter();
        let value = values.next()?;
        if values.next().is_some() { None } else { value.to_str().ok() }
    }

    /// All values of a header.
    pub fn header_values(&self, name: impl http::header::AsHeaderName) -> impl Iterator<Item = &[u8]> {
        self.headers().get_all(name).iter().map(http::HeaderValue::as_bytes)
    }

    /// A query parameter that is a whole number within `bounds`, or `usual` when it is missing.
    ///
    /// # Errors
    /// 400, naming the parameter and its bounds.
    pub fn query_number(&self, name: &str, bounds: RangeInclusive<u32>, usual: u32) -> Result<u32, HttpError> {
        let number = self.query_number_if_any(name, bounds, format_args!("{usual} is usual"))?;
        Ok(number.unwrap_or(usual))
    }

    /// A query parameter that is a whole number within `bounds`, or `None` when it is missing.
    ///
    /// # Errors
    /// 400 with `advice`, naming the parameter and its bounds.
    pub fn query_number_if_any(
        &self,
        name: &str,
        bounds: RangeInclusive<u32>,
        advice: impl fmt::Display,
    ) -> Result<Option<u32>, HttpError> {
        let Some(given) = self.query(name).filter(|given| !given.is_empty()) else { return Ok(None) };
        let number = given.bytes().all(|byte| byte.is_ascii_digit()).then(|| given.parse().ok()).flatten();
        number.filter(|number| bounds.contains(number)).map(Some).ok_or_else(|| {
            let (least, most) = (bounds.start(), bounds.end());
            let sentence = format!("{name}: it must be a whole number from {least} to {most}; {advice}");
            Refusal::invalid(sentence).into()
        })
    }

    /// The shutdown signal of the server this request came to.
    pub fn draining(&self) -> &Draining {
        &self.draining
    }

    /// The address at the other end of the socket.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The client's address: the peer's, unless a trusted proxy's header was read and [set](Self::comes_from).
    pub fn client(&self) -> IpAddr {
        self.client
    }

    /// Sets the client's address.
    pub fn comes_from(&mut self, client: IpAddr) {
        self.client = client;
    }

    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Reads the whole body. The memory it takes is released when the request is dropped.
    ///
    /// # Errors
    /// 413 when it is over `limit` bytes, announced or counted; 408 when it takes too long; 400 when it ends early; 503
    /// when the process has no more memory for bodies.
    pub async fn body(&mut self, limit: usize) -> Result<Bytes, HttpError> {
        Ok(self.buffered(limit).await?.whole())
    }

    pub(crate) async fn buffered(&mut self, limit: usize) -> Result<BufferedBody, HttpError> {
        let announced = self.header(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if announced.is_some_and(|length| length > limit as u64) {
            return Err(HttpError::too_large(limit));
        }
        let after = self.body_deadline;
        let collected = timeout(after, self.collect(announced, limit)).await;
        let collected = collected.unwrap_or(Err(HttpError::RequestTimeout { after }));
        if collected.is_err() {
            self.body_memory = Reservation::default();
        }
        collected
    }

    async fn collect(&mut self, announced: Option<u64>, limit: usize) -> Result<BufferedBody, HttpError> {
        // A buffer grows with what arrives, not with what was announced.
        let most = announced.and_then(|length| usize::try_from(length).ok()).map_or(limit, |length| length.min(limit));
        let mut gathered = BufferedBody::of_at_most(most);
        let Some(mut body) = self.body.take() else { return Ok(gathered) };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| cut_short(&error))?;
            let Ok(data) = frame.into_data() else { continue };
            // An embedder's server may pass on more bytes than were announced.
            if gathered.len() + data.len() > most {
                self.body.leave(Rest::Incoming(body));
                return Err(HttpError::too_large(limit));
            }
            if let Err(no_room) = gathered.add(data, &mut self.body_memory) {
                self.body.leave(Rest::Incoming(body));
                return Err(no_room.into());
            }
        }
        self.body.leave(Rest::Nothing);
        Ok(gathered)
    }
}

fn cut_short(error: &BoxError) -> HttpError {
    // Mostly a client that disconnected, so that nobody reads the answer: not worth more than a debug line.
    tracing::debug!(%error, "a request body ended early");
    Refusal::invalid("The body ended before it was complete. Send the whole request again.").into()
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither headers nor query, because they may contain keys.
        f.debug_struct("Request")
            .field("method", self.method())
            .field("path", &self.path())
            .field("peer", &self.peer())
            .field("id", self.id())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use docent_types::RandomIds;
    use http_body_util::Full;
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn request(builder: http::request::Builder, body: impl Into<Bytes>) -> Request {
        request_with(builder.body(Full::new(body.into())).unwrap())
    }

    pub(crate) fn request_with<B>(request: http::Request<B>) -> Request
    where
        B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<BoxError>,
    {
        let id = RequestId::choose(request.headers(), &RandomIds);
        let peer = SocketAddr::from(([127, 0, 0, 1], 9));
        Request::new(request, peer, id, Duration::from_secs(60), Draining::default()).0
    }

    #[test]
    fn a_sane_id_of_the_client_is_kept_and_any_other_replaced() {
        for (given, kept) in [("trace-1.a:b/c+d=", true), ("", false), ("a b", false), ("a\"b", false)] {
            let id = request(http::Request::builder().header("x-request-id", given), "").id().clone();
            assert_eq!(id.as_str() == given, kept, "{given}");
            assert!(RequestId::of(id.as_str()).is_some());
        }
        assert!(RequestId::of(&"a".repeat(129)).is_none());
    }

    #[test]
    fn a_header_that_came_twice_has_no_value() {
        let twice = request(http::Request::builder().header("a", "1").header("a", "2").header("b", "1"), "");
        assert_eq!((twice.header("a"), twice.header("b"), twice.header("c")), (None, Some("1"), None));
    }

    #[test]
    fn a_number_in_the_query_is_within_its_bounds() {
        let number = |query: &str| {
            let request = request(http::Request::builder().uri(format!("/jobs?{query}")), "");
            request.query_number("take", 1..=100, 12).ok()
        };
        for (query, given) in [
            ("", Some(12)),
            ("take=", Some(12)),
            ("take=1", Some(1)),
            ("take=100", Some(100)),
            ("take=0", None),
            ("take=101", None),
            ("take=-1", None),
            ("take=+1", None),
            ("take=1.0", None),
            ("take=all", None),
            ("take=99999999999999999999", None),
        ] {
            assert_eq!(number(query), given, "{query}");
        }
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let mut fits = request(http::Request::builder(), "12345");
        assert_eq!(fits.body(5).await.unwrap(), "12345");
        let mut over = request(http::Request::builder(), "123456");
        assert_eq!(over.body(5).await.unwrap_err().status(), 413);
        let mut announced = request(http::Request::builder().header("content-length", "999"), "");
        assert_eq!(announced.body(5).await.unwrap_err().status(), 413);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_comes_is_given_up() {
        let never = http_body_util::StreamBody::new(futures::stream::pending::<Result<_, std::io::Error>>());
        let id = RequestId::of("a").unwrap();
        let (mut request, _) = Request::new(
            http::Request::new(never),
            SocketAddr::from(([0; 4], 0)),
            id,
            Duration::from_secs(7),
            Draining::default(),
        );
        let error = request.body(5).await.unwrap_err();
        assert_eq!(error.status(), 408);
        assert!(error.to_string().contains('7'), "{error}");
    }

    #[test]
    fn debug_output_has_no_key() {
        let secret = request(http::Request::builder().uri("/a?key=hush").header("authorization", "Bearer hush"), "");
        assert!(!format!("{secret:?}").contains("hush"));
    }

    proptest! {
        #[test]
        fn any_header_bytes_are_fine(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = http::HeaderValue::from_bytes(&bytes) {
                let mut builder = http::Request::builder();
                for name in ["x-request-id", "content-length", "content-type", "authorization"] {
                    builder = builder.header(name, value.clone());
                }
                let request = request(builder, "");
                prop_assert!(RequestId::of(request.id().as_str()).is_some());
            }
        }
    }
}
