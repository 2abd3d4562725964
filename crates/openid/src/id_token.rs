//! Verifies what a provider signs: ID tokens, and user info that is signed.
//!
//! The claims that decide are checked here one by one; every other claim may be there or not, and be of any type:
//! providers send texts where the specification has numbers, and objects where it has texts. Signatures are verified by
//! the crate `openidconnect`.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use docent_http_client::Secret;
use openidconnect::core::{CoreJsonWebKey, CoreJwsSigningAlgorithm, CoreProviderMetadata};
use openidconnect::{JsonWebKey, JsonWebKeyId, JwsSigningAlgorithm as _};
use serde::Deserialize;
use serde_json::Value;
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use crate::claims::Claims;

/// How long after its end a token still counts, since clocks differ.
const LEEWAY: Duration = Duration::from_secs(5);
/// By how much the provider's clock may be ahead: a token that is issued later than that is not from this sign-in.
const AHEAD: Duration = Duration::from_secs(60);

/// Why a token proves nothing.
#[derive(Debug, Error)]
pub(crate) enum TokenError {
    #[error("it is not a signed token of three parts")]
    Malformed,
    #[error("its header is not one of a signed token: {0}")]
    Header(&'static str),
    #[error("it is signed by `{0}`, which the provider does not announce, or which proves nothing")]
    Algorithm(String),
    /// The provider may have changed its keys.
    #[error("it is signed by a key that the provider does not publish")]
    UnknownKey,
    #[error("its signature is wrong")]
    Signature,
    #[error("its claim `{0}` is missing or of another type")]
    Missing(&'static str),
    #[error("its issuer is another one")]
    Issuer,
    #[error("it is for another client")]
    Audience,
    #[error("its nonce is another one")]
    Nonce,
    #[error("it has expired")]
    Expired,
    #[error("it is from the future")]
    Early,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    cty: Option<Value>,
    crit: Option<Value>,
}

/// What tokens are verified against.
pub(crate) struct Verifier<'p> {
    pub(crate) metadata: &'p CoreProviderMetadata,
    pub(crate) client_id: &'p str,
    /// Without it, signatures by a shared secret are not accepted.
    pub(crate) client_secret: Option<&'p Secret>,
}

impl Verifier<'_> {
    /// The claims of an ID token that counts at this moment, in seconds since 1970, for the sign-in with this nonce.
    pub(crate) fn id_token(&self, token: &str, nonce: &str, now: Duration) -> Result<Claims, TokenError> {
        let claims = self.signed(token)?;
        if claims.text("iss") != Some(self.metadata.issuer().as_str()) {
            return Err(TokenError::Issuer);
        }
        self.check_audience(&claims)?;
        let now = now.as_secs_f64();
        let expires_at = claims.number("exp").ok_or(TokenError::Missing("exp"))?;
        if expires_at + LEEWAY.as_secs_f64() <= now {
            return Err(TokenError::Expired);
        }
        let issued_at = claims.number("iat").ok_or(TokenError::Missing("iat"))?;
        let earliest = claims.number("nbf").unwrap_or(issued_at).max(issued_at);
        if earliest > now + AHEAD.as_secs_f64() {
            return Err(TokenError::Early);
        }
        if !claims.text("nonce").is_some_and(|given| bool::from(given.as_bytes().ct_eq(nonce.as_bytes()))) {
            return Err(TokenError::Nonce);
        }
        claims.subject().ok_or(TokenError::Missing("sub"))?;
        Ok(claims)
    }

    /// The claims of user info that is signed. It need not name the issuer and the audience.
    pub(crate) fn user_info(&self, token: &str) -> Result<Claims, TokenError> {
        let claims = self.signed(token)?;
        if claims.has("iss") && claims.text("iss") != Some(self.metadata.issuer().as_str()) {
            return Err(TokenError::Issuer);
        }
        if claims.has("aud") && !claims.audiences().contains(&self.client_id) {
            return Err(TokenError::Audience);
        }
        Ok(claims)
    }

    /// A token for this client. Where it is for others too, it has to name this client as the one that asked for it.
    fn check_audience(&self, claims: &Claims) -> Result<(), TokenError> {
        let audiences = claims.audiences();
        let is_ours_alone = audiences.iter().all(|audience| *audience == self.client_id);
        let is_asked_by_us = match claims.has("azp") {
            true => claims.text("azp") == Some(self.client_id),
            false => is_ours_alone,
        };
        if audiences.contains(&self.client_id) && is_asked_by_us { Ok(()) } else { Err(TokenError::Audience) }
    }

    /// The claims of a token whose signature is the provider's.
    fn signed(&self, token: &str) -> Result<Claims, TokenError> {
        let (message, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
        let (header, payload) = message.split_once('.').ok_or(TokenError::Malformed)?;
        let decoded = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed);
        let header: Header = serde_json::from_slice(&decoded(header)?).map_err(|_| TokenError::Malformed)?;
        let signature = decoded(signature)?;
        check_header(&header)?;
        self.check_signature(&header, message.as_bytes(), &signature)?;
        Claims::parse(&decoded(payload)?).ok_or(TokenError::Malformed)
    }

    /// The key comes from the provider's metadata and the algorithm has to be one that it announces; what the header
    /// says only selects among them.
    fn check_signature(&self, header: &Header, message: &[u8], signature: &[u8]) -> Result<(), TokenError> {
        let refused = || TokenError::Algorithm(header.alg.chars().filter(char::is_ascii_graphic).take(20).collect());
        let algorithm: CoreJwsSigningAlgorithm =
            serde_json::from_value(Value::String(header.alg.clone())).map_err(|_| refused())?;
        let announced = self.metadata.id_token_signing_alg_values_supported();
        if algorithm == CoreJwsSigningAlgorithm::None || !announced.contains(&algorithm) {
            return Err(refused());
        }
        if algorithm.uses_shared_secret() {
            let secret = self.client_secret.ok_or_else(refused)?;
            let key = CoreJsonWebKey::new_symmetric(secret.expose().as_bytes().to_vec());
            return key.verify_signature(&algorithm, message, signature).map_err(|_| TokenError::Signature);
        }
        let id = header.kid.clone().map(JsonWebKeyId::new);
        let mut keys = self.metadata.jwks().keys().iter().filter(|key| id.is_none() || key.key_id() == id.as_ref());
        let first = keys.next().ok_or(TokenError::UnknownKey)?;
        let mut keys = std::iter::once(first).chain(keys);
        let is_signed = keys.any(|key| key.verify_signature(&algorithm, message, signature).is_ok());
        if is_signed { Ok(()) } else { Err(TokenError::Signature) }
    }
}

fn check_header(header: &Header) -> Result<(), TokenError> {
    let is_jwt = header.typ.as_ref().is_none_or(|typ| {
        let typ = typ.to_ascii_lowercase();
        matches!(typ.strip_prefix("application/").unwrap_or(&typ), "jwt" | "jose")
    });
    if !is_jwt {
        return Err(TokenError::Header("its type is another one"));
    }
    // None of the extensions that it may name is known here.
    if header.crit.is_some() {
        return Err(TokenError::Header("it has critical extensions"));
    }
    if header.cty.is_some() {
        return Err(TokenError::Header("it holds another token"));
    }
    Ok(())
}
