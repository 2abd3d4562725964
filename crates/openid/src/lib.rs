//! Sign-in at an OpenID Connect provider: implements the port of `docent-operators` with the authorization code flow
//! and PKCE.
//!
//! The provider's metadata is read from its discovery document at the first sign-in, again after an hour, after a
//! failure, and when an ID token is signed by a key that is not known yet. An ID token counts only when it is signed by
//! the provider, names it as the issuer and this server as its audience (where there are others, also as the party that
//! it was issued to), holds the nonce of the request, and is neither expired nor from the future. Groups and names that the ID token lacks are requested from the user info endpoint, whose answer has to
//! name the same subject.
//!
//! The crate `openidconnect` implements the protocol and verifies signatures; requests are sent by `docent-http-client`.
//! The claims are read here, since the crate refuses a token in which any claim that it knows has another type than the
//! specification gives it, used or not.

mod claims;
mod id_token;
mod provider;
#[cfg(test)]
mod tests;
mod token_answer;

pub use provider::{OpenIdConfig, OpenIdProvider};
