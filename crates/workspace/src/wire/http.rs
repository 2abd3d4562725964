//! Git's requests over http.
//!
//! The credentials go to the scheme, host and port of the repository's address and nowhere else. A redirect is followed
//! only there (a renamed repository), or from http to https on the same host; any other is reported to the operator,
//! who can change the address. The remote's errors are classified by status, not by text.

use std::fs::File;
use std::io::{self, Read};
use std::sync::OnceLock;
use std::time::Duration;

use docent_types::{error_chain_of, is_loopback_host, is_out_of_files};
use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{StatusCode, Url, redirect};

use super::{LimitedReader, WireFailure, WireSession};
use crate::error::{ErrorDetail, GitError};
use crate::remote::Remote;

/// Forges recognize git clients by the `git/` prefix.
const USER_AGENT: &str = concat!("git/docent-", env!("CARGO_PKG_VERSION"));
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_REDIRECTS: usize = 4;
/// Largest part of an error page that is read, in bytes.
const ERROR_PAGE_LIMIT: u64 = 2048;

/// The requests of one conversation.
#[derive(Debug)]
pub(crate) struct Http {
    /// The address without a user name and without a slash at its end; after a redirect, the new one.
    base: String,
    authorization: Option<HeaderValue>,
    session: WireSession,
}

/// The body of a request.
#[derive(Debug)]
pub(crate) enum Body {
    Bytes(Vec<u8>),
    /// These bytes, followed by this many bytes of the file.
    WithFile(Vec<u8>, File, u64),
}

/// A successful answer.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: LimitedReader<Response>,
}

