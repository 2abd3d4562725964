//! The API of the forge that one repository is on.

use std::sync::Arc;

use docent_forge::ForgeError;
use docent_http_client::Client;
use docent_types::Clock;
use http::StatusCode;
use serde::de::DeserializeOwned;

use crate::address::Address;
use crate::call::{ForgeCall, read, send};
use crate::reply::ForgeReply;
use crate::reply_context::ReplyContext;
use crate::token::TokenSource;

/// The API of the forge that one repository is on.
#[derive(Debug, Clone)]
pub(crate) struct ForgeApi {
    pub(crate) client: Client,
    pub(crate) address: Address,
    pub(crate) tokens: TokenSource,
    pub(crate) clock: Arc<dyn Clock>,
}

impl ForgeApi {
    /// Asks with the repository's token.
    pub(crate) async fn ask(&self, call: ForgeCall) -> Result<ForgeReply, ForgeError> {
        let token = self.tokens.token(&self.address).await?;
        let reply = send(&self.client, &self.address, &call, token.as_ref()).await?;
        if matches!(reply.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            self.tokens.forget(&self.address);
        }
        Ok(reply)
    }

    /// Asks, and reads the answer of a success.
    pub(crate) async fn asks<T: DeserializeOwned>(&self, call: ForgeCall) -> Result<T, ForgeError> {
        self.read(&self.ask(call).await?)
    }

    /// Changes the pull request of this number, and reads what it is then.
    pub(crate) async fn changes<T: DeserializeOwned>(&self, number: u64, call: ForgeCall) -> Result<T, ForgeError> {
        let reply = self.ask(call).await?;
        if reply.status == StatusCode::NOT_FOUND {
            let tokens = &self.tokens;
            return Err(self.refused(&format!("has no pull request {number} any more, or {tokens} may not see it")));
        }
        self.read(&reply)
    }

    /// Reads the answer of a success; anything else is trouble.
    pub(crate) fn read<T: DeserializeOwned>(&self, reply: &ForgeReply) -> Result<T, ForgeError> {
        if !reply.status.is_success() {
            return Err(self.trouble(reply));
        }
        read(&self.address, reply)
    }

    pub(crate) fn trouble(&self, reply: &ForgeReply) -> ForgeError {
        ReplyContext { address: &self.address, tokens: &self.tokens, now: self.clock.now() }.sort(reply)
    }

    /// That of several wrong things it is this one.
    pub(crate) fn refused(&self, what: &str) -> ForgeError {
        ForgeError::Refused { sentence: format!("{} at {} {what}", self.address, self.address.authority()) }
    }
}
