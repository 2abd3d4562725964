//! Pull requests on GitHub, GitLab and Gitea or Forgejo, behind the port of `docent-forge`.
//!
//! [`http_forge()`] returns the forge of one repository; each vendor's vocabulary is confined to the vendor's file. An
//! [`Address`] has the URL of the repository's API and its owner and name there; it is derived from git's URL. A
//! [`TokenSource`] provides the token, from a variable, a file or a [`GithubApp`], for the API and for git alike.
//!
//! Nothing is retried here: errors are sorted into transient ones (with the delay, if the forge gives one) and ones
//! that a person must fix (with a sentence that says how). A redirect is followed once, to the same host.
//!
//! Whether a pull request is a draft is set when it is opened. Later changes are left to people: GitHub's REST API
//! cannot change it, and an update must not undo what a person did.

mod address;
mod api;
mod app;
mod call;
mod forges;
mod gitea;
mod github;
mod gitlab;
mod http_forge;
mod reply;
mod reply_context;
#[cfg(test)]
mod tests;
mod title;
mod token;
mod unusable_reply;

pub use address::{Address, AddressError, Host, token_receivers};
pub use app::GithubApp;
pub use forges::http_forge;
pub use http_forge::HttpForge;
pub use token::TokenSource;
