//! Waits for a condition to become true.

use std::thread;
use std::time::{Duration, Instant};

/// Timeout for everything that tests wait for. Far above normal durations, for a machine that builds something else
/// meanwhile.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Calls `probe` repeatedly until it returns something.
///
/// # Panics
/// After [`PATIENCE`], saying `what` was waited for.
pub fn eventually<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    in_time(probe).unwrap_or_else(|| panic!("gave up after {PATIENCE:?} waiting for {what}"))
}

/// Calls `probe` repeatedly until it returns something, for at most [`PATIENCE`].
pub fn in_time<T>(mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(found) = probe() {
            return Some(found);
        }
        if start.elapsed() >= PATIENCE {
            return None;
        }
        thread::sleep(pause);
        pause = (pause * 3 / 2).min(Duration::from_millis(50));
    }
}
