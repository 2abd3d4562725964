//! Interprets a forge's error response: what has to be fixed and by whom, or when to retry.

use std::time::{Duration, SystemTime};

use docent_forge::ForgeError;
use docent_http_client::retry_after;
use docent_types::Timestamp;
use http::StatusCode;
use http::header::LOCATION;
use serde_json::Value;

use crate::address::{Address, Host};
use crate::reply::ForgeReply;
use crate::title::cut;
use crate::token::TokenSource;
use crate::unusable_reply::UnusableReply;

/// Maximum length of the forge's own message that is passed on.
const WORDS: usize = 300;

/// GitHub's documented wait after a secondary rate limit, when the answer has none.
const SLOW_DOWN: Duration = Duration::from_secs(60);

/// The context that is needed to interpret a response.
pub(crate) struct ReplyContext<'a> {
    pub(crate) address: &'a Address,
    pub(crate) tokens: &'a TokenSource,
    pub(crate) now: Timestamp,
    /// Whether the forge's own message is passed on.
    pub(crate) is_quoted: bool,
}

impl ReplyContext<'_> {
    /// The error for an unsuccessful response.
    pub(crate) fn classify(&self, reply: &ForgeReply) -> ForgeError {
        self.transient(reply).unwrap_or_else(|| ForgeError::Refused { sentence: self.sentence(reply) })
    }

    /// The error for a transient failure; `None` for a permanent one.
    pub(crate) fn transient(&self, reply: &ForgeReply) -> Option<ForgeError> {
        let forge = self.address.authority().to_owned();
        if let Some(wait) = self.limited(reply) {
            return Some(ForgeError::Unavailable {
                retry_after: Some(wait),
                source: UnusableReply::Limited { forge }.into(),
            });
        }
        // A new installation token takes a moment to be accepted everywhere; the next attempt uses another one.
        let is_not_known_yet = reply.status == StatusCode::UNAUTHORIZED && matches!(self.tokens, TokenSource::App(_));
        let is_transient =
            reply.status.is_server_error() || reply.status == StatusCode::REQUEST_TIMEOUT || is_not_known_yet;
        is_transient.then(|| ForgeError::Unavailable {
            retry_after: retry_after(&reply.headers, self.system_time()),
            source: UnusableReply::Status { forge, status: reply.status, words: self.after_colon(reply) }.into(),
        })
    }

    /// The delay after a rate limit.
    fn limited(&self, reply: &ForgeReply) -> Option<Duration> {
        let from_header = retry_after(&reply.headers, self.system_time());
        let number = |name: &str| reply.headers.get(name)?.to_str().ok()?.trim().parse::<i64>().ok();
        let until = |name: &str| {
            let reset = Timestamp::from_millis(number(name)?.saturating_mul(1000));
            Some(reset.since(self.now) + Duration::from_secs(1))
        };
        match reply.status {
            StatusCode::TOO_MANY_REQUESTS => {
                let reset = || until("x-ratelimit-reset").or_else(|| until("ratelimit-reset"));
                Some(from_header.or_else(reset).unwrap_or(SLOW_DOWN))
            }
            StatusCode::FORBIDDEN if self.address.host == Host::Github => {
                if number("x-ratelimit-remaining") == Some(0) {
                    return Some(from_header.or_else(|| until("x-ratelimit-reset")).unwrap_or(SLOW_DOWN));
                }
                let too_fast = from_header.is_some() || mentions(reply, &["secondary rate limit", "abuse detection"]);
                too_fast.then(|| from_header.unwrap_or(SLOW_DOWN))
            }
            _ => None,
        }
    }

    fn system_time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.now.since(Timestamp::from_millis(0))
    }

    /// A sentence that says what has to be fixed and by whom.
    fn sentence(&self, reply: &ForgeReply) -> String {
        let (forge, tokens, repository) = (self.address.authority(), self.tokens, self.address);
        match reply.status {
            StatusCode::UNAUTHORIZED if matches!(tokens, TokenSource::None) => {
                format!("{forge} requires a token: name the environment variable that holds one in the project")
            }
            StatusCode::UNAUTHORIZED => format!(
                "{tokens} is not accepted by {forge}: it is wrong, revoked or expired; put a valid one in its place"
            ),
            StatusCode::FORBIDDEN => self.forbidden(reply),
            StatusCode::NOT_FOUND => format!(
                "{forge} has no repository {repository}, or {tokens} may not see it: correct the repository's address or \
                 give the token access to it"
            ),
            StatusCode::LOCKED => self.archived(),
            status if status.is_redirection() => {
                let location = reply.headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another address");
                let location = cut(location.split(['?', '#']).next().unwrap_or_default(), WORDS);
                format!(
                    "{forge} redirects to {location} for {repository}: correct the repository's address or the base URL"
                )
            }
            status => format!("{forge} refused with {status}{}", self.after_colon(reply)),
        }
    }

    fn forbidden(&self, reply: &ForgeReply) -> String {
        let (forge, tokens, repository) = (self.address.authority(), self.tokens, self.address);
        if let Some(sso) = reply.headers.get("x-github-sso") {
            let page = sso.to_str().ok().and_then(|value| value.split_once("url=")).map(|(_, url)| url);
            let page = page.and_then(|url| url.split(['?', ';']).next()).unwrap_or("the organisation's page");
            return format!(
                "{tokens} is not authorised for single sign-on of the owner of {repository}: authorise it at {page}"
            );
        }
        if mentions(reply, &["was archived", "is archived"]) {
            return self.archived();
        }
        let grant = match (self.address.host, tokens) {
            (Host::Github, TokenSource::App(_)) => {
                "grant the App the repository permissions Contents: read and write and Pull requests: read and write, \
                 and accept them in the settings of its installation"
            }
            (Host::Github, _) => {
                "grant it the repository permissions Contents: read and write and Pull requests: read and write \
                 (a classic token: the scope `repo`)"
            }
            (Host::Gitlab, _) => {
                "give it the scope `api` and at least the role Developer in the project, where merge requests must be on"
            }
            (Host::Gitea, _) => {
                "give it the permission read and write for repositories, and its user write access to this one"
            }
        };
        format!("{forge} does not permit this in {repository} for {tokens}: {grant}{}", self.in_its_words(reply))
    }

    fn after_colon(&self, reply: &ForgeReply) -> String {
        let words = self.quoted(reply);
        if words.is_empty() { words } else { format!(": {words}") }
    }

    fn in_its_words(&self, reply: &ForgeReply) -> String {
        let words = self.quoted(reply);
        if words.is_empty() { words } else { format!(" (it says: {words})") }
    }

    fn quoted(&self, reply: &ForgeReply) -> String {
        if self.is_quoted { cut(&words(reply), WORDS) } else { String::new() }
    }

    fn archived(&self) -> String {
        format!("{} is archived, so nothing can change there: unarchive it, or remove the project", self.address)
    }
}

