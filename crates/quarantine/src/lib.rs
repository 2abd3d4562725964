//! Marks what a process reads or runs before it begins, so that an input that ends the process ends it once.
//!
//! A panic unwinds and is a value. A stack overflow, an allocation that fails and an abort end the process, and the
//! next process would meet the same input again. So each piece of such work is marked ([`Quarantine::run`]) in a small
//! file of the folder: one write at a fixed place, kept by the page cache of the system when the process ends, and
//! never flushed. [`Quarantine::open`] reads the marks of processes that have ended before anything else is read, and
//! keeps what ended them as records.
//!
//! ```text
//!   work of this process ──▶ FOLDER/marks-ID    one slot a thread (module `marks`), locked while the process lives
//!   the process ended    ──▶ FOLDER/records     what ended a process, one line each (module `records`)
//! ```
//!
//! The innocent are not punished. A handler of SIGABRT, which is how Rust ends a process, notes which thread it was
//! (module `abort`); a process that was killed, or lost with the power, leaves its marks without that note, and then
//! only work that went on for long (see [`LONG`]), or was going on at two such ends, is to blame.
//!
//! This crate refuses to know jobs, indexes and pages: a [`Subject`] is a few words.

mod abort;
mod marks;
#[cfg(debug_assertions)]
mod planted;
mod quarantine;
mod records;
mod subject;

pub use marks::{LONG, Mark};
pub use quarantine::Quarantine;
pub use records::SetAsideRecord;
pub use subject::{Subject, SubjectKind};
