//! What one job does: prepare, agent, checks, commit, push, pull request.
//!
//! [`Author`] is the worker the job engine runs. Everything it does is a [`record::Record`] in the job's journal, and
//! everything it knows is folded from there ([`record::Progress`]), so a job goes on wherever it was cut:
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
//! [`Pulls`] shows, merges and closes the local forge's pull requests. This crate knows no HTTP.

mod author;
mod docs;
mod files;
mod ports;
mod publish;
mod pulls;
pub mod record;
mod repositories;
mod session;
mod stop;
mod words;

#[cfg(test)]
mod tests;

pub use author::Author;
pub use docent_workspace::FileDiff;
pub use docs::Docs;
pub use ports::{Forges, Projects};
pub use pulls::{MergeError, Pulls};
pub use repositories::{Repositories, TokenOf};
