//! One provider: its metadata, and the steps of a sign-in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use docent_http_client::{Client, ClientOptions, Secret, SecretSource, SendError};
use docent_operators::{AuthorizationRequest, Identity, IdentityClaims, IdentityError, IdentityProvider};
use docent_types::{BoxError, Clock};
use futures::future::BoxFuture;
use http::StatusCode;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
    CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreProviderMetadata, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EmptyAdditionalClaims, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RequestTokenError, Scope, StandardErrorResponse,
};
use parking_lot::Mutex;

use crate::claims::Claims;
use crate::id_token::{TokenError, Verifier};
use crate::token_answer::TokenAnswer;

/// How long the discovery document and the keys are cached.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
/// Limit for a whole exchange with the provider.
const PATIENCE: Duration = Duration::from_secs(10);
/// Limit for an answer of the provider, in bytes.
const LARGEST_ANSWER: usize = 1 << 20;

type OpenIdClient = openidconnect::Client<
    EmptyAdditionalClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    TokenAnswer,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The address of a provider, and this server's registration there.
#[derive(Debug, Clone)]
pub struct OpenIdConfig {
    /// The provider's name for people.
    pub label: String,
    pub issuer: String,
    pub client_id: String,
    /// Read at each use; `None` for a client that has none.
    pub client_secret: Option<SecretSource>,
    /// Scopes requested in addition to `openid`.
    pub scopes: Vec<String>,
    /// The claim that holds the groups.
    pub groups_claim: String,
}

/// An OpenID Connect provider.
#[derive(Debug)]
pub struct OpenIdProvider {
    config: OpenIdConfig,
    redirect_url: String,
    http: Client,
    /// What the times of ID tokens are compared with.
    clock: Arc<dyn Clock>,
    /// The discovery document with its keys, and when it was read.
    known: Mutex<Option<(Instant, Arc<CoreProviderMetadata>)>>,
}

impl OpenIdProvider {
    /// Sends no request yet. `redirect_url` is the address of this server that browsers return to.
    pub fn new(config: OpenIdConfig, redirect_url: String, clock: Arc<dyn Clock>) -> Self {
        let options = ClientOptions { connect: PATIENCE / 2, head: PATIENCE, idle: PATIENCE, total: Some(PATIENCE) };
        Self { config, redirect_url, http: Client::new(options), clock, known: Mutex::default() }
    }

    fn http(&self) -> impl Fn(HttpRequest) -> BoxFuture<'static, Result<HttpResponse, SendError>> + use<> {
        let http = self.http.clone();
        move |request| {
            let http = http.clone();
            Box::pin(async move {
                let answer = http.send(request.map(Bytes::from)).await?;
                let (status, headers) = (answer.status(), answer.headers().clone());
                let mut response = HttpResponse::new(answer.bytes(LARGEST_ANSWER).await?.into());
                (*response.status_mut(), *response.headers_mut()) = (status, headers);
                Ok(response)
            })
        }
    }

    /// The provider's metadata, read again once it is older than [`KNOWN_FOR`].
    async fn metadata(&self) -> Result<Arc<CoreProviderMetadata>, BoxError> {
        if let Some((since, known)) = &*self.known.lock()
            && since.elapsed() < KNOWN_FOR
        {
            return Ok(Arc::clone(known));
        }
        self.discover().await
    }

    async fn discover(&self) -> Result<Arc<CoreProviderMetadata>, BoxError> {
        let http = self.http();
        let issuer = IssuerUrl::new(self.config.issuer.clone())?;
        let found = Arc::new(CoreProviderMetadata::discover_async(issuer, &http).await?);
        *self.known.lock() = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }

    /// The client's secret, as it is now.
    fn secret(&self) -> Result<Option<Secret>, BoxError> {
        Ok(self.config.client_secret.as_ref().map(SecretSource::read).transpose()?)
    }

    fn client(&self, metadata: &CoreProviderMetadata, secret: Option<&Secret>) -> Result<OpenIdClient, BoxError> {
        let secret = secret.map(|secret| ClientSecret::new(secret.expose().to_owned()));
        let id = ClientId::new(self.config.client_id.clone());
        let offered = metadata.token_endpoint_auth_methods_supported();
        let by_body = offered.is_some_and(|offered| !offered.contains(&CoreClientAuthMethod::ClientSecretBasic));
        Ok(OpenIdClient::from_provider_metadata(metadata.clone(), id, secret)
            .set_auth_type(if by_body { AuthType::RequestBody } else { AuthType::BasicAuth })
            .set_redirect_uri(RedirectUrl::new(self.redirect_url.clone())?))
    }

    async fn request(&self) -> Result<AuthorizationRequest, BoxError> {
        let client = self.client(&*self.metadata().await?, self.secret()?.as_ref())?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let scopes = self.config.scopes.iter().cloned().map(Scope::new);
        let (url, state, nonce) = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
            .add_scopes(scopes)
            .set_pkce_challenge(challenge)
            .url();
        Ok(AuthorizationRequest {
            url: url.into(),
            state: state.into_secret(),
            nonce: nonce.secret().clone(),
            verifier: verifier.into_secret(),
        })
    }

    /// Exchanges the code.
    async fn tokens(&self, client: &OpenIdClient, code: String, verifier: &str) -> Result<TokenAnswer, IdentityError> {
        let http = self.http();
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(unavailable)?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()));
        request.request_async(&http).await.map_err(|error| match error {
            // The code was used before, is forged, or was issued to another client.
            RequestTokenError::ServerResponse(answer) if *answer.error() == CoreErrorResponseType::InvalidGrant => {
                IdentityError::Unproven(answer.to_string().into())
            }
            // Any other complaint of the provider, about our secret for example, is for the operator to fix.
            RequestTokenError::ServerResponse(answer) => IdentityError::Unavailable(answer.to_string().into()),
            RequestTokenError::Request(error) => unavailable(error),
            error => unproven(error),
        })
    }

    /// What the provider says about the person besides the ID token; `None` if it has no endpoint for that.
    async fn user_info(
        &self,
        verifier: &Verifier<'_>,
        access_token: &str,
        subject: &str,
    ) -> Result<Option<Claims>, IdentityError> {
        let Some(endpoint) = verifier.metadata.userinfo_endpoint() else { return Ok(None) };
        let token = Secret::parse(access_token).map_err(unproven)?;
        let request = http::Request::get(endpoint.as_str())
            .header(AUTHORIZATION, token.bearer())
            .header(ACCEPT, "application/json")
            .body(Bytes::new());
        let answer = self.http.send(request.map_err(unproven)?).await.map_err(unproven)?;
        if answer.status() != StatusCode::OK {
            return Err(unproven(format!("the user info endpoint answered {}", answer.status())));
        }
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_signed = kind.trim().to_ascii_lowercase().starts_with("application/jwt");
        let body = answer.bytes(LARGEST_ANSWER).await.map_err(unproven)?;
        let claims = if is_signed {
            let token = std::str::from_utf8(&body).map_err(unproven)?;
            Some(verifier.user_info(token.trim()).map_err(unproven)?)
        } else {
            Claims::parse(&body)
        };
        // A provider could be made to answer for somebody else.
        match claims.filter(|claims| claims.subject() == Some(subject)) {
            Some(claims) => Ok(Some(claims)),
            None => Err(unproven("the user info is not that of the subject of the ID token")),
        }
    }
}