/// Whether the forge's message contains one of these phrases, for cases that nothing else distinguishes.
pub(crate) fn mentions(reply: &ForgeReply, phrases: &[&str]) -> bool {
    let words = words(reply).to_lowercase();
    phrases.iter().any(|phrase| words.contains(phrase))
}

/// The forge's own message on one line; empty if it is not meant for users.
fn words(reply: &ForgeReply) -> String {
    let Ok(body) = serde_json::from_slice::<Value>(&reply.body) else { return String::new() };
    let mut texts = Vec::new();
    for key in ["message", "error", "error_description", "errors"] {
        gather(&body[key], None, &mut texts);
    }
    let line = texts.join("; ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches('.').chars().filter(|c| !c.is_control()).collect()
}

/// Collects the texts of a message, which may be one text, a list, or lists keyed by field.
fn gather(value: &Value, about: Option<&str>, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => {
            texts.push(about.map_or_else(|| text.clone(), |about| format!("{about} {text}")));
        }
        Value::Array(values) => values.iter().for_each(|value| gather(value, about, texts)),
        Value::Object(fields) => match fields.get("message") {
            Some(message) => gather(message, about, texts),
            None => fields.iter().for_each(|(name, value)| gather(value, Some(name), texts)),
        },
        _ => {}
    }
}
