//! The model port: one streaming call, one event enum, one error category that decides whether to try again.
//!
//! A [`Model`] takes a [`Request`] (system text, transcript, tools) and gives a stream of [`Event`]s that ends with
//! [`Event::Done`]. Dropping the stream cancels the call. What goes wrong is a [`ModelError`], whose
//! [`ModelErrorKind`] says what a caller can do about it.
//!
//! Two models live here, because they need nothing from outside:
//!
//! - [`builtin::Builtin`], the honest local model: it quotes passages for the assistant and carries out documented
//!   docs chores for the agent, and says so when that is not enough;
//! - [`scripted::Scripted`], which plays a script in tests.
//!
//! This crate refuses to know vendors: their wire formats and clients are adapters elsewhere.

pub mod builtin;
mod error;
mod model;
pub mod scripted;

pub use error::{ModelError, ModelErrorKind, Retry};
pub use model::{Description, Editor, Event, EventStream, MOST_CALLS, Model, Request, ToolChoice, ToolSpec};
