//! One provider: its metadata, and the steps of a sign-in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use docent_http_client::{Client, ClientError, ClientOptions, SecretSource, SendError};
use docent_operators::{AuthorizationRequest, Identity, IdentityClaims, IdentityError, IdentityProvider};
use docent_types::BoxError;
use futures::future::BoxFuture;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
    CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata,
    CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdTokenFields, IssuerUrl, Nonce,
    OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    SignatureVerificationError, StandardErrorResponse, StandardTokenResponse, TokenResponse, UserInfoClaims,
};
use parking_lot::Mutex;

use crate::claims::{OtherClaims, names};

/// How long the discovery document and the keys are cached.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
/// Limit for a whole exchange with the provider.
const PATIENCE: Duration = Duration::from_secs(10);
/// Limit for an answer of the provider, in bytes.
const LARGEST_ANSWER: usize = 1 << 20;

pub(crate) type IdFields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type TokenAnswer = StandardTokenResponse<IdFields, CoreTokenType>;
type OpenIdClient = openidconnect::Client<
    OtherClaims,
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
    /// The discovery document with its keys, and when it was read.
    known: Mutex<Option<(Instant, Arc<CoreProviderMetadata>)>>,
}

impl OpenIdProvider {
    /// Sends no request yet. `redirect_url` is the address of this server that browsers return to.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(config: OpenIdConfig, redirect_url: String) -> Result<Self, ClientError> {
        let options = ClientOptions { connect: PATIENCE / 2, head: PATIENCE, idle: PATIENCE, total: Some(PATIENCE) };
        Ok(Self { config, redirect_url, http: Client::new(options)?, known: Mutex::default() })
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

    fn client(&self, metadata: &CoreProviderMetadata) -> Result<OpenIdClient, BoxError> {
        let secret = self.config.client_secret.as_ref().map(SecretSource::read).transpose()?;
        let secret = secret.map(|secret| ClientSecret::new(secret.expose().to_owned()));
        let id = ClientId::new(self.config.client_id.clone());
        let offered = metadata.token_endpoint_auth_methods_supported();
        let by_body = offered.is_some_and(|offered| !offered.contains(&CoreClientAuthMethod::ClientSecretBasic));
        Ok(OpenIdClient::from_provider_metadata(metadata.clone(), id, secret)
            .set_auth_type(if by_body { AuthType::RequestBody } else { AuthType::BasicAuth })
            .set_redirect_uri(RedirectUrl::new(self.redirect_url.clone())?))
    }

    async fn request(&self) -> Result<AuthorizationRequest, BoxError> {
        let client = self.client(&*self.metadata().await?)?;
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

    async fn user_info(
        &self,
        client: &OpenIdClient,
        tokens: &TokenAnswer,
        subject: &openidconnect::SubjectIdentifier,
    ) -> Result<Option<UserInfoClaims<OtherClaims, CoreGenderClaim>>, IdentityError> {
        // Providers need not have the endpoint.
        let Ok(request) = client.user_info(tokens.access_token().clone(), Some(subject.clone())) else {
            return Ok(None);
        };
        let http = self.http();
        request.request_async(&http).await.map(Some).map_err(unproven)
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
        let metadata = self.metadata().await.map_err(IdentityError::Unavailable)?;
        let mut client = self.client(&metadata).map_err(IdentityError::Unavailable)?;
        let tokens = self.tokens(&client, code, &request.verifier).await?;
        let id_token = tokens.id_token().ok_or_else(|| IdentityError::Unproven("there is no ID token".into()))?;
        let nonce = Nonce::new(request.nonce.clone());
        let mut claims = id_token.claims(&client.id_token_verifier(), &nonce).cloned();
        if let Err(ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey)) = &claims
        {
            // The provider may have changed its keys.
            let metadata = self.discover().await.map_err(IdentityError::Unavailable)?;
            client = self.client(&metadata).map_err(IdentityError::Unavailable)?;
            claims = id_token.claims(&client.id_token_verifier(), &nonce).cloned();
        }
        let claims = claims.map_err(unproven)?;
        let subject = claims.subject();
        let identity = Identity { issuer: self.config.issuer.clone(), subject: subject.to_string() };
        let claim = &self.config.groups_claim;
        let mut called = names(claims.preferred_username(), claims.email(), claims.name());
        let mut groups = claims.additional_claims().groups(claim);
        if (groups.is_none() || called.is_empty())
            && let Some(info) = self.user_info(&client, &tokens, subject).await?
        {
            called.extend(names(info.preferred_username(), info.email(), info.name()));
            groups = groups.or_else(|| info.additional_claims().groups(claim));
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
