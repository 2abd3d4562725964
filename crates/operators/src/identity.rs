//! Signing in at an identity provider: the port to the provider, and the roles of its groups.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_types::{BoxError, Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::operator::OperatorRole;
use crate::token::TokenHash;

/// Maximum time between leaving for the provider and coming back.
pub(crate) const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Maximum number of sign-ins that wait for their browsers to return. Beyond that, a new one replaces the oldest.
pub(crate) const MAX_PENDING_SIGN_INS: usize = 1000;

/// A person's identity at an identity provider. A name or an e-mail address may pass from one person to another there;
/// an identity does not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
}

/// What an identity provider states about a person who signed in there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityClaims {
    pub identity: Identity,
    /// Names of the person, the preferred one first.
    pub names: Vec<String>,
    pub groups: Vec<String>,
}

/// The roles that groups of an identity provider give.
#[derive(Debug, Clone, Default)]
pub struct GroupRoles {
    pub owner: Vec<String>,
    pub editor: Vec<String>,
    pub viewer: Vec<String>,
    /// The role of people who are in none of these groups; `None` refuses them.
    pub default: Option<OperatorRole>,
}

impl GroupRoles {
    /// The highest role that one of these groups gives.
    pub fn role_of(&self, groups: &[String]) -> Option<OperatorRole> {
        let given = [
            (&self.owner, OperatorRole::Owner),
            (&self.editor, OperatorRole::Editor),
            (&self.viewer, OperatorRole::Viewer),
        ];
        let found = given.into_iter().find(|(of_role, _)| groups.iter().any(|group| of_role.contains(group)));
        found.map(|(_, role)| role).or(self.default)
    }
}

/// A sign-in request to the provider, with the secrets that are checked when the browser returns.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationRequest {
    /// The address that the browser is sent to.
    pub url: String,
    /// Returned by the browser.
    pub state: String,
    /// Returned in the provider's signed statement.
    pub nonce: String,
    /// The PKCE verifier, which proves to the provider that the code is redeemed by the server that began the sign-in.
    pub verifier: String,
}

impl fmt::Debug for AuthorizationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthorizationRequest(…)")
    }
}

/// The provider's answer, as the browser brings it back.
#[derive(Clone)]
pub struct AuthorizationResponse {
    pub state: String,
    /// The issuer of the answer, if it is named.
    pub issuer: Option<String>,
    /// The authorization code, or the provider's error code.
    pub code: Result<String, String>,
}

impl fmt::Debug for AuthorizationResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthorizationResponse(…)")
    }
}

/// Why a sign-in at the identity provider failed. The source is for the log.
#[derive(Debug, Error)]
pub enum IdentityError {
    #[error(
        "the identity provider cannot be reached, or is not set up right: try again in a moment, or sign in with a password"
    )]
    Unavailable(#[source] BoxError),
    #[error("what the identity provider said does not prove who you are, so you are not signed in: sign in once more")]
    Unproven(#[source] BoxError),
}

/// An identity provider.
#[async_trait]
pub trait IdentityProvider: Send + Sync + fmt::Debug + 'static {
    /// The provider's display name, for the button.
    fn label(&self) -> &str;

    fn issuer(&self) -> &str;

    /// Begins a sign-in.
    async fn begin(&self) -> Result<AuthorizationRequest, IdentityError>;

    /// Exchanges the code that a browser brought for the person's claims. Claims count only if they are signed by the
    /// provider, for this server, for this request and not expired.
    async fn identify(&self, code: String, request: &AuthorizationRequest) -> Result<IdentityClaims, IdentityError>;
}

/// The identity provider of a server, and what its groups may do.
#[derive(Debug)]
pub(crate) struct ProviderSignIn {
    pub(crate) provider: Arc<dyn IdentityProvider>,
    pub(crate) roles: GroupRoles,
}

/// A sign-in whose browser was sent to the provider, with the secrets that are checked when it returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSignIn {
    pub request: AuthorizationRequest,
    /// The SHA-256 of the browser's cookie.
    browser: [u8; 32],
    /// The path to go to afterwards.
    pub return_path: String,
    pub expires_at: Timestamp,
}

impl PendingSignIn {
    /// `browser` is a secret of the browser that is sent.
    pub fn begin(request: AuthorizationRequest, browser: &str, return_path: &str, now: Timestamp) -> Self {
        let browser = *TokenHash::of(browser).as_bytes();
        Self { request, browser, return_path: return_path.to_owned(), expires_at: now.plus(SIGN_IN_TIMEOUT) }
    }

    /// The hash by which the sign-in is found when the browser returns.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.request.state)
    }

    /// Whether this browser was sent, and returned in time.
    pub(crate) fn is_of(&self, browser: &str, now: Timestamp) -> bool {
        self.browser == *TokenHash::of(browser).as_bytes() && now <= self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_role_wins_and_nobody_gets_in_without_one() {
        let groups = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let roles = GroupRoles {
            owner: groups(&["admins"]),
            editor: groups(&["docs", "writers"]),
            viewer: groups(&["staff"]),
            default: None,
        };
        for (of, role) in [
            (&["staff", "admins", "docs"][..], Some(OperatorRole::Owner)),
            (&["staff", "writers"], Some(OperatorRole::Editor)),
            (&["staff"], Some(OperatorRole::Viewer)),
            (&["Staff", "admins "], None),
            (&[], None),
        ] {
            assert_eq!(roles.role_of(&groups(of)), role, "{of:?}");
        }
        let open = GroupRoles { default: Some(OperatorRole::Viewer), ..roles };
        assert_eq!(open.role_of(&[]), Some(OperatorRole::Viewer));
        assert_eq!(open.role_of(&groups(&["docs"])), Some(OperatorRole::Editor));
    }
}
