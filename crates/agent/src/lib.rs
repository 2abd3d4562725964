//! The agent: a transcript, the next step, and the tools that carry it out.
//!
//! There is no loop here and no state. The caller holds a [`Transcript`], asks [`next`] what to do, does it, appends
//! the [`Entry`] that came of it, and asks again:
//!
//! ```text
//!   Said(prompt) ──▶ next ──▶ CallModel ──▶ call_model ──▶ Replied ─┐
//!                     ▲  │                                          │
//!                     │  ├──▶ RunTools ───▶ run_tools ───▶ Results ─┤
//!                     │  └──▶ Done(Finish)                          │
//!                     └─────────────────────────────────────────────┘
//! ```
//!
//! Each entry is made durable before the next step is taken, so the process may stop between any two. What the tools
//! did to the [`Files`] is not stored: [`replay`] does it again, as every tool is a function of the files and its
//! input.
//!
//! - Every call of a tool gets an answer; a call that cannot be read is answered with what was wrong.
//! - The docs are checked when the model wants to finish: what it broke goes back to it, what was broken before does
//!   not count.
//! - [`check_path`] says what an agent may not touch, [`secrets`] what may not be committed.
//!
//! This crate refuses to know jobs, git and HTTP.

mod call;
mod desk;
mod files;
mod next;
mod paths;
mod prompt;
mod secrets;
mod todos;
mod tools;
mod transcript;

pub use call::{Reply, call_model};
pub use desk::ToolContext;
pub use files::{Files, MemoryFiles, Refused};
pub use next::{Finish, Limits, Outcome, Step, next};
pub use paths::{PathError, check_path};
pub use prompt::SYSTEM;
pub use secrets::{Secret, secrets};
pub use todos::todos;
pub use tools::{Diverged, replay, run_tools, specs};
pub use transcript::{Call, Entry, ToolResult, Transcript};
