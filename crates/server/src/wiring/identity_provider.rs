//! The identity provider of `[openid]`, in builds that have the feature `openid`.

use std::sync::Arc;

use docent_operators::IdentityProvider;
use docent_types::Clock;

use crate::config::OpenIdSignIn;
use crate::failure::Failure;

/// Why this build cannot sign people in there.
pub(crate) const NOT_BUILT: &str = "`[openid]` names an identity provider, and this docent was built without the sign-in at one; \
                                    build it with `--features openid`";

/// Sends no request yet. `redirect_url` is the address of this server that browsers return to.
#[cfg(feature = "openid")]
pub(crate) fn set_up(
    sign_in: OpenIdSignIn,
    redirect_url: String,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn IdentityProvider>, Failure> {
    let OpenIdSignIn { label, issuer, client_id, client_secret, scopes, groups_claim, roles: _ } = sign_in;
    let config = docent_openid::OpenIdConfig { label, issuer, client_id, client_secret, scopes, groups_claim };
    Ok(Arc::new(docent_openid::OpenIdProvider::new(config, redirect_url, clock)))
}

#[cfg(not(feature = "openid"))]
pub(crate) fn set_up(_: OpenIdSignIn, _: String, _: Arc<dyn Clock>) -> Result<Arc<dyn IdentityProvider>, Failure> {
    Err(Failure::plain(NOT_BUILT))
}