impl Http {
    pub(crate) fn new(remote: &Remote, session: WireSession) -> Result<Self, GitError> {
        let unusable = |reason| GitError::Address { repository: remote.redacted(), reason };
        let mut url = Url::parse(&remote.url).map_err(|_| unusable("it is not a URL"))?;
        if url.host().is_none() || url.query().is_some() || url.fragment().is_some() {
            return Err(unusable("give the address of the repository alone, without `?` and `#`"));
        }
        // Neither call can fail for a URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let authorization = match remote.authorization() {
            None => None,
            Some(text) => {
                let mut value = HeaderValue::from_str(&text).map_err(|_| unusable("its token cannot be sent"))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self { base: url.as_str().trim_end_matches('/').to_owned(), authorization, session })
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// `GET BASE/info/refs?service=SERVICE`.
    pub(crate) fn advertisement(&mut self, service: &str, headers: &HeaderMap) -> Result<HttpAnswer, WireFailure> {
        let tail = format!("/info/refs?service={service}");
        for _ in 0..=MAX_REDIRECTS {
            let url = parsed(&format!("{}{tail}", self.base))?;
            let response = self.send(client(&url)?.get(url.clone()).headers(headers.clone()))?;
            match redirected(&url, &response)? {
                // What is fetched from first may be any service inside the network, whose answers are not for whoever
                // typed its address. A push follows a fetch from the same server.
                None => {
                    let is_git = service != "git-upload-pack";
                    return self.checked(response, &format!("application/x-{service}-advertisement"), is_git);
                }
                Some(to) => self.base = self.followed(&url, &to, &tail)?,
            }
        }
        Err(WireFailure::Redirected { to: self.base.clone() })
    }

    /// `POST BASE/SERVICE`.
    pub(crate) fn request(&self, service: &str, mut headers: HeaderMap, body: Body) -> Result<HttpAnswer, WireFailure> {
        let url = parsed(&format!("{}/{service}", self.base))?;
        let kind = format!("application/x-{service}-request");
        headers.insert(CONTENT_TYPE, HeaderValue::try_from(kind).map_err(|error| garbled(&error))?);
        let body = match body {
            Body::Bytes(bytes) => bytes.into(),
            Body::WithFile(bytes, file, length) => {
                let all = bytes.len() as u64 + length;
                reqwest::blocking::Body::sized(io::Cursor::new(bytes).chain(file.take(length)), all)
            }
        };
        let response = self.send(client(&url)?.post(url.clone()).headers(headers).body(body))?;
        match redirected(&url, &response)? {
            None => self.checked(response, &format!("application/x-{service}-result"), true),
            Some(to) => Err(WireFailure::Redirected { to: to.into() }),
        }
    }

    fn send(&self, mut request: RequestBuilder) -> Result<Response, WireFailure> {
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.timeout(self.session.left()?).send();
        response.map_err(|error| classify(&error))
    }

    /// The new base address, if the redirect stays where the credentials may be sent.
    fn followed(&self, from: &Url, to: &Url, tail: &str) -> Result<String, WireFailure> {
        let same = from.scheme() == to.scheme() && from.port_or_known_default() == to.port_or_known_default();
        let upgraded =
            from.scheme() == "http" && to.scheme() == "https" && from.port().is_none() && to.port().is_none();
        let moved = to.as_str().strip_suffix(tail);
        match moved {
            Some(base) if from.host() == to.host() && (same || upgraded) && to.username().is_empty() => {
                tracing::debug!(from = self.base, to = base, "the repository has moved");
                Ok(base.trim_end_matches('/').to_owned())
            }
            moved => Err(WireFailure::Redirected { to: redacted(moved.unwrap_or(to.as_str())) }),
        }
    }

    /// `is_git` says whether the server has answered as a git server does; only then its error page is quoted.
    fn checked(&self, response: Response, kind: &str, is_git: bool) -> Result<HttpAnswer, WireFailure> {
        let status = response.status();
        let headers = response.headers().clone();
        let mut body = self.session.limited(response);
        let content_type =
            headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        if !status.is_success() {
            let is_quoted = is_git && content_type.starts_with("text/plain");
            let message = if is_quoted { error_page_start(&mut body) } else { String::new() };
            let after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(seconds);
            return Err(WireFailure::Status { status: status.as_u16(), after, message });
        }
        if content_type.split(';').next().map(str::trim) != Some(kind) {
            let content_type = if content_type.is_empty() { "nothing" } else { &content_type };
            return Err(WireFailure::Garbled(format!("it sent {content_type} where git sends {kind}")));
        }
        Ok(HttpAnswer { headers, body })
    }
}

/// The shared client of the process; for this machine, one without a proxy.
fn client(url: &Url) -> Result<&'static Client, WireFailure> {
    static REMOTE: OnceLock<Result<Client, WireFailure>> = OnceLock::new();
    static LOCAL: OnceLock<Result<Client, WireFailure>> = OnceLock::new();
    let build = |direct: bool| {
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            // Each request sets its own time limit.
            .timeout(None::<Duration>);
        let builder = if direct { builder.no_proxy() } else { builder };
        builder.build().map_err(|error| classify(&error))
    };
    let client = if is_loopback_host(url.host_str().unwrap_or_default()) {
        LOCAL.get_or_init(|| build(true))
    } else {
        REMOTE.get_or_init(|| build(false))
    };
    client.as_ref().map_err(Clone::clone)
}

fn parsed(url: &str) -> Result<Url, WireFailure> {
    Url::parse(url).map_err(|error| garbled(&error))
}

fn garbled(error: &dyn std::error::Error) -> WireFailure {
    WireFailure::Garbled(error.to_string())
}

fn redirected(from: &Url, response: &Response) -> Result<Option<Url>, WireFailure> {
    let redirects = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    if !redirects.contains(&response.status()) {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| WireFailure::Garbled("it redirects to nowhere".to_owned()))?;
    from.join(location).map(Some).map_err(|error| garbled(&error))
}

/// An address for an error: without a user, a query, or the part that is git's.
fn redacted(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return "another address".to_owned() };
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches("/info/refs").to_owned()
}

/// The beginning of an error page.
fn error_page_start(body: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = body.take(ERROR_PAGE_LIMIT).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(500).collect()
}