#[async_trait]
impl IdentityProvider for OpenIdProvider {
    fn label(&self) -> &str {
        &self.config.label
    }

    fn issuer(&self) -> &str {
        &self.config.issuer
    }

    async fn begin(&self) -> Result<AuthorizationRequest, IdentityError> {
        self.request().await.map_err(IdentityError::Unavailable)
    }

    async fn identify(&self, code: String, request: &AuthorizationRequest) -> Result<IdentityClaims, IdentityError> {
        let mut metadata = self.metadata().await.map_err(IdentityError::Unavailable)?;
        let secret = self.secret().map_err(IdentityError::Unavailable)?;
        let client = self.client(&metadata, secret.as_ref()).map_err(IdentityError::Unavailable)?;
        let tokens = self.tokens(&client, code, &request.verifier).await?;
        let id_token = tokens.id_token.as_deref().ok_or_else(|| unproven("there is no ID token"))?;
        let (client_id, client_secret) = (self.config.client_id.as_str(), secret.as_ref());
        let now = || Duration::from_millis(u64::try_from(self.clock.now().millis()).unwrap_or_default());
        let mut verified =
            Verifier { metadata: &metadata, client_id, client_secret }.id_token(id_token, &request.nonce, now());
        if let Err(TokenError::UnknownKey) = verified {
            // The provider may have changed its keys.
            metadata = self.discover().await.map_err(IdentityError::Unavailable)?;
            verified =
                Verifier { metadata: &metadata, client_id, client_secret }.id_token(id_token, &request.nonce, now());
        }
        let claims = verified.map_err(unproven)?;
        let subject = claims.subject().unwrap_or_default();
        let identity = Identity { issuer: self.config.issuer.clone(), subject: subject.to_owned() };
        let claim = &self.config.groups_claim;
        let mut called = claims.names();
        let mut groups = claims.groups(claim);
        let verifier = Verifier { metadata: &metadata, client_id, client_secret };
        if (groups.is_none() || called.is_empty())
            && let Some(info) = self.user_info(&verifier, tokens.access_token.secret(), subject).await?
        {
            called.extend(info.names());
            groups = groups.or_else(|| info.groups(claim));
        }
        called.push(identity.subject.clone());
        Ok(IdentityClaims { identity, names: called, groups: groups.unwrap_or_default() })
    }
}

fn unavailable(error: impl Into<BoxError>) -> IdentityError {
    IdentityError::Unavailable(error.into())
}

fn unproven(error: impl Into<BoxError>) -> IdentityError {
    IdentityError::Unproven(error.into())
}
