//! Ends that a debug build can be told to come to, to prove that a process comes to each only once.
//!
//! `DOCENT_ABORT_AT=WHAT` aborts the process when it begins to work on WHAT: the name or the key of a subject, or both
//! its scope and its name with a colon between them. `DOCENT_OVERFLOW_AT` overflows the stack instead.

use std::hint::black_box;
use std::sync::OnceLock;

use crate::subject::Subject;

type End = (&'static str, fn());
/// Where to end, and how.
type Wanted = (String, fn());

/// The variables, and what they bring about.
const ENDS: [End; 2] = [("DOCENT_ABORT_AT", || std::process::abort()), ("DOCENT_OVERFLOW_AT", || _ = overflow(1))];

/// Ends the process here if it was told to.
pub(crate) fn end_at(subject: &Subject) {
    static WANTED: OnceLock<Vec<Wanted>> = OnceLock::new();
    let read = || ENDS.iter().filter_map(|(name, end)| Some((std::env::var(name).ok()?, *end))).collect();
    let is_it = |wanted: &str| {
        wanted == subject.name
            || wanted == subject.key
            || wanted.split_once(':') == Some((&subject.scope, &subject.name))
    };
    WANTED.get_or_init(read).iter().filter(|(wanted, _)| is_it(wanted)).for_each(|(_, end)| end());
}

#[expect(unconditional_recursion, reason = "the stack is to overflow")]
fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    overflow(depth + 1) + frame[0]
}
