//! One request to a forge's API: its token and headers, one redirect, and a limited answer.

use bytes::Bytes;
use docent_forge::ForgeError;
use docent_http_client::{Client, Secret, SendError};
use docent_types::error_chain;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::address::{Address, Host};
use crate::reply::ForgeReply;
use crate::unusable_reply::UnusableReply;

/// Maximum size of an answer, in bytes: more than the largest page of pull requests.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

const IN_A_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a text for a path segment or a query value.
pub(crate) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, IN_A_SEGMENT).to_string()
}

/// A request. The path begins with a slash, is relative to the API's base, and is percent-encoded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForgeCall {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
}

impl ForgeCall {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: None }
    }

    pub(crate) fn new(method: Method, path: impl Into<String>, body: Value) -> Self {
        Self { method, path: path.into(), body: Some(body) }
    }
}

/// Parses the JSON of a success. If it cannot be parsed, it is unknown whether the request took effect; a retry finds
/// out.
pub(crate) fn read<T: DeserializeOwned>(address: &Address, reply: &ForgeReply) -> Result<T, ForgeError> {
    serde_json::from_slice(&reply.body).map_err(|error| {
        let forge = address.authority().to_owned();
        let what = if error.is_data() { "JSON of another shape" } else { "text that is not JSON" };
        ForgeError::Unavailable { retry_after: None, source: UnusableReply::Unreadable { forge, what }.into() }
    })
}

/// The elements of a list that can be parsed. Forges also list pull requests whose fork is gone.
pub(crate) fn readable<T: DeserializeOwned>(all: Vec<Value>) -> Vec<T> {
    all.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect()
}

/// Sends a request, and once more to the repository's new address after a redirect on the same forge.
pub(crate) async fn send(
    client: &Client,
    address: &Address,
    call: &ForgeCall,
    token: Option<&Secret>,
) -> Result<ForgeReply, ForgeError> {
    let url = format!("{}{}", address.api, call.path);
    let reply = send_to(client, address, &url, call, token).await?;
    let Some(url) = redirect(&address.api, call, &reply) else { return Ok(reply) };
    tracing::warn!(repository = %address, now = url, "the repository has moved on the forge");
    let reply = send_to(client, address, &url, call, token).await?;
    Ok(ForgeReply { moved: true, ..reply })
}

async fn send_to(
    client: &Client,
    address: &Address,
    url: &str,
    call: &ForgeCall,
    token: Option<&Secret>,
) -> Result<ForgeReply, ForgeError> {
    let request = request(address, url, call, token)?;
    let response = client.send(request).await.map_err(unsent)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.bytes(ANSWER_LIMIT).await.map_err(unsent)?;
    let body = if status.is_success() { body } else { scrubbed(&body, token) };
    Ok(ForgeReply { status, headers, body, moved: false })
}

/// An error body without the token: users read it, and a forge may repeat the token.
fn scrubbed(body: &Bytes, token: Option<&Secret>) -> Bytes {
    match token {
        Some(token) => Bytes::from(token.scrub(&String::from_utf8_lossy(body))),
        None => body.clone(),
    }
}

fn unsent(error: SendError) -> ForgeError {
    if error.is_transient() {
        return ForgeError::Unavailable { retry_after: None, source: error.into() };
    }
    ForgeError::Refused { sentence: error_chain(&error) }
}

fn request(
    address: &Address,
    url: &str,
    call: &ForgeCall,
    token: Option<&Secret>,
) -> Result<Request<Bytes>, ForgeError> {
    let refuse =
        |why: String| ForgeError::Refused { sentence: format!("{} cannot be reached: {why}", address.authority()) };
    let body = call.body.as_ref().map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(url)
        .body(body)
        .map_err(|error| refuse(format!("`{url}` is not an address: {error}")))?;
    let headers = request.headers_mut();
    if call.body.is_some() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let accepted = if address.host == Host::Github { "application/vnd.github+json" } else { "application/json" };
    headers.insert(ACCEPT, HeaderValue::from_static(accepted));
    if address.host == Host::Github {
        let version = HeaderName::from_static("x-github-api-version");
        headers.insert(version, HeaderValue::from_static("2022-11-28"));
    }
    if let Some(token) = token {
        let (name, value) = credential(address.host, token);
        headers.insert(name, value);
    }
    Ok(request)
}

