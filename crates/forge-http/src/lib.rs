//! Pull requests on GitHub, GitLab and Gitea or Forgejo, behind the port of `docent-forge`.
//!
//! [`http_forge()`] returns the forge of one repository; what each vendor calls things stays in that vendor's file. An
//! [`Address`] says where the repository's API is and what it is called there; it follows from the address git uses. A
//! [`TokenSource`] gives the token, from a variable, a file or a [`GithubApp`], to the API and to git alike.
//!
//! Nothing is retried here: errors are sorted into transient ones (with the time to wait, if the forge gives one) and ones
//! that somebody must fix (with a sentence that says what). A redirect is followed once, to the same host.
//!
//! Whether a pull request is a draft is said when it is opened. Afterwards that is for people to change: GitHub's REST
//! interface cannot, and an update must not undo what a person did.

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

pub use address::{Address, AddressError, Host};
pub use app::GithubApp;
pub use forges::http_forge;
pub use http_forge::HttpForge;
pub use token::TokenSource;
