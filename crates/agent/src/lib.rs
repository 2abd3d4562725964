//! The agent: a transcript, the next step, and the tools that carry it out.
//!
//! There is no loop here and no state. The caller holds a [`Transcript`] and the [`TurnSettings`] of the turn, asks [`next`]
//! what to do, does it, appends the [`Entry`] that came of it, and asks again:
//!
//! ```text
//!   Said(prompt) ──▶ next ──▶ CallModel ──▶ call_model ──▶ Replied ────┐
//!                     ▲  │                                             │
//!                     │  ├──▶ RunTools ───▶ run_tools ───▶ Results ────┤
//!                     │  ├──▶ Compact ────▶ call_model ──▶ compacted ──┤
//!                     │  └──▶ Done(Finish)                             │
//!                     └────────────────────────────────────────────────┘
//! ```
//!
//! Each entry is made durable before the next step is taken, so the process may stop between any two. What the tools
//! did to the [`Files`] is not stored: [`replay`] does it again, as every tool that edits is a function of the files and
//! its input.
//!
//! Two things only the caller can know, and appends when they happen: a model that would not take a request because it
//! was too long ([`Entry::TooLong`]), and time that ran out ([`Entry::Expired`]). After either it asks [`next`] as ever.
//!
//! - Every call of a tool gets one answer; a call that cannot be read is answered with what was wrong and what would be
//!   right.
//! - Whatever a model replies, a turn ends within its [`TurnLimits`], and the last thing asked of it is to say what was done.
//! - The docs are checked when the model wants to finish: what it broke goes back to it, twice at most; what was broken
//!   before does not count.
//! - An agent writes documents: [`refused_change`] says what those are, [`secrets`] what may not be committed. Repositories beside the docs
//!   can be read and not written.
//!
//! This crate refuses to know jobs, git and HTTP.

mod allowed;
mod call;
mod compaction;
mod docs_search;
mod file_kind;
mod files;
mod next;
mod parsed_call;
mod paths;
mod prompt;
mod request;
mod secrets;
mod side_by_side;
mod todos;
mod tools;
mod transcript;
mod turn_history;
mod turn_settings;
mod workbench;
mod writable;

pub use call::{Reply, call_model};
pub use compaction::{Compaction, compacted};
pub use docs_search::DocsSearch;
pub use files::{Files, MemoryFiles, Refused};
pub use next::{Finish, Outcome, Step, next};
pub use secrets::{Secret, secrets};
pub use todos::{planned, todos};
pub use tools::{Diverged, replay, run_tools, specs};
pub use transcript::{Call, Entry, ToolResult, Transcript};
pub use turn_settings::{Guidance, TurnLimits, TurnSettings};
pub use workbench::ToolContext;
pub use writable::refused_change;
