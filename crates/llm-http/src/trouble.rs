//! What went wrong, sorted by what to do about it and put into a sentence.
//!
//! Servers tell trouble in three ways at once: a status, a mark (`type` or `code`) and a message for people. A mark that can
//! mean one thing only is believed first, then the few phrases by which everybody tells that a context is too long or an
//! account empty, then the status, and, where there is none because the reply had begun, the other marks.

use std::time::Duration;

use docent_http_client::Secret;
use docent_llm::{ModelError, ModelErrorKind};
use http::StatusCode;
use serde_json::Value;

use crate::endpoint::{Base, Endpoint};

/// Whom we ask, as errors name them.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) provider: &'static str,
    pub(crate) base: Base,
    pub(crate) model: String,
    key: Option<Secret>,
    key_source: Option<String>,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    RateLimited,
    Overloaded,
    ContextTooLong,
    Refused,
    /// The key is missing or wrong.
    Key,
    /// The key is right and may not do this.
    Forbidden,
    /// The account has no credit.
    Quota,
    NoModel,
    Interrupted,
    /// The server finds fault with the request.
    Rejected,
}

/// What a server told of its trouble.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Told {
    message: String,
    marks: Vec<String>,
    /// A status where it is part of the text, as in a stream.
    status: Option<u16>,
    /// The fields of the request that it finds fault with.
    fields: Vec<String>,
}

impl Told {
    /// Reads an error in any of the shapes that servers give it; `None` when this is none.
    pub(crate) fn of(body: &Value) -> Option<Self> {
        let error = ["error", "detail"].iter().map(|name| &body[*name]).find(|error| !error.is_null());
        let error = match error {
            Some(error) => error,
            None if body["object"] == "error" => body,
            None => return None,
        };
        let texts = |name: &str| error[name].as_str().or_else(|| body[name].as_str());
        let code = &error["code"];
        let status = code.as_u64().or_else(|| code.as_str()?.parse().ok()).and_then(|code| u16::try_from(code).ok());
        // A list of faults repeats what was sent beside its words, so only those and the places are taken.
        let faults = error.as_array().map(Vec::as_slice).unwrap_or_default();
        let places = faults.iter().flat_map(|fault| fault["loc"].as_array().into_iter().flatten());
        let fields = places.chain([&error["param"]]).filter_map(Value::as_str).map(str::to_owned).collect();
        let message = error.as_str().or_else(|| texts("message")).or_else(|| faults.first()?["msg"].as_str());
        Some(Self {
            message: message.unwrap_or_default().to_owned(),
            marks: ["type", "code"].iter().filter_map(|name| error[*name].as_str()).map(str::to_lowercase).collect(),
            status: status.filter(|status| (400..600).contains(status)),
            fields,
        })
    }

    /// Whether the server finds fault with this field of the request.
    pub(crate) fn names(&self, field: &str) -> bool {
        self.message.contains(field) || self.fields.iter().any(|own| own == field)
    }

    /// What it means, with the status of the answer where it was the answer.
    pub(crate) fn sort(&self, status: Option<StatusCode>) -> Trouble {
        let status = status.map(|status| status.as_u16()).or(self.status);
        let marked = |table: &[(&str, Trouble)]| {
            table.iter().find(|(mark, _)| self.marks.iter().any(|own| own == mark)).map(|(_, trouble)| *trouble)
        };
        marked(&PLAIN_MARKS)
            .or_else(|| self.phrased())
            .or_else(|| status.map(of_status))
            .or_else(|| marked(&OTHER_MARKS))
            .unwrap_or(Trouble::Interrupted)
    }

    fn phrased(&self) -> Option<Trouble> {
        let message = self.message.to_lowercase();
        PHRASES.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, trouble)| *trouble)
    }
}

/// Marks that mean one thing, whatever the status.
const PLAIN_MARKS: [(&str, Trouble); 12] = [
    ("context_length_exceeded", Trouble::ContextTooLong),
    ("exceed_context_size_error", Trouble::ContextTooLong),
    ("context_window_exceeded", Trouble::ContextTooLong),
    ("request_too_large", Trouble::ContextTooLong),
    ("insufficient_quota", Trouble::Quota),
    ("insufficient_credits", Trouble::Quota),
    ("billing_error", Trouble::Quota),
    ("billing_hard_limit_reached", Trouble::Quota),
    ("content_filter", Trouble::Refused),
    ("content_policy_violation", Trouble::Refused),
    ("invalid_api_key", Trouble::Key),
    ("model_not_found", Trouble::NoModel),
];

/// Marks that repeat the status and count where there is none.
const OTHER_MARKS: [(&str, Trouble); 12] = [
    ("authentication_error", Trouble::Key),
    ("permission_error", Trouble::Forbidden),
    ("rate_limit_error", Trouble::RateLimited),
    ("rate_limit_exceeded", Trouble::RateLimited),
    ("overloaded_error", Trouble::Overloaded),
    ("api_error", Trouble::Overloaded),
    ("timeout_error", Trouble::Overloaded),
    ("server_error", Trouble::Overloaded),
    ("internal_server_error", Trouble::Overloaded),
    ("unavailable_error", Trouble::Overloaded),
    ("not_found_error", Trouble::NoModel),
    ("invalid_request_error", Trouble::Rejected),
];

