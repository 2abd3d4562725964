//! An HTTP client: the mechanics that every adapter to a model or a forge needs, without knowing what is asked.
//!
//! A [`Client`] sends a whole request and returns a [`Response`] as soon as its head has arrived; the body is then read
//! within a limit, or chunk by chunk. It speaks HTTP/1.1 and HTTP/2, whichever the server offers.
//!
//! | promise | how |
//! |---|---|
//! | every wait has a limit | for connecting, for the head, for silence in a body, for the whole exchange |
//! | no answer fills the memory | a whole body is read within a limit in bytes that the caller names |
//! | a credential goes to one place | redirects are never followed, and plain `http://` to another network is refused |
//! | a credential is in no log | `Debug` of [`Secret`] hides it; its headers are marked sensitive |
//! | the machine's settings apply | system certificates (`SSL_CERT_FILE` too), `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` |
//!
//! A request that may have had an effect is never retried here: only a `GET` or another safe method, on a kept
//! connection that its server had just closed. [`SendError::is_transient`] and [`retry_after`] help a caller decide on
//! a retry.
//!
//! | file | does |
//! |---|---|
//! | `client.rs`, `response.rs` | one exchange, its limits |
//! | `base_url.rs` | where the paths of an API begin |
//! | `connector.rs`, `proxy.rs`, `tls.rs` | from an address to a connection |
//! | `error.rs`, `retry_after.rs` | what went wrong, and when to retry |
//! | `secret.rs`, `secret_source.rs` | keys and tokens, and where they are read from |

mod base_url;
mod client;
mod connector;
mod error;
mod proxy;
mod response;
mod retry_after;
mod secret;
mod secret_source;
mod tls;

#[cfg(test)]
mod tests;

pub use base_url::BaseUrl;
pub use client::{Client, ClientOptions};
pub use error::{SendError, Wait};
pub use response::{Chunks, Response};
pub use retry_after::retry_after;
pub use secret::{Secret, SecretError};
pub use secret_source::{SecretSource, SecretSourceError};
