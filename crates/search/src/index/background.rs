//! Threads for background work, with lowered priority so that questions are not slowed down.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{Builder, scope, sleep};
use std::time::{Duration, Instant};

/// Runs `work` on its own low-priority thread and waits for it. The progress that `work` reports is passed to
/// `on_progress` on the calling thread. Runs `work` on the calling thread when no further thread can be started.
pub(crate) fn run_at_low_priority<P: Send, T: Send>(
    name: &str,
    work: impl Fn(&mut dyn FnMut(P)) -> T + Send + Sync,
    on_progress: &mut dyn FnMut(P),
) -> T {
    let (sender, progress) = channel();
    let done = scope(|scope| {
        let work = &work;
        let work = move || {
            lower_priority(NiceLevel::Background);
            // The receiver is gone once the calling thread has unwound.
            work(&mut |update| drop(sender.send(update)))
        };
        let working = Builder::new().name(name.to_owned()).spawn_scoped(scope, work).ok()?;
        progress.into_iter().for_each(&mut *on_progress);
        Some(working.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    done.unwrap_or_else(|| work(on_progress))
}

/// Waits until `shared` is the last reference, at most `longest`, and then drops it. Keeps the cost of freeing a large
/// value off the threads that answer questions, and spaces out back-to-back updates.
pub(crate) fn drop_last<T>(shared: Arc<T>, longest: Duration) {
    drop_last_with(shared, longest, || sleep(Duration::from_millis(1)));
}

fn drop_last_with<T>(shared: Arc<T>, longest: Duration, mut pause: impl FnMut()) {
    let until = Instant::now() + longest;
    while Arc::strong_count(&shared) > 1 && Instant::now() < until {
        pause();
    }
    drop(shared);
}

/// CPU priority of a background thread when there are fewer cores than threads. Threads that answer questions come
/// first.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NiceLevel {
    /// A caller waits for the work, but less urgently than for an answer: about a thirtieth of the CPU share of other
    /// threads. With a tenth, a question occasionally waits until the next kernel tick for a core held by such a
    /// thread.
    Background,
    /// Nothing waits for the work: about a sixtieth. With more, such a thread occasionally holds a core for longer than
    /// a question takes.
    Idle,
}

/// Lowers the priority of the calling thread and of the threads it starts from here on. The priority cannot be raised
/// again, so this is for threads that end with their work. Does nothing on systems other than Linux.
pub(crate) fn lower_priority(level: NiceLevel) {
    #[cfg(target_os = "linux")]
    {
        // Values on the scale of `nice`.
        let nice = match level {
            NiceLevel::Background => 15,
            NiceLevel::Idle => 19,
        };
        let thread = rustix::thread::gettid();
        if let Err(error) = rustix::process::setpriority_process(Some(thread), nice) {
            tracing::debug!(error = &error as &dyn std::error::Error, "a thread in the background goes first");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = level;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_a_background_thread_reaches_the_waiting_one() {
        let here = std::thread::current().id();
        let mut received = Vec::new();
        let work = |tell: &mut dyn FnMut(u32)| {
            (1..4).for_each(tell);
            std::thread::current().id()
        };
        let there = run_at_low_priority("a-test", work, &mut |update| {
            assert_eq!(std::thread::current().id(), here);
            received.push(update);
        });
        assert_eq!(received, [1, 2, 3]);
        assert_ne!(there, here);
    }

    #[test]
    fn the_last_reference_is_dropped_here_unless_that_takes_too_long() {
        let shared = Arc::new(());
        let (theirs, known) = (Arc::clone(&shared), Arc::downgrade(&shared));
        drop_last_with(shared, Duration::ZERO, || panic!("there is no time to wait"));
        assert_eq!(known.strong_count(), 1, "another reference is left");

        let (mut theirs, shared) = (Some(Arc::clone(&theirs)), theirs);
        drop_last_with(shared, Duration::from_secs(60), || theirs = None);
        assert!(theirs.is_none(), "the other reference was waited for");
        assert_eq!(known.strong_count(), 0);
    }
}
