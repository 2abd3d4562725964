//! Runs one job: prepare, agent, checks, commit, push, pull request.
//!
//! [`Author`] is the worker that the job engine runs. Each of its actions is a [`record::Record`] in the job's journal,
//! and its state is folded from those ([`progress::JobState`]), so a job continues wherever it was interrupted:
//!
//! | step | effect outside | why it may be repeated |
//! |---|---|---|
//! | prepare | the mirror is fetched | fetching has no effect elsewhere |
//! | agent | the model is called | a reply that is not in the journal was never acted on |
//! | commit | objects in the mirror | same parent, tree, author and date give the same commit |
//! | push | the job's branch moves | only from the commit that we found; if it is there already, that is success |
//! | pull request | one is opened | it is looked up by its branch first |
//!
//! The work of a turn that failed before its push is forgotten, but its instructions are kept, so that a follow-up does
//! not build on work that does not exist. What was pushed stays, and gets its pull request with the next turn if it has
//! none.
//!
//! [`job_events`] turns each journal entry into events for watchers; a model's text is also sent live as it streams.
//!
//! [`Pulls`] reads, updates, merges and closes the local forge's pull requests. This crate knows no HTTP.

mod address;
mod author;
mod change_text;
mod commit;
mod config;
mod context_repositories;
mod docs;
mod escape;
mod events;
mod files;
mod model_calls;
mod notes;
mod ports;
mod prepare;
pub mod progress;
mod publish;
mod pulls;
pub mod record;
mod repositories;
mod safeguard;
mod session;
mod signing;
mod time_budget;
mod transport;
mod turn_exit;
mod wording;

#[cfg(test)]
mod tests;

pub use author::Author;
pub use config::{AllowCommand, AuthorConfig, SearchOf, search_of};
pub use docent_agent::tool_names;
pub use docent_workspace::{
    CommitSummary, ConflictKind, Diff, DiffView, FileConflict, FileDiff, FileStatus, LineConflict,
};
pub use docs::{Docs, DocsOverview};
pub use events::{AgentStep, job_events, step_of};
pub use ports::{Forges, Projects};
pub use pulls::{ChangeSize, MergeError, PullChanges, Pulls, Updated};
pub use repositories::{CredentialsOf, GitTimes, Repositories};
pub use signing::Signing;
pub use time_budget::TimeUsed;
pub use transport::{BlockingWork, Transport};
