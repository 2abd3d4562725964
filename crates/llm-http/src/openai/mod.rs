//! The model over chat completions, the API of OpenAI and many others.

mod calls;
mod held_text;
mod reply;
mod request;
mod text_calls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use docent_http_client::{Client, Response};
use docent_llm::{Description, EventStream, Model, ModelError, Request, ToolChoice};
use http::header::AUTHORIZATION;

use crate::call_failure::Upstream;
use crate::endpoint::{Base, Endpoint, EndpointError};
use crate::exchange::{self, Exchange, RefusedCall};
use crate::input::CallIds;

const OWN_BASE: &str = "https://api.openai.com/v1";
const OWN_HOST: &str = "api.openai.com";

/// Default context length, in tokens. Many models have this length; smaller ones must be configured.
const USUAL_CONTEXT: u32 = 128_000;

/// A model behind `POST {base}/chat/completions`.
///
/// Servers differ. If one refuses a request because of `stream_options`, or because of the name of the token limit, the
/// request is sent again without `stream_options` or with the other name, and so are later requests from the start.
#[derive(Debug, Clone)]
pub struct OpenAi {
    pub(crate) exchange: Exchange,
    endpoint: Endpoint,
    dialect: Dialect,
    learned: Arc<ServerQuirks>,
}

/// Properties of a server that cannot be detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dialect {
    /// If the model may call tools, it must. For small local models: the server then enforces a call by a grammar.
    pub force_tools: bool,
    /// Calls that the model writes into its text, as fenced JSON or in `<tool_call>` tags, are executed. While tools
    /// are offered, the text then arrives at the end of the reply instead of streaming.
    pub text_tool_calls: bool,
    /// `None` for the most likely name: `max_completion_tokens` at OpenAI itself, `max_tokens` elsewhere.
    pub token_limit: Option<TokenLimit>,
}

/// The name of the field that limits a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimit {
    MaxTokens,
    MaxCompletionTokens,
}

/// The quirks learned from the server's refusals.
#[derive(Debug, Default)]
struct ServerQuirks {
    no_stream_options: AtomicBool,
    other_token_limit: AtomicBool,
}

impl OpenAi {
    /// # Errors
    /// The endpoint's `base_url` is not a base URL.
    pub fn new(client: Client, endpoint: Endpoint, dialect: Dialect) -> Result<Self, EndpointError> {
        let base = endpoint.base_url.as_deref().unwrap_or(OWN_BASE);
        let base = Base::parse(base, &["/chat/completions"])?.or_path("/v1");
        let key = endpoint.key.as_ref().map(|key| (AUTHORIZATION, key.bearer()));
        let headers = exchange::headers(key, &[]);
        let upstream = Upstream::new("openai", base, &endpoint);
        let exchange = Exchange { client, upstream, idle: endpoint.idle, headers };
        Ok(Self { exchange, endpoint, dialect, learned: Arc::default() })
    }

    /// Checks with a cheap request that the server knows the model and accepts the key. Returns a sentence for the
    /// user.
    pub async fn check(&self) -> Result<String, ModelError> {
        self.exchange.check("/models", self).await
    }

    fn body(&self, request: &Request, wording: OptionalFields) -> Bytes {
        let most = self.endpoint.max_reply_tokens.unwrap_or(u32::MAX);
        let options = request::RequestOptions {
            model: &self.endpoint.model,
            max_tokens: request.max_tokens.min(most),
            token_limit: wording.token_limit,
            stream_options: wording.stream_options,
            force_tools: self.dialect.force_tools,
        };
        Bytes::from(request::body(request, &options).to_string())
    }

    pub(crate) fn wording(&self) -> OptionalFields {
        let is_own = self.exchange.upstream.base.is_host(OWN_HOST);
        let likely = if is_own { TokenLimit::MaxCompletionTokens } else { TokenLimit::MaxTokens };
        let first = self.dialect.token_limit.unwrap_or(likely);
        let other = self.learned.other_token_limit.load(Ordering::Relaxed);
        OptionalFields {
            stream_options: !self.learned.no_stream_options.load(Ordering::Relaxed),
            token_limit: if other { first.other() } else { first },
        }
    }

    /// Posts a request, and again without the fields that the server refuses: at most once per optional field.
    async fn post(&self, request: Request) -> Result<Response, ModelError> {
        let mut changes = 0;
        loop {
            let wording = self.wording();
            match self.exchange.post("/chat/completions", self.body(&request, wording)).await {
                Ok(answer) => return Ok(answer),
                Err(refusal) if changes < 2 && self.learns(wording, &refusal) => {
                    changes += 1;
                    let (base, error) = (&self.exchange.upstream.base, &refusal.error);
                    tracing::debug!(%base, %error, "sending the request again without the fields that the server refused");
                }
                Err(refusal) => return Err(refusal.error),
            }
        }
    }

    /// Records which optional field the server refused, if that was the reason.
    fn learns(&self, sent: OptionalFields, refusal: &RefusedCall) -> bool {
        if !matches!(refusal.status, 400 | 422) {
            return false;
        }
        if sent.stream_options && refusal.reported.rejects("stream_options") {
            self.learned.no_stream_options.store(true, Ordering::Relaxed);
            return true;
        }
        // If only the number is wrong, the server does not mention the other name.
        let names_both =
            [sent.token_limit, sent.token_limit.other()].iter().all(|name| refusal.reported.rejects(name.name()));
        // Two concurrent calls may learn the same quirk, so switch only if the sent name is still the current one.
        if names_both && sent.token_limit == self.wording().token_limit {
            self.learned.other_token_limit.fetch_not(Ordering::Relaxed);
        }
        names_both
    }
}

/// Fields of a request that not every server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionalFields {
    pub(crate) stream_options: bool,
    pub(crate) token_limit: TokenLimit,
}

impl TokenLimit {
    const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

#[async_trait]
impl Model for OpenAi {
    fn describe(&self) -> Description {
        let mut description = Description::new("openai", self.endpoint.model.clone());
        description.context_tokens = self.endpoint.context_tokens.unwrap_or(USUAL_CONTEXT);
        description
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let mut reply = reply::CompletionParser::new(CallIds::after(&request.messages));
        if self.dialect.text_tool_calls && request.tool_choice == ToolChoice::Auto {
            reply = reply.reading_calls_in_text(&request.tools);
        }
        let answer = self.post(request).await?;
        self.exchange.events(answer, reply)
    }
}

#[cfg(test)]
pub(crate) use reply::CompletionParser;
