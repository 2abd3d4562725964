//! The model over Anthropic Messages.

mod reply;
mod request;

use async_trait::async_trait;
use bytes::Bytes;
use docent_http_client::Client;
use docent_llm::{Description, Editor, EventStream, Model, ModelError, Request};
use http::HeaderName;

use crate::call_failure::Upstream;
use crate::endpoint::{Base, Endpoint, EndpointError};
use crate::exchange::{self, Exchange};
use crate::input::CallIds;

const OWN_BASE: &str = "https://api.anthropic.com";

/// Context length of all current models, in tokens.
const USUAL_CONTEXT: u32 = 200_000;

/// A model behind `POST {base}/v1/messages`.
///
/// The part of a request that stays the same from call to call is marked for the provider's cache: the tools, the
/// system text, and the transcript up to its last two user messages.
#[derive(Debug, Clone)]
pub struct Anthropic {
    pub(crate) exchange: Exchange,
    endpoint: Endpoint,
}

impl Anthropic {
    /// # Errors
    /// The endpoint's `base_url` is not a base URL.
    pub fn new(client: Client, endpoint: Endpoint) -> Result<Self, EndpointError> {
        let base = endpoint.base_url.as_deref().unwrap_or(OWN_BASE);
        let base = Base::parse(base, &["/v1/messages", "/v1"])?;
        let key = endpoint.key.as_ref().map(|key| (HeaderName::from_static("x-api-key"), key.header()));
        let headers = exchange::headers(key, &[("anthropic-version", "2023-06-01")]);
        let upstream = Upstream::new("anthropic", base, &endpoint);
        Ok(Self { exchange: Exchange { client, upstream, idle: endpoint.idle, headers }, endpoint })
    }

    /// Checks with a cheap request that the server knows the model and accepts the key. Returns a sentence for the
    /// user.
    pub async fn check(&self) -> Result<String, ModelError> {
        self.exchange.check("/v1/models?limit=1000", self).await
    }

    fn body(&self, request: &Request) -> Bytes {
        let most = self.endpoint.max_reply_tokens.unwrap_or(u32::MAX);
        let body = request::body(request, &self.endpoint.model, request.max_tokens.min(most));
        Bytes::from(body.to_string())
    }
}

#[async_trait]
impl Model for Anthropic {
    fn describe(&self) -> Description {
        let mut description = Description::new("anthropic", self.endpoint.model.clone());
        description.context_tokens = self.endpoint.context_tokens.unwrap_or(USUAL_CONTEXT);
        description.editor = Editor::TextEditor;
        description
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let (body, ids) = (self.body(&request), CallIds::after(&request.messages));
        // The call may take minutes; do not keep a second copy of the transcript for so long.
        drop(request);
        let answer = self.exchange.post("/v1/messages", body).await.map_err(|refusal| refusal.error)?;
        self.exchange.events(answer, reply::MessageParser::new(ids))
    }
}

#[cfg(test)]
pub(crate) use reply::MessageParser;
