//! Work that nobody waits for, and how it makes room for what somebody does.

/// Lets the thread that calls take second place from here on: where there are fewer cores than threads, others go first.
/// For threads that end with their work, since there is no way back. Where a system has no such thing, nothing happens.
pub(crate) fn stand_back() {
    #[cfg(target_os = "linux")]
    {
        /// As `nice` counts: a tenth of what other threads get, where there is not enough for all.
        const SECOND: i32 = 10;
        let thread = rustix::thread::gettid();
        if let Err(error) = rustix::process::setpriority_process(Some(thread), SECOND) {
            tracing::debug!(error = &error as &dyn std::error::Error, "a thread in the background goes first");
        }
    }
}
