//! The agent: a transcript, the next step, and the tools that carry it out.
//!
//! This crate has no loop and no state. The caller holds a [`Transcript`] and the [`TurnSettings`] of the turn, calls
//! [`next`] for the next step, carries it out, appends the resulting [`TranscriptEntry`], and repeats:
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
//! Each entry is made durable before the next step is taken, so the process may stop between any two. The effect of the
//! tools on the [`EditableTree`] is not stored: [`replay`] repeats it, because every editing tool is a function of the
//! files and its input.
//!
//! Two events are known only to the caller, who appends them: a model that refused a request as too long
//! ([`TranscriptEntry::TooLong`]), and the end of the turn's time ([`TranscriptEntry::Expired`]). After either it calls
//! [`next`] as usual.
//!
//! - Every tool call gets one result; the result of a call that cannot be parsed names the mistake and the remedy.
//! - With any replies of a model, a turn ends within its [`TurnLimits`]. The last request asks for a summary of the
//!   work.
//! - The docs are checked when the model calls `finish`: problems that its changes caused are returned to it, at most
//!   twice; problems that existed before do not count.
//! - An agent writes documents: [`refused_change`] defines which changes are allowed, [`secrets`] finds what must not
//!   be committed. Context repositories beside the docs are read-only.
//!
//! This crate does not know jobs, git or HTTP.

mod allowed;
mod call;
mod compaction;
mod docs_search;
mod file_kind;
mod files;
mod next;
mod parallel;
mod parsed_call;
mod paths;
mod prompt;
mod request;
mod secrets;
mod todos;
mod tools;
mod transcript;
mod turn_history;
mod turn_settings;
mod workbench;
mod writable;

pub use allowed::Allowances;
pub use call::{ModelReply, call_model};
pub use compaction::{Compaction, compacted};
pub use docent_refactor::History;
pub use docs_search::DocsSearch;
pub use files::{EditableTree, MemoryFiles, Refused};
pub use next::{Finish, FinishOutcome, Step, next, says_calls_as_text};
pub use secrets::{Secret, secrets};
pub use todos::{planned, todos};
pub use tools::{Diverged, replay, run_tools, specs, tool_names};
pub use transcript::{Call, ToolResult, Transcript, TranscriptEntry};
pub use turn_settings::{Guidance, TurnLimits, TurnSettings};
pub use workbench::ToolContext;
pub use writable::refused_change;
