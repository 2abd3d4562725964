//! Version 2 of the API over HTTP: agent jobs, the assistant, search, pages and analytics.
//!
//! This crate is only an adapter: each request is parsed, admitted, handed to a core, and its result presented. A path
//! is one variant of a closed enum in `route.rs`, and each variant is one file:
//!
//! | file | method and path |
//! |---|---|
//! | `create_job.rs` | `POST /v2/agent/{projectId}/job` |
//! | `get_job.rs` | `GET /v2/agent/{projectId}/job/{id}` |
//! | `list_jobs.rs` | `GET /v2/agent/{projectId}/jobs` |
//! | `events.rs` | `GET /v2/agent/{projectId}/job/{id}/events` |
//! | `message_job.rs` | `POST /v2/agent/{projectId}/job/{id}/message` |
//! | `archive_job.rs` | `POST /v2/agent/{projectId}/job/{id}/archive` |
//! | `ask.rs` | `POST /discovery/v2/assistant/{domain}/message` |
//! | `resume.rs` | `GET` and `DELETE /discovery/v2/assistant/{domain}/message/{chatId}/stream` |
//! | `reply_stream.rs` | how the replies of these two are written, by their query |
//! | `feedback.rs` | `POST /discovery/v1/assistant/{domain}/feedback` |
//! | `conversations.rs` | `GET /v1/analytics/{projectId}/assistant`, `…/feedback` and `…/gaps` |
//! | `gap_groups.rs` | `GET /v1/analytics/{projectId}/gaps/groups` |
//! | `summary.rs` | `GET /v1/analytics/{projectId}/summary` |
//! | `thread.rs` | `GET /v1/analytics/{projectId}/assistant/threads/{threadId}` |
//! | `search.rs` | `POST /discovery/v1/search/{domain}` |
//! | `page.rs` | `POST /discovery/v1/page/{domain}` |
//! | `openai.rs` | `POST /discovery/v2/openai/{domain}/chat/completions`, `GET …/models` |
//! | `site_files.rs`, `llms_txt.rs` | `GET /sites/{domain}/…`: pages as Markdown, `llms.txt`, `llms-full.txt` |
//!
//! The checks of a request have the same order everywhere: path, method, key, body, and then the core. So a caller
//! without a key does not learn what exists, and no body is read for a caller who may not send it.
//!
//! [`Api`] is the handler. It does not know agents, git or storage; the parts of the endpoints under `/discovery` that
//! are shared with version 1 are in `docent-discovery`.

mod api;
mod archive_job;
mod ask;
mod ask_body;
mod conversations;
mod create_job;
mod cursor;
mod event_body;
mod events;
mod feedback;
mod gap_groups;
mod get_job;
mod job;
mod list_jobs;
mod llms_txt;
mod message_job;
mod openai;
mod page;
mod parameter;
mod period;
mod ratings;
mod reply_stream;
mod resume;
mod route;
mod router;
mod search;
mod searches;
mod site_files;
mod summary;
mod thread;

pub use api::Api;
pub use job::job_json;
pub use route::Route;

#[cfg(test)]
mod tests;
