//! Notes which thread aborted the process.
//!
//! `std::process::abort`, a stack overflow, a failed allocation and a panic that cannot unwind all end in SIGABRT, on
//! the thread that was at fault. The handler writes one byte to the marks file and returns; the process then ends as it
//! would have.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use crate::marks::{ABORTED, slot_flag};

/// The file of marks of this process; the first that was opened.
static MARKS: OnceLock<File> = OnceLock::new();

/// SIGABRT, which has this number on all Unix systems.
const SIGABRT: i32 = 6;

thread_local! {
    /// The slot that this thread works under; 0 for none. It has no destructor and no lazy initialisation, so a signal
    /// handler may read it.
    static SLOT: Cell<u32> = const { Cell::new(0) };
}

/// Runs `work` with this thread's work attributed to a slot.
pub(crate) fn under<T>(slot: u32, work: impl FnOnce() -> T) -> T {
    /// Puts the previous slot back, also when `work` unwinds.
    struct Restore(u32);
    impl Drop for Restore {
        fn drop(&mut self) {
            SLOT.set(self.0);
        }
    }
    let _restore = Restore(SLOT.replace(slot));
    work()
}

/// Installs the handler, once per process. Returns whether `marks` is the file that it writes to.
pub(crate) fn note_in(marks: &File) -> bool {
    let mut is_first = false;
    let Ok(file) = marks.try_clone() else { return false };
    MARKS.get_or_init(|| {
        is_first = true;
        file
    });
    if is_first && let Err(error) = register() {
        tracing::warn!(error = &error as &dyn std::error::Error, "what aborts this process will not be noted");
    }
    is_first
}

#[allow(unsafe_code, reason = "a signal handler cannot be registered otherwise")]
fn register() -> std::io::Result<()> {
    let handler = || {
        let slot = SLOT.get();
        if let Some(marks) = MARKS.get() {
            // Nothing can be done about an error here.
            let _ = marks.write_at(&[ABORTED], slot_flag(slot));
        }
    };
    // SAFETY: the handler reads a thread-local without destructor and a `OnceLock` that is set, and calls `pwrite`; all
    // of that is allowed in a signal handler: it allocates nothing, takes no lock and cannot panic.
    unsafe { signal_hook_registry::register(SIGABRT, handler) }.map(drop)
}
