//! Classifies the failure of a call and words it.
//!
//! Servers report errors in three ways at once: a status, a code (`type` or `code`) and a message for people. An
//! unambiguous code is decisive, then the common phrases for a context that is too long or an account without credit,
//! then the status. Without a status, because the reply had begun, the other codes decide.

use std::time::Duration;

use docent_http_client::Secret;
use docent_llm::{ModelError, ModelErrorKind};
use http::StatusCode;
use serde_json_borrow::Value;

use crate::endpoint::{Base, Endpoint};

/// The model server, as error sentences name it.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    pub(crate) provider: &'static str,
    pub(crate) base: Base,
    pub(crate) model: String,
    key: Option<Secret>,
    key_source: Option<String>,
}

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallFailure {
    RateLimited,
    Overloaded,
    ContextTooLong,
    Refused,
    /// The API key is missing or wrong.
    Key,
    /// The API key is valid but lacks the permission.
    Forbidden,
    /// The account has no credit.
    Quota,
    NoModel,
    Interrupted,
    /// The server rejects the request.
    Rejected,
}

/// The error a server reported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FailureReply {
    message: String,
    /// `type` and `code`, in lower case.
    codes: Vec<String>,
    /// The status that the body contains, as in a stream.
    status: Option<u16>,
    /// The fields of the request that the server rejects.
    fields: Vec<String>,
}

impl FailureReply {
    /// Parses an error in any of the shapes that servers use; `None` when the body is not an error.
    pub(crate) fn of(body: &Value<'_>) -> Option<Self> {
        let error = ["error", "detail"].iter().map(|name| body.get(*name)).find(|error| !error.is_null());
        let error = match error {
            Some(error) => error,
            None if body.get("object").as_str() == Some("error") => body,
            None => return None,
        };
        let texts = |name: &'static str| error.get(name).as_str().or_else(|| body.get(name).as_str());
        let code = error.get("code");
        let status = code.as_u64().or_else(|| code.as_str()?.parse().ok()).and_then(|code| u16::try_from(code).ok());
        // A list of faults also repeats the request, so only the messages and field names are read.
        let faults = error.as_array().unwrap_or_default();
        let places = faults.iter().flat_map(|fault| fault.get("loc").as_array().into_iter().flatten());
        let fields = places.chain([error.get("param")]).filter_map(|field| field.as_str()).map(str::to_owned).collect();
        let message = error.as_str().or_else(|| texts("message")).or_else(|| faults.first()?.get("msg").as_str());
        Some(Self {
            message: message.unwrap_or_default().to_owned(),
            codes: ["type", "code"]
                .iter()
                .filter_map(|name| error.get(*name).as_str())
                .map(str::to_lowercase)
                .collect(),
            status: status.filter(|status| (400..600).contains(status)),
            fields,
        })
    }

    /// Whether the server rejects this field of the request.
    pub(crate) fn rejects(&self, field: &str) -> bool {
        self.message.contains(field) || self.fields.iter().any(|own| own == field)
    }

    /// The kind of failure. `status` is that of the answer, unless the reply had begun.
    pub(crate) fn classify(&self, status: Option<StatusCode>) -> CallFailure {
        let status = status.map(|status| status.as_u16()).or(self.status);
        let by_code = |table: &[(&str, CallFailure)]| {
            table.iter().find(|(code, _)| self.codes.iter().any(|own| own == code)).map(|(_, failure)| *failure)
        };
        by_code(&DECISIVE_CODES)
            .or_else(|| self.by_phrase())
            .or_else(|| status.map(by_status))
            .or_else(|| by_code(&OTHER_CODES))
            .unwrap_or(CallFailure::Interrupted)
    }

    fn by_phrase(&self) -> Option<CallFailure> {
        let message = self.message.to_lowercase();
        PHRASES.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, failure)| *failure)
    }
}

/// Codes that mean the same with any status.
const DECISIVE_CODES: [(&str, CallFailure); 12] = [
    ("context_length_exceeded", CallFailure::ContextTooLong),
    ("exceed_context_size_error", CallFailure::ContextTooLong),
    ("context_window_exceeded", CallFailure::ContextTooLong),
    ("request_too_large", CallFailure::ContextTooLong),
    ("insufficient_quota", CallFailure::Quota),
    ("insufficient_credits", CallFailure::Quota),
    ("billing_error", CallFailure::Quota),
    ("billing_hard_limit_reached", CallFailure::Quota),
    ("content_filter", CallFailure::Refused),
    ("content_policy_violation", CallFailure::Refused),
    ("invalid_api_key", CallFailure::Key),
    ("model_not_found", CallFailure::NoModel),
];

/// Codes that only repeat the status: used where there is none.
const OTHER_CODES: [(&str, CallFailure); 12] = [
    ("authentication_error", CallFailure::Key),
    ("permission_error", CallFailure::Forbidden),
    ("rate_limit_error", CallFailure::RateLimited),
    ("rate_limit_exceeded", CallFailure::RateLimited),
    ("overloaded_error", CallFailure::Overloaded),
    ("api_error", CallFailure::Overloaded),
    ("timeout_error", CallFailure::Overloaded),
    ("server_error", CallFailure::Overloaded),
    ("internal_server_error", CallFailure::Overloaded),
    ("unavailable_error", CallFailure::Overloaded),
    ("not_found_error", CallFailure::NoModel),
    ("invalid_request_error", CallFailure::Rejected),
];

