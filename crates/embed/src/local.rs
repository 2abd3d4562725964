//! What models on this machine have in common: where they compute, and how a vector is finished.

use std::sync::{Arc, OnceLock};

use docent_types::{BoxError, hex};
use futures::channel::oneshot;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

/// Two groups of threads, so that a question never waits behind sections that are being indexed.
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

    /// Runs `work` with all cores at hand.
    pub(crate) async fn for_passages<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, BoxError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        run(pool(&self.passages, cores)?, work).await
    }
}

fn pool(place: &OnceLock<ThreadPool>, threads: usize) -> Result<&ThreadPool, BoxError> {
    if let Some(pool) = place.get() {
        return Ok(pool);
    }
    let made = ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("embed-{n}")).build()?;
    Ok(place.get_or_init(|| made))
}

async fn run<T: Send + 'static>(pool: &ThreadPool, work: impl FnOnce() -> T + Send + 'static) -> Result<T, BoxError> {
    let (sender, receiver) = oneshot::channel();
    pool.spawn(move || {
        // A panic ends here: the sender is dropped, which the receiver sees as an error.
        if let Ok(result) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
            // A closed receiver: the caller stopped waiting.
            let _ = sender.send(result);
        }
    });
    receiver.await.map_err(|_| "the model stopped in the middle of a text".into())
}

/// Texts that outlive the call they came with.
pub(crate) fn owned(texts: &[&str]) -> Arc<[String]> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Gives a vector the length one; one of zeros stays as it is.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|number| *number /= length);
    } else {
        vector.fill(0.0);
    }
}

/// Names a model by all that makes its vectors what they are.
pub(crate) fn model_id(kind: &str, parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    format!("{kind}:{}", hex(&hash.finalize()[..12]))
}
