//! Server-rendered pages: for now those of the local forge's pull requests.
//!
//! A pull request's link is unguessable and whoever has it may read the page, as with any link that is passed around.
//! Updating, merging and closing need the project's admin key.

mod page;
mod pulls;

pub use pulls::PullPages;
