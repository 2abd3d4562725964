//! Sign-in at an OpenID Connect provider: implements the port of `docent-operators` with the authorization code flow
//! and PKCE.
//!
//! The provider's metadata is read from its discovery document at the first sign-in, again after an hour, after a
//! failure, and when an ID token is signed by a key that is not known yet. An ID token counts only when it is signed by
//! the provider, names it as the issuer and this server as its only audience, holds the nonce of the request and has
//! not expired. Groups and names that the ID token lacks are requested from the user info endpoint, whose answer has to
//! name the same subject.
//!
//! The crate `openidconnect` implements the protocol; requests are sent by `docent-http-client`.

mod claims;
mod provider;
#[cfg(test)]
mod tests;

pub use provider::{OpenIdConfig, OpenIdProvider};
