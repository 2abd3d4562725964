//! Cookies, and whether a write comes from a page of this server.
//!
//! | who sends the request | is known by |
//! |---|---|
//! | an operator | the session cookie; their forms carry a token derived from the session |
//! | a visitor who signs in | the pre-session cookie, set with the form; the form carries a token derived from it |
//!
//! A write is carried out only when the browser says that it comes from the same origin and the token fits its cookie.

use docent_types::{Refusal, RefusalKind};
use docent_web::{HttpError, Request, Response};
use http::HeaderValue;
use http::header::{COOKIE, HOST, ORIGIN, SET_COOKIE};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::form::Form;
use crate::prefix::Prefix;

/// The field of a form that holds its token.
pub(crate) const TOKEN: &str = "token";

/// How cookies are named and set.
#[derive(Debug, Clone)]
pub(crate) struct Cookies {
    /// Whether browsers reach the server by HTTPS.
    is_https: bool,
    path: String,
    /// The public origin of the server, if it is configured.
    public_origin: Option<String>,
}

/// A cookie of the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    Session,
    /// The cookie of a visitor who is about to sign in.
    PreSession,
    /// What the next page says about what was just done.
    Flash,
}

impl Cookies {
    /// `public_url`: the address at which people reach the server, if that is configured.
    pub(crate) fn new(public_url: Option<&str>) -> Self {
        let origin = public_url.map(|url| {
            let end = url.find("://").and_then(|at| url[at + 3..].find('/').map(|end| at + 3 + end));
            url[..end.unwrap_or(url.len())].to_ascii_lowercase()
        });
        let is_https = origin.as_ref().is_some_and(|origin| origin.starts_with("https://"));
        Self { is_https, path: Prefix::of(public_url).cookie_path().to_owned(), public_origin: origin }
    }

    fn name(&self, cookie: Cookie) -> String {
        let name = match cookie {
            Cookie::Session => "docent-session",
            Cookie::PreSession => "docent-visit",
            Cookie::Flash => "docent-done",
        };
        // A browser accepts such a cookie only by HTTPS, and one of a host only at its root.
        let prefix = match (self.is_https, self.path.as_str()) {
            (true, "/") => "__Host-",
            (true, _) => "__Secure-",
            (false, _) => "",
        };
        format!("{prefix}{name}")
    }

    /// The value of a cookie. `None` if two have the same name, since one of them may have been planted.
    pub(crate) fn read<'r>(&self, request: &'r Request, cookie: Cookie) -> Option<&'r str> {
        let name = self.name(cookie);
        let values = request.headers().get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut found = pairs.filter(|(key, _)| *key == name.as_str()).map(|(_, value)| value);
        let value = found.next()?;
        found.next().is_none().then_some(value)
    }

    /// Sets a cookie for this many seconds; 0 removes it.
    pub(crate) fn set(&self, response: &mut Response, cookie: Cookie, value: &str, seconds: u64) {
        let secure = if self.is_https { "; Secure" } else { "" };
        let (name, path) = (self.name(cookie), &self.path);
        let text = format!("{name}={value}; Path={path}; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
        if let Ok(value) = HeaderValue::try_from(text) {
            response.headers_mut().append(SET_COOKIE, value);
        }
    }

    /// Whether a response sets or removes this cookie.
    pub(crate) fn is_set(&self, response: &Response, cookie: Cookie) -> bool {
        let name = self.name(cookie);
        let mut values = response.headers().get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        values.any(|value| value.split_once('=').is_some_and(|(key, _)| key == name))
    }

    /// Refuses a write that another site makes a browser send.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn check_origin(&self, request: &Request) -> Result<(), HttpError> {
        let site = request.header("sec-fetch-site");
        let origin = request.header(ORIGIN).map(str::to_ascii_lowercase);
        let host = request.header(HOST).map(str::to_ascii_lowercase);
        let is_ours = |origin: &str| {
            self.public_origin.as_deref() == Some(origin)
                || host.as_deref().is_some_and(|host| {
                    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host)
                })
        };
        let is_same = match (site, &origin) {
            (Some(site), Some(origin)) => site == "same-origin" && is_ours(origin),
            (Some(site), None) => site == "same-origin",
            (None, Some(origin)) => is_ours(origin),
            (None, None) => false,
        };
        if is_same {
            return Ok(());
        }
        Err(Refusal::new(
            RefusalKind::Forbidden,
            "This did not come from a page of this server, so nothing was done. Open the page again and send its form.",
        )
        .into())
    }
}

/// The token of a form for a visitor who is not signed in, from the value of the pre-session cookie.
pub(crate) fn pre_session_token(pre_session: &str) -> String {
    let digest = Sha256::new().chain_update(b"docent visit").chain_update(pre_session.as_bytes()).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the token of a form of a visitor who is not signed in.
///
/// # Errors
/// 403.
pub(crate) fn check_pre_session(form: &Form, pre_session: Option<&str>) -> Result<(), HttpError> {
    let fits = pre_session.filter(|pre_session| !pre_session.is_empty()).is_some_and(|pre_session| {
        let expected = pre_session_token(pre_session);
        bool::from(expected.as_bytes().ct_eq(form.text(TOKEN).as_bytes()))
    });
    if fits { Ok(()) } else { Err(stale()) }
}

/// The refusal of a form whose token does not fit.
pub(crate) fn stale() -> HttpError {
    Refusal::new(
        RefusalKind::Forbidden,
        "The form has gone stale, or your browser keeps no cookies. Allow cookies for this address, open the page again and \
         send the form once more.",
    )
    .into()
}
