//! The API of the forge that one repository is on.

use std::sync::Arc;

use docent_forge::ForgeError;
use docent_http_client::Client;
use docent_types::Clock;
use http::StatusCode;
use serde::de::DeserializeOwned;

use crate::address::Address;
use crate::call::{self, ForgeCall};
use crate::reply::ForgeReply;
use crate::reply_context::ReplyContext;
use crate::token::TokenSource;
use crate::unusable_reply::UnusableReply;

/// The API of the forge that one repository is on.
#[derive(Debug, Clone)]
pub(crate) struct ForgeApi {
    pub(crate) client: Client,
    pub(crate) address: Address,
    pub(crate) tokens: TokenSource,
    pub(crate) clock: Arc<dyn Clock>,
    /// Whether the requests only check the project's settings. The address may then be that of any service inside the
    /// network, whose answers are not for whoever typed it, so they are not quoted.
    pub(crate) is_check: bool,
}

impl ForgeApi {
    pub(crate) fn for_check(&self) -> Self {
        Self { is_check: true, ..self.clone() }
    }

    /// Sends a request with the repository's token.
    pub(crate) async fn send(&self, call: ForgeCall) -> Result<ForgeReply, ForgeError> {
        let token = self.tokens.token(&self.address).await?;
        let reply = call::send(&self.client, &self.address, &call, token.as_ref()).await?;
        if matches!(reply.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            self.tokens.forget(&self.address);
        }
        Ok(reply)
    }

    /// Sends a request and parses the answer of a success.
    pub(crate) async fn fetch<T: DeserializeOwned>(&self, call: ForgeCall) -> Result<T, ForgeError> {
        self.read(&self.send(call).await?)
    }

    /// Changes the pull request of this number and parses its new state.
    pub(crate) async fn update<T: DeserializeOwned>(&self, number: u64, call: ForgeCall) -> Result<T, ForgeError> {
        let reply = self.send(call).await?;
        if reply.status == StatusCode::NOT_FOUND {
            let tokens = &self.tokens;
            return Err(self.refused(&format!("has no pull request {number} any more, or {tokens} may not see it")));
        }
        self.read(&reply)
    }

    /// Parses the answer of a success; any other answer is an error.
    pub(crate) fn read<T: DeserializeOwned>(&self, reply: &ForgeReply) -> Result<T, ForgeError> {
        if !reply.status.is_success() {
            return Err(self.error(reply));
        }
        call::read(&self.address, reply)
    }

    pub(crate) fn error(&self, reply: &ForgeReply) -> ForgeError {
        let (address, tokens, now) = (&self.address, &self.tokens, self.clock.now());
        ReplyContext { address, tokens, now, is_quoted: !self.is_check }.classify(reply)
    }

    /// Whether the forge finds something at this path.
    pub(crate) async fn exists(&self, path: String) -> Result<bool, ForgeError> {
        let reply = self.send(ForgeCall::get(path)).await?;
        match reply.status {
            StatusCode::NOT_FOUND => Ok(false),
            status if status.is_success() => Ok(true),
            _ => Err(self.error(&reply)),
        }
    }

    /// The error if the forge refuses to open a pull request because one exists, but does not list that one.
    pub(crate) fn unlisted(&self) -> ForgeError {
        let source = UnusableReply::Unlisted { forge: self.address.authority().to_owned() };
        ForgeError::Unavailable { retry_after: None, source: source.into() }
    }

    /// `what` completes a sentence that begins with the repository's name.
    pub(crate) fn refused(&self, what: &str) -> ForgeError {
        ForgeError::Refused { sentence: format!("{} at {} {what}", self.address, self.address.authority()) }
    }
}
