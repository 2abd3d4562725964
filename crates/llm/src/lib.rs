//! The model port: one streaming call, one event enum, one error category that decides whether to retry.
//!
//! A [`Model`] takes a [`Request`] (system text, transcript, tools) and gives a stream of [`Event`]s that ends with
//! [`Event::Done`]. Dropping the stream cancels the call. A failure is a [`ModelError`], whose
//! [`ModelErrorKind`] says what a caller can do about it.
//!
//! [`scripted::Scripted`] plays a script in tests. This crate refuses to know any other model: wire formats and clients
//! of vendors are adapters elsewhere, and so is the model that needs no service.

mod error;
mod model;
pub mod scripted;

pub use error::{ModelError, ModelErrorKind, Retry};
pub use model::{BUILTIN, Description, Editor, Event, EventStream, MOST_CALLS, Model, Request, ToolChoice, ToolSpec};
