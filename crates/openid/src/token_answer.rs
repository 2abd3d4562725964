//! The answer of a provider's token endpoint: what is used of it, whatever else it holds.

use std::time::Duration;

use openidconnect::core::{CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreTokenType};
use openidconnect::{
    AccessToken, EmptyAdditionalClaims, IdToken, OAuth2TokenResponse, RefreshToken, Scope, TokenResponse,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: AccessToken,
    /// Not parsed yet.
    pub(crate) id_token: Option<String>,
    /// Every access token here is a bearer token: it is used for the user info alone.
    #[serde(skip, default = "bearer")]
    token_type: CoreTokenType,
}

const fn bearer() -> CoreTokenType {
    CoreTokenType::Bearer
}

impl OAuth2TokenResponse for TokenAnswer {
    type TokenType = CoreTokenType;

    fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    fn token_type(&self) -> &CoreTokenType {
        &self.token_type
    }

    fn expires_in(&self) -> Option<Duration> {
        None
    }

    fn refresh_token(&self) -> Option<&RefreshToken> {
        None
    }

    fn scopes(&self) -> Option<&Vec<Scope>> {
        None
    }
}

/// The ID token is verified from its text, and not by the types of the crate.
impl TokenResponse<EmptyAdditionalClaims, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>
    for TokenAnswer
{
    fn id_token(
        &self,
    ) -> Option<
        &IdToken<EmptyAdditionalClaims, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>,
    > {
        None
    }
}