const PHRASES: [(&str, CallFailure); 14] = [
    ("prompt is too long", CallFailure::ContextTooLong),
    ("input is too long", CallFailure::ContextTooLong),
    ("context length", CallFailure::ContextTooLong),
    ("context window", CallFailure::ContextTooLong),
    ("context limit", CallFailure::ContextTooLong),
    ("context size", CallFailure::ContextTooLong),
    ("maximum context", CallFailure::ContextTooLong),
    ("reduce the length", CallFailure::ContextTooLong),
    // More tokens than the limit per minute: a later attempt would fail, too.
    ("request too large", CallFailure::ContextTooLong),
    ("credit balance", CallFailure::Quota),
    ("insufficient credit", CallFailure::Quota),
    ("exceeded your current quota", CallFailure::Quota),
    ("content management policy", CallFailure::Refused),
    ("usage policies", CallFailure::Refused),
];

fn by_status(status: u16) -> CallFailure {
    match status {
        401 => CallFailure::Key,
        402 => CallFailure::Quota,
        403 => CallFailure::Forbidden,
        404 => CallFailure::NoModel,
        408 | 409 | 425 | 500 | 502..=599 => CallFailure::Overloaded,
        413 => CallFailure::ContextTooLong,
        429 => CallFailure::RateLimited,
        _ => CallFailure::Rejected,
    }
}

impl Upstream {
    pub(crate) fn new(provider: &'static str, base: Base, endpoint: &Endpoint) -> Self {
        let Endpoint { key, key_source, model, .. } = endpoint.clone();
        Self { provider, base, model, key, key_source }
    }

    /// The error for a failure, with the server's message as its source.
    pub(crate) fn error(&self, failure: CallFailure, wait: Option<Duration>, reported: &FailureReply) -> ModelError {
        let error = ModelError::new(kind(failure, wait), self.sentence(failure));
        // Messages about a key may contain a part of it.
        let words = if failure == CallFailure::Key { String::new() } else { self.presentable(&reported.message) };
        if words.is_empty() { error } else { error.because(words) }
    }

    /// An error that no server reported.
    pub(crate) fn own(&self, kind: ModelErrorKind, sentence: &str) -> ModelError {
        let Self { provider, model, base, .. } = self;
        ModelError::new(kind, format!("{provider} {model} at {base}: {sentence}"))
    }

    fn sentence(&self, failure: CallFailure) -> String {
        let Self { provider, model, base, .. } = self;
        let source = self.key_source.as_deref().unwrap_or("the configured key");
        match failure {
            CallFailure::RateLimited => format!("rate limit of {base} exceeded for {provider} {model}"),
            CallFailure::Overloaded => {
                format!("{provider} {model} at {base} is overloaded or temporarily out of order")
            }
            CallFailure::ContextTooLong => format!("the transcript is too long for {provider} {model}"),
            CallFailure::Refused => format!("{provider} {model} refuses to answer this"),
            CallFailure::Key if self.key.is_none() => {
                let source = self.key_source.as_deref().unwrap_or("`api_key_env`");
                format!("{base} requires a key and none is configured for {provider} {model}: set {source}")
            }
            CallFailure::Key => format!("{base} does not accept the key for {provider} {model}: check {source}"),
            CallFailure::Forbidden => {
                format!("the key may not use {provider} {model} at {base}: check the permissions of {source}")
            }
            CallFailure::Quota => {
                format!(
                    "the account at {base} has no credit or quota left for {provider} {model}: add some, or use another model"
                )
            }
            CallFailure::NoModel => format!("{base} has no model {model}: check `model` and `base_url`"),
            CallFailure::Interrupted => format!("the reply of {provider} {model} at {base} broke off"),
            CallFailure::Rejected => format!("{base} does not accept this request for {provider} {model}"),
        }
    }

    /// A server's text for the log: one line, shortened, without the key or what may be a part of it.
    pub(crate) fn presentable(&self, text: &str) -> String {
        const LONGEST: usize = 240;
        let scrubbed = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text));
        let words = scrubbed.split_whitespace().map(|word| if word.contains("**") { "…" } else { word });
        let line: String = words.collect::<Vec<_>>().join(" ").chars().filter(|c| !c.is_control()).collect();
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

fn kind(failure: CallFailure, wait: Option<Duration>) -> ModelErrorKind {
    match failure {
        CallFailure::RateLimited => ModelErrorKind::RateLimited { retry_after: wait },
        CallFailure::Overloaded => ModelErrorKind::Overloaded { retry_after: wait },
        CallFailure::ContextTooLong => ModelErrorKind::ContextTooLong,
        CallFailure::Refused => ModelErrorKind::Refused,
        CallFailure::Key | CallFailure::Forbidden | CallFailure::Quota => ModelErrorKind::Auth,
        CallFailure::Interrupted => ModelErrorKind::Interrupted,
        CallFailure::NoModel | CallFailure::Rejected => ModelErrorKind::Fatal,
    }
}

#[cfg(test)]
mod tests;
