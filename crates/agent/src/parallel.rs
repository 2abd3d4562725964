//! Runs work on a few threads.

use std::thread;

use parking_lot::Mutex;

/// Maximum number of threads at once.
const THREADS: usize = 4;
/// Minimum number of items per thread; with fewer, no thread is started.
const WORTH_A_THREAD: usize = 64;

/// The results of `run` for many small items, in the order of the items.
pub(crate) fn map_in_parallel<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = threads(items.len() / WORTH_A_THREAD);
    if threads < 2 {
        return items.iter().map(run).collect();
    }
    let run = &run;
    thread::scope(|scope| {
        let parts: Vec<_> = items
            .chunks(items.len().div_ceil(threads))
            .map(|part| scope.spawn(move || part.iter().map(run).collect::<Vec<R>>()))
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Runs a few large pieces of work, and returns their results in order.
pub(crate) fn run_in_parallel<R: Send>(work: Vec<impl FnOnce() -> R + Send>) -> Vec<R> {
    let threads = threads(work.len());
    if threads < 2 {
        return work.into_iter().map(|work| work()).collect();
    }
    let mut done: Vec<Option<R>> = work.iter().map(|_| None).collect();
    let queue = Mutex::new(work.into_iter().zip(done.iter_mut()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().next();
                    let Some((work, result)) = next else { break };
                    *result = Some(work());
                }
            });
        }
    });
    drop(queue);
    done.into_iter().flatten().collect()
}

fn threads(wanted: usize) -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_a_parallel_map_keep_their_order() {
        let items: Vec<usize> = (0..1_000).collect();
        assert_eq!(map_in_parallel(&items, |item| item * 2), (0..1_000).map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(map_in_parallel(&items[..3], |item| item + 1), [1, 2, 3]);
        let work: Vec<_> = (0..50).map(|item| move || item * item).collect();
        assert_eq!(run_in_parallel(work), (0..50).map(|item| item * item).collect::<Vec<_>>());
        assert_eq!(run_in_parallel(Vec::<fn() -> ()>::new()), []);
    }

    #[test]
    fn large_work_is_under_way_together() {
        if threads(2) < 2 {
            return;
        }
        let barrier = std::sync::Barrier::new(2);
        let work: Vec<_> = (0..2).map(|_| || barrier.wait().is_leader()).collect();
        assert_eq!(run_in_parallel(work).into_iter().filter(|is_leader| *is_leader).count(), 1);
    }
}
