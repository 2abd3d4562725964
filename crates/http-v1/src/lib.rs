//! Version 1 of the API over HTTP, deprecated but complete: agent jobs and the assistant.
//!
//! This crate is only an adapter: each request is parsed, admitted, handed to a core, and its result presented. A path
//! is one variant of a closed enum in `route.rs`, and each variant is one file:
//!
//! | file | method and path |
//! |---|---|
//! | `create_job.rs` | `POST /v1/agent/{projectId}/job` |
//! | `get_session.rs` | `GET /v1/agent/{projectId}/job/{id}` |
//! | `list_sessions.rs` | `GET /v1/agent/{projectId}/jobs` |
//! | `ask.rs` | `POST /discovery/v1/assistant/{domain}/message` |
//! | `resume.rs` | `GET /discovery/v1/assistant/{domain}/message?chatId=` |
//!
//! Creating a job answers with the job's events while it runs: `job_stream.rs` watches it, `job_chat.rs` turns its
//! events into those of a chat, and `docent-ui-stream` encodes them. A job does not depend on a listener.
//!
//! [`Api`] is the handler. It does not know agents, git, storage, or the other version.

mod api;
mod ask;
mod ask_body;
mod content;
mod create_body;
mod create_job;
mod deprecation;
mod get_session;
mod job_chat;
mod job_stream;
mod list_sessions;
mod resume;
mod route;
mod router;
mod session;

pub use api::Api;
pub use route::Route;

#[cfg(test)]
mod tests;
