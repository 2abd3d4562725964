//! Named points at which a debug build can be made to abort, to prove that a job survives it.
//!
//! `DOCENT_CRASH_AT=pushed` aborts the process the first time that point is reached, `DOCENT_CRASH_AT=pushed:3` the
//! third time. A simulation observes them with [`watch`]. Release builds have no such points.

use std::rc::Rc;

/// All points.
pub const POINTS: [&str; 12] = [
    "submitted", "claimed", "prepared", "model-replied", "tools-ran", "compacted", "checked", "committed", "pushed",
    "pull-request-opened", "recorded", "completed",
];

/// Called with the name of each point that a thread reaches. If it unwinds, the code that reached the point unwinds
/// too.
pub type Watcher = Rc<dyn Fn(&str)>;

#[cfg(debug_assertions)]
thread_local! {
    static WATCHER: std::cell::RefCell<Option<Watcher>> = const { std::cell::RefCell::new(None) };
}

/// Sets the watcher of this thread; `None` removes it.
#[cfg(debug_assertions)]
pub fn watch(watcher: Option<Watcher>) {
    WATCHER.set(watcher);
}

/// Does nothing in a release build.
#[cfg(not(debug_assertions))]
pub fn watch(_watcher: Option<Watcher>) {}

/// Aborts here if `DOCENT_CRASH_AT` says so.
#[cfg(debug_assertions)]
pub fn point(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI64, Ordering};

    static ORDER: OnceLock<Option<(String, AtomicI64)>> = OnceLock::new();
    debug_assert!(POINTS.contains(&name), "{name} is not a known crash point");
    if let Some(watcher) = WATCHER.with_borrow(Clone::clone) {
        watcher(name);
    }
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

/// Does nothing in a release build.
#[cfg(not(debug_assertions))]
pub const fn point(_name: &str) {}
