//! gix's transport on our HTTP client: a request is sent when its answer is first read.

use std::io::{self, BufReader, Cursor, Read, Write};
use std::sync::Arc;

use gix::error::Error;
use gix::protocol::transport::client::blocking_io::http::{
    GetResponse, Http as GixHttp, PostBodyDataKind, PostResponse,
};
use parking_lot::Mutex;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use crate::wire::child::ServiceKind;
use crate::wire::http::{Body, Http, HttpAnswer};
use crate::wire::{WireFailure, WireSession};

/// Limit of a request's body, in bytes. The body lists the commits we have.
const REQUEST_LIMIT: usize = 64 << 20;

#[derive(Debug)]
pub(crate) struct Transport {
    http: Arc<Mutex<Http>>,
    session: WireSession,
}

impl Transport {
    pub(crate) fn new(http: Http, session: WireSession) -> Self {
        Self { http: Arc::new(Mutex::new(http)), session }
    }
}

/// gix's headers, except its user agent.
fn header_map(lines: impl IntoIterator<Item = impl AsRef<str>>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        let Some((name, value)) = line.as_ref().split_once(':') else { continue };
        let (name, value) = (HeaderName::try_from(name), HeaderValue::try_from(value.trim()));
        if let (Ok(name), Ok(value)) = (name, value)
            && name != AUTHORIZATION
            && name != USER_AGENT
        {
            headers.insert(name, value);
        }
    }
    headers
}

impl GixHttp for Transport {
    type Headers = BufReader<BodyPart>;
    type ResponseBody = BufReader<BodyPart>;
    type PostBody = RequestBody;

    fn get(
        &mut self,
        _: &str,
        _: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<GetResponse<Self::Headers, Self::ResponseBody>> {
        let answer = self.http.lock().advertisement(ServiceKind::Upload.name(), &header_map(headers));
        let answer = answer.map_err(|failure| Error::from_error(self.session.fail(failure)))?;
        let exchange = Arc::new(Mutex::new(Exchange::Answered(Parts::of(answer))));
        let part = |part| BufReader::new(BodyPart { exchange: exchange.clone(), part });
        Ok(GetResponse { headers: part(AnswerPart::Headers), body: part(AnswerPart::Body) })
    }

    fn post(
        &mut self,
        _: &str,
        _: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _: PostBodyDataKind,
    ) -> gix::Result<PostResponse<Self::Headers, Self::ResponseBody, Self::PostBody>> {
        let pending = PendingRequest {
            http: self.http.clone(),
            session: self.session.clone(),
            headers: header_map(headers),
            body: Vec::new(),
        };
        let exchange = Arc::new(Mutex::new(Exchange::Open(pending)));
        let part = |part| BufReader::new(BodyPart { exchange: exchange.clone(), part });
        let (headers, body) = (part(AnswerPart::Headers), part(AnswerPart::Body));
        Ok(PostResponse { post_body: RequestBody(exchange), headers, body })
    }

    fn configure(&mut self, _: &dyn std::any::Any) -> gix::Result<()> {
        Ok(())
    }
}

/// One request and its answer.
#[derive(Debug)]
enum Exchange {
    Open(PendingRequest),
    Answered(Parts),
    Broken,
}

#[derive(Debug)]
struct PendingRequest {
    http: Arc<Mutex<Http>>,
    session: WireSession,
    headers: HeaderMap,
    body: Vec<u8>,
}

struct Parts {
    headers: Cursor<Vec<u8>>,
    body: Box<dyn Read + Send>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

impl Parts {
    fn of(answer: HttpAnswer) -> Self {
        let mut headers = Vec::new();
        for (name, value) in &answer.headers {
            headers.extend_from_slice(name.as_str().as_bytes());
            headers.push(b':');
            headers.extend_from_slice(value.as_bytes());
            headers.push(b'\n');
        }
        Self { headers: Cursor::new(headers), body: Box::new(answer.body) }
    }
}

impl Exchange {
    fn answered(&mut self) -> io::Result<&mut Parts> {
        if let Self::Open(_) = self
            && let Self::Open(pending) = std::mem::replace(self, Self::Broken)
        {
            let body = Body::Bytes(pending.body);
            let answer = pending.http.lock().request(ServiceKind::Upload.name(), pending.headers, body);
            *self = Self::Answered(Parts::of(answer.map_err(|failure| pending.session.fail(failure))?));
        }
        match self {
            Self::Answered(parts) => Ok(parts),
            _ => Err(io::Error::other("the request has failed")),
        }
    }
}

/// The body of a request.
#[derive(Debug)]
pub(crate) struct RequestBody(Arc<Mutex<Exchange>>);

impl Write for RequestBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.0.lock() {
            Exchange::Open(pending) if pending.body.len() + bytes.len() <= REQUEST_LIMIT => {
                pending.body.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Exchange::Open(pending) => Err(pending.session.fail(WireFailure::TooMuch { limit: REQUEST_LIMIT as u64 })),
            _ => Err(io::Error::other("the request was sent already")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum AnswerPart {
    Headers,
    Body,
}

/// A part of the answer's body.
#[derive(Debug)]
pub(crate) struct BodyPart {
    exchange: Arc<Mutex<Exchange>>,
    part: AnswerPart,
}

impl Read for BodyPart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut exchange = self.exchange.lock();
        let parts = exchange.answered()?;
        match self.part {
            AnswerPart::Headers => parts.headers.read(buffer),
            AnswerPart::Body => parts.body.read(buffer),
        }
    }
}