/// `Retry-After` in seconds, at most a day. Git servers send no dates there.
fn seconds(value: &str) -> Option<Duration> {
    value.trim().parse().ok().map(|seconds: u64| Duration::from_secs(seconds.min(86_400)))
}

/// Classifies the failure of a request without an answer.
pub(super) fn classify(error: &reqwest::Error) -> WireFailure {
    let text = error_text(error);
    if let Some(rustls::Error::InvalidCertificate(_)) = find::<rustls::Error>(error) {
        return WireFailure::Certificate(text);
    }
    if is_out_of_files(error) {
        return WireFailure::OutOfFiles;
    }
    // Connecting has a limit of its own, and may succeed on a retry.
    if error.is_timeout() && !error.is_connect() { WireFailure::TimedOut } else { WireFailure::Network(text) }
}

fn error_text(error: &reqwest::Error) -> String {
    // reqwest's message repeats the URL, which our own message already has.
    error_chain_of(error, |text| text.split(" for url (").next().unwrap_or_default().to_owned())
}

/// An error of this type among the causes. An [`io::Error`] does not return the error it was made of as `source`.
fn find<'a, T: std::error::Error + 'static>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref::<T>() {
            return Some(found);
        }
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner as &(dyn std::error::Error + 'static)),
            None => cause.source(),
        };
    }
    None
}

impl WireFailure {
    /// The cause of an error, scrubbed.
    pub(crate) fn why(&self, remote: &Remote) -> ErrorDetail {
        ErrorDetail::new(remote.scrub(&self.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::Credentials;

    fn http(url: &str) -> Http {
        let remote = Remote::new(url).with_credentials(Credentials::token("s3cret"));
        Http::new(&remote, WireSession::new(Duration::from_secs(1))).unwrap()
    }

    #[test]
    fn a_redirect_is_followed_only_to_where_the_credentials_belong() {
        const TAIL: &str = "/info/refs?service=git-upload-pack";
        let to = |from: &str, to: &str| {
            let http = http(from);
            let from = Url::parse(&format!("{}{TAIL}", http.base())).unwrap();
            http.followed(&from, &Url::parse(to).unwrap(), TAIL)
        };
        let docs = "https://git.example.com/docs";
        assert_eq!(to(docs, &format!("https://git.example.com/new{TAIL}")).unwrap(), "https://git.example.com/new");
        assert_eq!(
            to("http://git.local/docs", &format!("https://git.local/docs{TAIL}")).unwrap(),
            "https://git.local/docs"
        );
        for stranger in [
            format!("https://example.com/docs{TAIL}"),
            format!("http://git.example.com/docs{TAIL}"),
            format!("https://git.example.com:8443/docs{TAIL}"),
            format!("https://me:pw@git.example.com/docs{TAIL}"),
            "https://git.example.com/login".to_owned(),
        ] {
            let refused = to(docs, &stranger).unwrap_err();
            let WireFailure::Redirected { to } = &refused else { panic!("{refused:?}") };
            assert!(!to.contains("pw") && !to.contains("service="), "{to}");
        }
    }

    #[test]
    fn the_address_holds_no_user_and_ends_without_a_slash() {
        assert_eq!(http("https://me@git.example.com/docs.git/").base(), "https://git.example.com/docs.git");
        assert_eq!(http("https://git.example.com/a b.git").base(), "https://git.example.com/a%20b.git");
        let odd = Http::new(&Remote::new("https://git.example.com/docs?x=y"), WireSession::new(Duration::from_secs(1)));
        assert!(matches!(odd, Err(GitError::Address { .. })));
        assert!(!format!("{:?}", http("https://git.example.com/docs")).contains("czNjcmV0"));
    }

    #[test]
    fn a_pause_is_read_in_seconds() {
        assert_eq!(seconds(" 30 "), Some(Duration::from_secs(30)));
        assert_eq!(seconds("99999999"), Some(Duration::from_secs(86_400)));
        assert_eq!(seconds("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(seconds("-1"), None);
    }
}
