//! Work that nobody waits for, and how it makes room for what somebody does.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{Builder, scope, sleep};
use std::time::{Duration, Instant};

/// Does work on a thread of its own that stands back, and waits for it. What the work tells on the way is heard on the
/// thread that calls. Where there is no further thread to be had, that one does the work too.
pub(crate) fn done_standing_back<P: Send, T: Send>(
    name: &str,
    work: impl Fn(&mut dyn FnMut(P)) -> T + Send + Sync,
    hear: &mut dyn FnMut(P),
) -> T {
    let (sender, told) = channel();
    let done = scope(|scope| {
        let work = &work;
        let work = move || {
            lower_priority(NiceLevel::Second);
            // Nobody listens once the thread that calls is unwound.
            work(&mut |news| drop(sender.send(news)))
        };
        let working = Builder::new().name(name.to_owned()).spawn_scoped(scope, work).ok()?;
        told.into_iter().for_each(&mut *hear);
        Some(working.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    done.unwrap_or_else(|| work(hear))
}

/// Waits until no other reference to `shared` is left, at most `longest`, and then drops this one. Keeps the cost of freeing
/// a large value off the threads that answer questions, and spaces updates that follow one another at once.
pub(crate) fn drop_last<T>(shared: Arc<T>, longest: Duration) {
    let until = Instant::now() + longest;
    while Arc::strong_count(&shared) > 1 && Instant::now() < until {
        sleep(Duration::from_millis(1));
    }
    drop(shared);
}

/// Who goes first where there are fewer cores than threads: whoever asks, and after them these.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NiceLevel {
    /// Somebody waits for it, though not as one waits for an answer: about a thirtieth of what others get. With a tenth, a
    /// question now and then waits until the kernel's next tick for a core that such a thread has.
    Second,
    /// Nobody does: about a sixtieth. With more, such a thread now and then has a core for longer than a question takes.
    Last,
}

/// Lets the thread that calls stand back from here on, and those that it starts. For threads that end with their work, since
/// there is no way back. Where a system has no such thing, nothing happens.
pub(crate) fn lower_priority(standing: NiceLevel) {
    #[cfg(target_os = "linux")]
    {
        // As `nice` counts.
        let nice = match standing {
            NiceLevel::Second => 15,
            NiceLevel::Last => 19,
        };
        let thread = rustix::thread::gettid();
        if let Err(error) = rustix::process::setpriority_process(Some(thread), nice) {
            tracing::debug!(error = &error as &dyn std::error::Error, "a thread in the background goes first");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = standing;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_on_the_way_is_heard_by_who_waits() {
        let here = std::thread::current().id();
        let mut heard = Vec::new();
        let work = |tell: &mut dyn FnMut(u32)| {
            (1..4).for_each(tell);
            std::thread::current().id()
        };
        let there = done_standing_back("a-test", work, &mut |news| {
            assert_eq!(std::thread::current().id(), here);
            heard.push(news);
        });
        assert_eq!(heard, [1, 2, 3]);
        assert_ne!(there, here);
    }

    #[test]
    fn the_last_reference_is_dropped_here_unless_that_takes_too_long() {
        let shared = Arc::new(());
        let (theirs, known) = (Arc::clone(&shared), Arc::downgrade(&shared));
        drop_last(shared, Duration::from_millis(2));
        assert_eq!(known.strong_count(), 1, "another reference is left");

        let shared = theirs;
        let (theirs, known) = (Arc::clone(&shared), Arc::downgrade(&shared));
        let releasing = std::thread::spawn(move || {
            // Until the wait below has begun, as far as can be told from here.
            sleep(Duration::from_millis(5));
            drop(theirs);
        });
        drop_last(shared, Duration::from_secs(60));
        assert_eq!(known.strong_count(), 0, "it was waited for");
        releasing.join().expect("it ends");
    }
}