/// The header for a token, by forge.
fn credential(host: Host, token: &Secret) -> (HeaderName, HeaderValue) {
    let is_hex = |token: &str| token.bytes().all(|byte| byte.is_ascii_hexdigit());
    match host {
        Host::Github => (AUTHORIZATION, token.bearer()),
        Host::Gitea => {
            let value = HeaderValue::from_str(&format!("token {}", token.expose()));
            let mut value = value.expect("a secret is visible ASCII, which every header may hold");
            value.set_sensitive(true);
            (AUTHORIZATION, value)
        }
        // An OAuth access token; all other kinds use GitLab's own header.
        Host::Gitlab if token.expose().len() == 64 && is_hex(token.expose()) => (AUTHORIZATION, token.bearer()),
        Host::Gitlab => (HeaderName::from_static("private-token"), token.header()),
    }
}

/// The target of a redirect, if it may be followed with the token.
fn redirect(api: &str, call: &ForgeCall, reply: &ForgeReply) -> Option<String> {
    let follow = match reply.status {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => call.method == Method::GET,
        _ => false,
    };
    let location = reply.headers.get(LOCATION)?.to_str().ok()?;
    let origin = origin(api)?;
    let url = match location.strip_prefix('/') {
        Some(rest) if !rest.starts_with(['/', '\\']) => format!("{origin}{location}"),
        _ => location.to_owned(),
    };
    let same = url.strip_prefix(&origin).is_some_and(|rest| rest.starts_with('/'));
    (follow && same).then_some(url)
}

/// Scheme, host and port.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    Some(format!("{scheme}://{}", rest.split('/').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_is_followed_on_the_same_forge_only() {
        let api = "https://api.github.com";
        let get = ForgeCall::get("/repos/a/b");
        let post = ForgeCall::new(Method::POST, "/repos/a/b/pulls", Value::Null);
        for (status, call, location, expected) in [
            (301, &get, "https://api.github.com/repositories/1", Some("https://api.github.com/repositories/1")),
            (307, &post, "/repositories/1/pulls", Some("https://api.github.com/repositories/1/pulls")),
            (308, &post, "https://api.github.com/x", Some("https://api.github.com/x")),
            (301, &post, "https://api.github.com/x", None),
            (302, &get, "https://api.github.com.evil.example/x", None),
            (302, &get, "https://api.github.com@evil.example/x", None),
            (302, &get, "//evil.example/x", None),
            (302, &get, "/\\evil.example/x", None),
            (302, &get, "http://api.github.com/x", None),
            (302, &get, "https://api.github.com:444/x", None),
            (200, &get, "https://api.github.com/x", None),
        ] {
            let mut reply = ForgeReply { status: StatusCode::from_u16(status).unwrap(), ..ForgeReply::default() };
            reply.headers.insert(LOCATION, HeaderValue::from_static(location));
            assert_eq!(redirect(api, call, &reply).as_deref(), expected, "{status} {location}");
        }
    }

    #[test]
    fn each_forge_is_shown_the_token_its_own_way() {
        let shown = |host, token: &str| {
            let (name, value) = credential(host, &Secret::parse(token).unwrap());
            format!("{name}: {}", value.to_str().unwrap())
        };
        assert_eq!(shown(Host::Github, "t"), "authorization: Bearer t");
        assert_eq!(shown(Host::Gitea, "t"), "authorization: token t");
        assert_eq!(shown(Host::Gitlab, "glpat-t"), "private-token: glpat-t");
        let oauth = "0a".repeat(32);
        assert_eq!(shown(Host::Gitlab, &oauth), format!("authorization: Bearer {oauth}"));
    }

    #[test]
    fn a_complaint_does_not_quote_the_token() {
        let body = Bytes::from_static(b"bad token s3cret!");
        assert_eq!(&scrubbed(&body, Some(&Secret::parse("s3cret").unwrap()))[..], "bad token …!".as_bytes());
        assert_eq!(scrubbed(&body, None), body);
    }
}
