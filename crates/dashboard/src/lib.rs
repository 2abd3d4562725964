//! Server-rendered pages: those of the local forge's pull requests.
//!
//! A pull request's link is unguessable, and anyone who has it may read the page. Updating, merging and closing need
//! the project's admin key.

mod page;
mod pulls;

pub use pulls::PullPages;
