//! Pull requests: open one, find one by its branch, update it.
//!
//! [`Forge`] is the port to the host of a project's pull requests; each forge is one file. [`LocalForge`] needs no
//! other service: its pull requests are in the store, behind the [`PullRequests`] port, and the server displays them.
//! This crate knows no git objects: a branch is a name here, and merging happens elsewhere.

pub mod conformance;
mod local;
pub mod memory;
mod misconfigured;
mod port;
mod pull_request;

pub use local::LocalForge;
pub use misconfigured::Misconfigured;
pub use port::{Forge, ForgeError};
pub use pull_request::{
    CommitRange, FoundPulls, MOST_COMMENTS, NewPullRecord, PullChoice, PullComment, PullKey, PullRecord, PullRequest,
    PullRequestSpec, PullRequests, PullSearch, PullState,
};
