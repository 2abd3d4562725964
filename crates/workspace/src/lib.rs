//! A job's view of a git repository, without a work tree.
//!
//! A repository is a bare [`Mirror`], brought up to date by [`Mirrors::fetch`]; many jobs share one. A job's edits are
//! an [`Overlay`]: a base commit and, by path, the replaced and deleted files. Files are read through the overlay, the
//! commit is written straight from it, and [`Mirror::push`] moves one branch of the remote from its expected commit. So
//! a job costs what it touches, no hook runs on our side, and no symbolic link or `..` leads out of the tree.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use docent_workspace::{CommitMeta, Mirrors, Remote};
//!
//! let mirrors = Mirrors::new("docent-data/mirrors");
//! let remote = Remote::new("/srv/docs.git");
//! let mirror = mirrors.fetch(&remote).await?;
//! let main = mirror.branch("main")?;
//! let mut overlay = mirror.overlay(main)?;
//! overlay.write("docs/hello.md", *b"# Hello\n")?;
//! let meta = CommitMeta {
//!     name: "Docent".into(),
//!     email: "docent@example.com".into(),
//!     seconds: 1_795_000_000,
//!     message: "Say hello".into(),
//!     parents: vec![main],
//! };
//! let commit = mirror.commit(&overlay, &meta)?;
//! mirror.push(&remote, "docent/hello", commit, None)?;
//! # Ok(()) }
//! ```
//!
//! This crate knows neither agents nor forges. Only `Mirrors::fetch` is asynchronous; everything else blocks for as
//! long as the disk or the network takes. Objects and fetches go through gix; most of that code is in the `odb` module,
//! and no function of this crate takes or returns a type of gix. A push is a few lines of git's protocol and a pack,
//! over http or through `ssh`. To a plain folder on this machine, the objects and the branch are written directly; for
//! a folder with hooks, `git receive-pack` does the push.

mod base;
mod blobs;
mod conflict;
mod create;
mod diff;
mod error;
mod history;
mod id;
mod listings;
mod lock;
mod maintenance;
mod merge;
mod mirror;
mod mirror_state;
mod mirrors;
mod name;
mod odb;
mod origin;
mod overlay;
mod program;
mod push;
mod refusal;
mod remote;
mod tree_file;
mod wire;

#[cfg(test)]
mod tests;

pub use base::{Base, Node};
pub use conflict::{ConflictKind, FileConflict, LineConflict};
pub use create::create_repository;
pub use diff::{Diff, DiffView, FileDiff, FileStatus};
pub use error::{ErrorDetail, GitError, MergeError, PathRefused, PushError, TriedCredentials};
pub use history::FileHistory;
pub use id::{BlobId, CommitId, IdError};
pub use listings::Listing;
pub use merge::{FileMerge, MergeFile, Merged, Update};
pub use mirror::{CommitMeta, Mirror};
pub use mirror_state::Limits;
pub use mirrors::Mirrors;
pub use name::check_path;
pub use odb::graph::CommitSummary;
pub use overlay::{Overlay, PathEdit};
pub use push::PushOutcome;
pub use refusal::PushRefusal;
pub use remote::{Credentials, Remote};
pub use tree_file::{FileMode, TreeFile};
