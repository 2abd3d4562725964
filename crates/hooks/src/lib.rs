//! Outbound webhooks: each end of a job is posted to the hooks of the server, signed as Standard Webhooks describes it.
//!
//! The events come from the [`Outbox`](docent_jobs::Outbox), which keeps each until it is delivered or given up; so an
//! event is delivered at least once, whatever happens to the process. This crate knows neither the configuration nor
//! how a job is shown: the embedding crate passes a function for that.
//!
//! | file | does |
//! |---|---|
//! | `hooks.rs` | takes due events from the outbox, posts them, records the results |
//! | `url.rs` | where events may be posted to |
//! | `signing.rs` | the secret of a hook, and signatures |
//! | `verdict.rs` | what an answer means, and when to try again |

mod hooks;
mod signing;
mod url;
mod verdict;

#[cfg(test)]
mod tests;

pub use hooks::{DeliveryCounts, Hook, Hooks, JobJson};
pub use signing::{SigningSecret, SigningSecretError};
pub use url::HookUrl;
