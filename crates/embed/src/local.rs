//! Shared by the local models: thread pools, normalization of vectors, and model ids.

use std::sync::{Arc, OnceLock};

use docent_types::{BoxError, hex};
use futures::channel::oneshot;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

/// Two thread pools, so that a question never waits behind passages that are being indexed.
#[derive(Debug)]
pub(crate) struct Threads {
    questions: OnceLock<ThreadPool>,
    passages: OnceLock<ThreadPool>,
}

impl Threads {
    pub(crate) const fn new() -> Self {
        Self { questions: OnceLock::new(), passages: OnceLock::new() }
    }

    /// Runs `work` on one thread, concurrently with the threads for passages.
    pub(crate) async fn for_question<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, BoxError> {
        run(pool(&self.questions, 1)?, work).await
    }

    /// Runs `work` in the pool for passages, which has one thread per core.
    pub(crate) async fn for_passages<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, BoxError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        run(pool(&self.passages, cores)?, work).await
    }
}

fn pool(cell: &OnceLock<ThreadPool>, threads: usize) -> Result<&ThreadPool, BoxError> {
    if let Some(pool) = cell.get() {
        return Ok(pool);
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("embed-{n}")).build()?;
    Ok(cell.get_or_init(|| built))
}

async fn run<T: Send + 'static>(pool: &ThreadPool, work: impl FnOnce() -> T + Send + 'static) -> Result<T, BoxError> {
    let (sender, receiver) = oneshot::channel();
    pool.spawn(move || {
        // A panic ends here: it drops the sender, which the receiver sees as an error.
        if let Ok(result) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
            // A closed receiver: the caller stopped waiting.
            let _ = sender.send(result);
        }
    });
    receiver.await.map_err(|_| "the model stopped in the middle of a text".into())
}

/// Copies the texts, so that they can be moved to another thread.
pub(crate) fn owned(texts: &[&str]) -> Arc<[String]> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Scales a vector to length 1. If its length is zero or not finite, all its numbers become zero.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|number| *number /= length);
    } else {
        vector.fill(0.0);
    }
}

/// A model id: the kind, and a hash of everything that determines the vectors.
pub(crate) fn model_id(kind: &str, parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    format!("{kind}:{}", hex(&hash.finalize()[..12]))
}
