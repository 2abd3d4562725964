//! Stores questions while their replies are generated.
//!
//! A question is written in a separate task: the first words of the reply do not wait for it, and it is stored even if
//! its reader leaves. Only the end of the reply waits for it. A request that continues the thread meanwhile waits here
//! until the question is stored.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{StoreError, ThreadId};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::{Instrument, error};

use crate::dialogue::NewQuestion;
use crate::thread::{Threads, Turn};

/// Maximum wait for a question to be stored. Its reply may have no reader, and then never ends.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// The threads whose newest question is not stored yet.
#[derive(Debug, Clone)]
pub(crate) struct QuestionWrites {
    threads: Arc<dyn Threads>,
    pending: Arc<PendingThreads>,
}

#[derive(Debug, Default)]
struct PendingThreads(Mutex<HashMap<ThreadId, watch::Receiver<()>>>);

/// A thread for which later requests wait, until this is dropped.
#[derive(Debug)]
struct Announced {
    pending: Arc<PendingThreads>,
    thread: ThreadId,
    done: watch::Sender<()>,
}

/// A question to be stored. Dropping it cancels that.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    threads: Arc<dyn Threads>,
    announced: Announced,
}

/// A question being stored, and the thread for its answer.
#[derive(Debug)]
pub(crate) struct StoredQuestion {
    threads: Arc<dyn Threads>,
    thread: ThreadId,
    written: JoinHandle<bool>,
}

impl QuestionWrites {
    pub(crate) fn new(threads: Arc<dyn Threads>) -> Self {
        Self { threads, pending: Arc::default() }
    }

    /// Makes requests that continue this thread wait.
    pub(crate) fn announce(&self, thread: ThreadId) -> PendingQuestion {
        let (done, wait) = watch::channel(());
        self.pending.0.lock().insert(thread, wait);
        let announced = Announced { pending: Arc::clone(&self.pending), thread, done };
        PendingQuestion { threads: Arc::clone(&self.threads), announced }
    }

    /// Waits until the newest question of a thread is stored.
    pub(crate) async fn stored(&self, thread: ThreadId) {
        let pending = self.pending.0.lock().get(&thread).cloned();
        if let Some(mut pending) = pending {
            // No value is ever sent: the wait ends when the sender is dropped. After the timeout the store is read
            // anyway.
            let _ = timeout(STORE_TIMEOUT, pending.changed()).await;
        }
    }
}

impl PendingQuestion {
    /// Writes the question in a separate task, independent of the reply's reader.
    pub(crate) fn store(self, asked: NewQuestion) -> StoredQuestion {
        let Self { threads, announced } = self;
        let thread = announced.thread;
        let target = Arc::clone(&threads);
        let writing = async move {
            let written = write(target.as_ref(), asked).await;
            drop(announced);
            if let Err(failure) = &written {
                error!(%thread, error = failure as &dyn std::error::Error, "could not store the question");
            }
            written.is_ok()
        };
        StoredQuestion { threads, thread, written: tokio::spawn(writing.in_current_span()) }
    }
}

impl StoredQuestion {
    /// Waits for the question to be stored, without an answer; returns whether it was.
    pub(crate) async fn unanswered(self) -> bool {
        // A panic in the store means that nothing was stored.
        self.written.await.unwrap_or(false)
    }

    /// Stores the answer too; returns whether its question was stored.
    pub(crate) async fn answered(self, turn: Turn) -> bool {
        let Self { threads, thread, written } = self;
        // In a separate task, which finishes even if the reader leaves now.
        let storing = async move {
            let is_stored = written.await.unwrap_or(false);
            if is_stored && let Err(failure) = threads.put_turn(thread, turn, None).await {
                error!(%thread, error = &failure as &dyn std::error::Error, "could not store the answer");
            }
            is_stored
        };
        tokio::spawn(storing.in_current_span()).await.unwrap_or(false)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // A later question of the same thread may be pending by now.
        if let Entry::Occupied(entry) = self.pending.0.lock().entry(self.thread)
            && entry.get().same_channel(&self.done.subscribe())
        {
            entry.remove();
        }
    }
}

/// Writes in one transaction, because each flush to the disk costs time.
async fn write(threads: &dyn Threads, asked: NewQuestion) -> Result<(), StoreError> {
    match asked.begin {
        Some(mut thread) => {
            thread.turns.push(asked.turn);
            threads.begin(*thread).await
        }
        None => threads.put_turn(asked.thread, asked.turn, asked.instead_of).await,
    }
}
