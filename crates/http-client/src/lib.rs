//! Asking servers over HTTP: the mechanics that every adapter to a model or a forge needs, and nothing of what is asked.
//!
//! A [`Client`] sends a whole request and gives a [`Response`] as soon as its head is there; the body is then read within
//! a limit, or chunk by chunk. HTTP/1.1 and HTTP/2 are spoken, as the server likes.
//!
//! | promise | how |
//! |---|---|
//! | nothing is waited for without an end | limits for connecting, for the head, for silence in a body, for all together |
//! | no answer fills the memory | whole bodies are read within a limit that the caller names |
//! | a credential goes to one place | redirects are never followed, and plain `http://` to another network is refused |
//! | a credential is in no log | [`Secret`] shows itself to nobody; its headers are marked sensitive |
//! | the machine's own settings hold | system certificates (`SSL_CERT_FILE` too), `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` |
//!
//! Nothing that may have had an effect is tried twice here: only a `GET` and its like, on a connection that its server had kept
//! and closed just then. [`SendError::is_transient`] and [`retry_after`] tell a caller who may try again.
//!
//! | file | does |
//! |---|---|
//! | `client.rs`, `response.rs` | one exchange, its limits |
//! | `connector.rs`, `proxy.rs`, `tls.rs` | from an address to a connection |
//! | `near.rs` | which hosts a credential may go to in plain text |
//! | `error.rs`, `retry_after.rs` | what went wrong, and when to come back |
//! | `secret.rs`, `secret_source.rs` | keys and tokens, and where they are kept |

mod client;
mod connector;
mod error;
mod near;
mod proxy;
mod response;
mod retry_after;
mod secret;
mod secret_source;
mod tls;

#[cfg(test)]
mod tests;

pub use client::{Client, ClientOptions};
pub use error::{ClientError, SendError, Wait};
pub use near::is_near;
pub use response::{Chunks, Response};
pub use retry_after::retry_after;
pub use secret::{Secret, SecretError};
pub use secret_source::{SecretSource, SecretSourceError};
