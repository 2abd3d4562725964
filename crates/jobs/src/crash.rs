//! Named points at which a debug build can be made to die, to prove that a job survives it.
//!
//! `DOCENT_CRASH_AT=pushed` aborts the process the first time that point is reached, `DOCENT_CRASH_AT=pushed:3` the
//! third time. Release builds have no such points.

/// Dies here, if told to.
#[cfg(debug_assertions)]
pub fn point(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI64, Ordering};

    static ORDER: OnceLock<Option<(String, AtomicI64)>> = OnceLock::new();
    let order = ORDER.get_or_init(|| {
        let text = std::env::var("DOCENT_CRASH_AT").ok()?;
        let (name, nth) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), AtomicI64::new(nth.parse().unwrap_or(1))))
    });
    if let Some((at, left)) = order
        && at == name
        && left.fetch_sub(1, Ordering::SeqCst) == 1
    {
        std::process::abort();
    }
}

/// Nothing, in a release build.
#[cfg(not(debug_assertions))]
pub const fn point(_name: &str) {}
