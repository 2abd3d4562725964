//! A GitHub App: exchanges its private key for a token for one repository.
//!
//! The App signs a short JWT, asks GitHub which installation covers the repository, and gets a token of that
//! installation. The token is valid for an hour, for this repository alone, and only for the permissions that are
//! needed: writing contents and pull requests.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use docent_forge::ForgeError;
use docent_http_client::{Client, Secret, SecretSource};
use docent_types::{Clock, Timestamp};
use http::{Method, StatusCode};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use zeroize::Zeroizing;

use crate::address::Address;
use crate::call::{self, ForgeCall, escaped};
use crate::reply::ForgeReply;
use crate::reply_context::ReplyContext;
use crate::token::{TokenSource, refuse};

/// A token is renewed when less time than this is left: a push takes minutes.
const MARGIN: Duration = Duration::from_secs(5 * 60);

/// Lifetime of the signed JWT. GitHub allows ten minutes, by its own clock.
const STATEMENT: Duration = Duration::from_secs(9 * 60);

/// Maximum time by which GitHub's clock may be behind this machine's.
const SKEW: Duration = Duration::from_secs(60);

/// A GitHub App whose private key is configured.
pub struct GithubApp {
    client: Client,
    id: String,
    key: SecretSource,
    clock: Arc<dyn Clock>,
    tokens: Mutex<HashMap<Address, Arc<Slot>>>,
}

/// The token of one repository. The lock is held while it is requested, so that concurrent callers wait and share it.
type Slot = tokio::sync::Mutex<Option<Token>>;

#[derive(Clone)]
struct Token {
    secret: Secret,
    expires_at: Timestamp,
}

impl fmt::Debug for GithubApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GithubApp").field("id", &self.id).field("key", &self.key).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Claims<'a> {
    iat: i64,
    exp: i64,
    iss: &'a str,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
    #[serde(default)]
    suspended_at: Option<String>,
}

#[derive(Deserialize)]
struct InstallationToken {
    token: String,
    expires_at: Timestamp,
}

impl GithubApp {
    /// `id` is the App's id or client id. `key` is its private key in PEM; in an environment variable it may be on one
    /// line with `\n` for the line ends.
    pub fn new(client: Client, id: impl Into<String>, key: SecretSource, clock: Arc<dyn Clock>) -> Self {
        Self { client, id: id.into(), key, clock, tokens: Mutex::default() }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) async fn token(&self, address: &Address) -> Result<Secret, ForgeError> {
        let slot = Arc::clone(self.tokens.lock().entry(address.clone()).or_default());
        let mut cached = slot.lock().await;
        if let Some(token) = &*cached
            && token.expires_at.since(self.clock.now()) > MARGIN
        {
            return Ok(token.secret.clone());
        }
        let token = self.make(address).await?;
        Ok(cached.insert(token).secret.clone())
    }

    pub(crate) fn forget(&self, address: &Address) {
        self.tokens.lock().remove(address);
    }

    async fn make(&self, address: &Address) -> Result<Token, ForgeError> {
        let statement = self.statement(address).await?;
        let path = format!("/repos/{}/{}/installation", escaped(&address.owner), escaped(&address.name));
        let reply = call::send(&self.client, address, &ForgeCall::get(path), Some(&statement)).await?;
        let installation: Installation = self.read(address, &reply)?;
        if installation.suspended_at.is_some() {
            return Err(self.refuse(address, "is suspended for", "lift the suspension in the owner's settings"));
        }
        let wanted = json!({
            "repositories": [address.name],
            "permissions": { "contents": "write", "pull_requests": "write" },
        });
        let path = format!("/app/installations/{}/access_tokens", installation.id);
        let call = ForgeCall::new(Method::POST, path, wanted);
        let reply = call::send(&self.client, address, &call, Some(&statement)).await?;
        let made: InstallationToken = self.read(address, &reply)?;
        let secret = Secret::parse(&made.token)
            .map_err(|_| self.refuse(address, "gets no usable token for", "ask the operator of the forge"))?;
        Ok(Token { secret, expires_at: made.expires_at })
    }

    async fn statement(&self, address: &Address) -> Result<Secret, ForgeError> {
        let pem = Zeroizing::new(self.key.text().map_err(|error| refuse(&error))?.replace("\\n", "\n"));
        let unusable = |error: jsonwebtoken::errors::Error| ForgeError::Refused {
            sentence: format!(
                "{} holds no private key of a GitHub App in PEM form ({error}): download one from the App's settings",
                self.key
            ),
        };
        let key = EncodingKey::from_rsa_pem(pem.as_bytes()).map_err(unusable)?;
        let now = self.clock.now();
        let (iat, exp) = (now.minus(SKEW).seconds(), now.plus(STATEMENT).seconds());
        let statement = Claims { iat, exp, iss: &self.id };
        let signed = jsonwebtoken::encode(&Header::new(Algorithm::RS256), &statement, &key).map_err(unusable)?;
        Secret::parse(&signed).map_err(|_| self.refuse(address, "cannot sign in for", "check its private key"))
    }

    fn read<T: serde::de::DeserializeOwned>(&self, address: &Address, reply: &ForgeReply) -> Result<T, ForgeError> {
        if reply.status.is_success() {
            return call::read(address, reply);
        }
        let context = ReplyContext { address, tokens: &TokenSource::None, now: self.clock.now(), is_quoted: true };
        if let Some(error) = context.transient(reply) {
            return Err(error);
        }
        Err(match reply.status {
            StatusCode::UNAUTHORIZED => self.refuse(
                address,
                "is not recognised by its key at",
                "check the App's id, that the private key is one of its own, and that this machine's clock is right",
            ),
            StatusCode::FORBIDDEN => {
                self.refuse(address, "is suspended or not permitted for", "lift the suspension in the owner's settings")
            }
            StatusCode::NOT_FOUND => self.refuse(
                address,
                "is not installed on",
                "install it there from the App's page and give it access to this repository",
            ),
            StatusCode::UNPROCESSABLE_ENTITY => self.refuse(
                address,
                "lacks permissions in",
                "in the App's settings grant the repository permissions Contents: read and write and \
                 Pull requests: read and write, and accept them in the settings of the installation",
            ),
            _ => context.classify(reply),
        })
    }

    fn refuse(&self, address: &Address, what: &str, remedy: &str) -> ForgeError {
        let sentence = format!("the GitHub App {} {what} {address} at {}: {remedy}", self.id, address.authority());
        ForgeError::Refused { sentence }
    }
}