const PHRASES: [(&str, Trouble); 14] = [
    ("prompt is too long", Trouble::ContextTooLong),
    ("input is too long", Trouble::ContextTooLong),
    ("context length", Trouble::ContextTooLong),
    ("context window", Trouble::ContextTooLong),
    ("context limit", Trouble::ContextTooLong),
    ("context size", Trouble::ContextTooLong),
    ("maximum context", Trouble::ContextTooLong),
    ("reduce the length", Trouble::ContextTooLong),
    // More than a minute's tokens in one request: it will not fit in the next minute either.
    ("request too large", Trouble::ContextTooLong),
    ("credit balance", Trouble::Quota),
    ("insufficient credit", Trouble::Quota),
    ("exceeded your current quota", Trouble::Quota),
    ("content management policy", Trouble::Refused),
    ("usage policies", Trouble::Refused),
];

fn of_status(status: u16) -> Trouble {
    match status {
        401 => Trouble::Key,
        402 => Trouble::Quota,
        403 => Trouble::Forbidden,
        404 => Trouble::NoModel,
        408 | 409 | 425 | 500 | 502..=599 => Trouble::Overloaded,
        413 => Trouble::ContextTooLong,
        429 => Trouble::RateLimited,
        _ => Trouble::Rejected,
    }
}

impl Peer {
    pub(crate) fn new(provider: &'static str, base: Base, endpoint: &Endpoint) -> Self {
        let Endpoint { key, key_source, model, .. } = endpoint.clone();
        Self { provider, base, model, key, key_source }
    }

    /// The error that tells of a trouble, with the server's own words as its source.
    pub(crate) fn error(&self, trouble: Trouble, wait: Option<Duration>, told: &Told) -> ModelError {
        let error = ModelError::new(kind(trouble, wait), self.sentence(trouble));
        // What is said about a key may hold a part of it.
        let words = if trouble == Trouble::Key { String::new() } else { self.presentable(&told.message) };
        if words.is_empty() { error } else { error.because(words) }
    }

    /// An error of a trouble that no server told.
    pub(crate) fn own(&self, kind: ModelErrorKind, sentence: &str) -> ModelError {
        let Self { provider, model, base, .. } = self;
        ModelError::new(kind, format!("{provider} {model} at {base}: {sentence}"))
    }

    fn sentence(&self, trouble: Trouble) -> String {
        let Self { provider, model, base, .. } = self;
        let source = self.key_source.as_deref().unwrap_or("the configured key");
        match trouble {
            Trouble::RateLimited => format!("{base} limits how often {provider} {model} may be asked"),
            Trouble::Overloaded => format!("{provider} {model} at {base} is overloaded or broken for the moment"),
            Trouble::ContextTooLong => format!("the transcript is too long for {provider} {model}"),
            Trouble::Refused => format!("{provider} {model} declines to answer this"),
            Trouble::Key if self.key.is_none() => {
                let source = self.key_source.as_deref().unwrap_or("`api_key_env`");
                format!("{base} wants a key and there is none for {provider} {model}: set {source}")
            }
            Trouble::Key => format!("{base} does not accept the key for {provider} {model}: check {source}"),
            Trouble::Forbidden => {
                format!("{base} does not let this key use {provider} {model}: check what {source} may do")
            }
            Trouble::Quota => {
                format!(
                    "the account at {base} has no credit or quota left for {provider} {model}: add some, or use another model"
                )
            }
            Trouble::NoModel => format!("{base} has no model {model}: check `model` and `base_url`"),
            Trouble::Interrupted => format!("the reply of {provider} {model} at {base} broke off"),
            Trouble::Rejected => format!("{base} does not accept this request for {provider} {model}"),
        }
    }

    /// A server's text, fit for a log: one line, not long, without the key or what may be a part of it.
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

fn kind(trouble: Trouble, wait: Option<Duration>) -> ModelErrorKind {
    match trouble {
        Trouble::RateLimited => ModelErrorKind::RateLimited { retry_after: wait },
        Trouble::Overloaded => ModelErrorKind::Overloaded { retry_after: wait },
        Trouble::ContextTooLong => ModelErrorKind::ContextTooLong,
        Trouble::Refused => ModelErrorKind::Refused,
        Trouble::Key | Trouble::Forbidden | Trouble::Quota => ModelErrorKind::Auth,
        Trouble::Interrupted => ModelErrorKind::Interrupted,
        Trouble::NoModel | Trouble::Rejected => ModelErrorKind::Fatal,
    }
}

#[cfg(test)]
#[path = "tests/trouble.rs"]
mod tests;
