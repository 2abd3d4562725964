//! What one job does: prepare, agent, checks, commit, push, pull request.
//!
//! [`Author`] is the worker the job engine runs. Everything it does is a [`record::Record`] in the job's journal, and
//! everything it knows is folded from there ([`progress::Progress`]), so a job goes on wherever it was cut:
//!
//! | step | effect outside | why doing it twice is safe |
//! |---|---|---|
//! | prepare | the mirror is fetched | a fetch is a fetch |
//! | agent | the model is called | a reply that is not in the journal was never acted on |
//! | commit | objects in the mirror | same parent, tree, author and date give the same commit |
//! | push | the job's branch moves | only from where we found it; already there counts as done |
//! | pull request | one is opened | it is looked up by its branch first |
//!
//! A turn that failed before its push is forgotten but for what was asked, so that a follow-up does not build on work
//! that is nowhere. What was pushed stays, and gets its pull request with the next turn if it has none.
//!
//! What a job does is told to anyone by [`tell`], entry by entry of its journal; the words of a model that is at it are
//! told live as well.
//!
//! [`Pulls`] shows, updates, merges and closes the local forge's pull requests. This crate knows no HTTP.

mod address;
mod asking;
mod author;
mod commit;
mod config;
mod context_repositories;
mod docs;
mod escape;
mod events;
mod files;
mod notes;
mod ports;
mod prepare;
pub mod progress;
mod publish;
mod pulls;
pub mod record;
mod repositories;
mod session;
mod signing;
mod stop;
mod time_budget;
mod transport;
mod wording;

#[cfg(test)]
mod tests;

pub use author::Author;
pub use config::{AuthorConfig, SearchOf, search_of};
pub use docent_workspace::{Diff, DiffView, FileDiff};
pub use docs::Docs;
pub use events::job_events;
pub use ports::{Forges, Projects};
pub use pulls::{MergeError, Pulls, Updated};
pub use repositories::{CredentialsOf, Repositories};
pub use signing::Signing;
pub use time_budget::TimeUsed;
pub use transport::{BlockingWork, Transport};
