//! Questions on their way to the disk.
//!
//! A question is written while its reply is made, in a task of its own: the first words do not wait for it, and it is kept
//! even when its reader leaves. Only the end of the reply waits. Somebody who goes on with the thread in the meantime waits
//! here for the question to be there.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docent_types::{StoreError, ThreadId};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::{Instrument, error};

use crate::dialogue::NewQuestion;
use crate::thread::{Threads, Turn};

/// How long somebody waits for a question that is not kept yet. It may be one that nobody reads the reply to.
const PATIENCE: Duration = Duration::from_secs(5);

/// The threads whose newest question is not kept yet.
#[derive(Debug, Clone)]
pub(crate) struct QuestionWrites {
    threads: Arc<dyn Threads>,
    under_way: Arc<PendingThreads>,
}

#[derive(Debug, Default)]
struct PendingThreads(Mutex<HashMap<ThreadId, watch::Receiver<()>>>);

/// A thread that others wait for. They do so until this is dropped.
#[derive(Debug)]
struct Announced {
    under_way: Arc<PendingThreads>,
    thread: ThreadId,
    done: watch::Sender<()>,
}

/// A question that is going to be kept. Dropping it gives that up.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    threads: Arc<dyn Threads>,
    announced: Announced,
}

/// A question that is being kept, and where its answer goes.
#[derive(Debug)]
pub(crate) struct StoredQuestion {
    threads: Arc<dyn Threads>,
    thread: ThreadId,
    written: JoinHandle<bool>,
}

impl QuestionWrites {
    pub(crate) fn new(threads: Arc<dyn Threads>) -> Self {
        Self { threads, under_way: Arc::default() }
    }

    /// Tells those who go on with this thread to wait.
    pub(crate) fn announce(&self, thread: ThreadId) -> PendingQuestion {
        let (done, wait) = watch::channel(());
        self.under_way.threads().insert(thread, wait);
        let announced = Announced { under_way: Arc::clone(&self.under_way), thread, done };
        PendingQuestion { threads: Arc::clone(&self.threads), announced }
    }

    /// Waits until the newest question of a thread is kept, if there is one that is not.
    pub(crate) async fn are_done(&self, thread: ThreadId) {
        let under_way = self.under_way.threads().get(&thread).cloned();
        if let Some(mut under_way) = under_way {
            // Nothing is ever sent: it fails when the sender is gone. After too long the store is asked all the same.
            let _ = timeout(PATIENCE, under_way.changed()).await;
        }
    }
}

impl PendingQuestion {
    /// Sees to it that the question is written, whether or not anybody waits for it or still reads the reply.
    pub(crate) fn keep(self, asked: NewQuestion) -> StoredQuestion {
        let Self { threads, announced } = self;
        let thread = announced.thread;
        let store = Arc::clone(&threads);
        let writing = async move {
            let written = write(store.as_ref(), asked).await;
            drop(announced);
            if let Err(failure) = &written {
                error!(%thread, error = failure as &dyn std::error::Error, "could not keep the question");
            }
            written.is_ok()
        };
        StoredQuestion { threads, thread, written: tokio::spawn(writing.in_current_span()) }
    }
}

impl StoredQuestion {
    /// Waits for the question to be kept, without an answer, and says whether it could be.
    pub(crate) async fn unanswered(self) -> bool {
        // A store that panics has not kept anything.
        self.written.await.unwrap_or(false)
    }

    /// Keeps the answer too, and says whether there is a conversation that it belongs to.
    pub(crate) async fn answered(self, turn: Turn) -> bool {
        let Self { threads, thread, written } = self;
        // In a task of its own: it is finished even if the reader leaves now.
        let keeping = async move {
            let is_kept = written.await.unwrap_or(false);
            if is_kept && let Err(failure) = threads.put_turn(thread, turn, None).await {
                error!(%thread, error = &failure as &dyn std::error::Error, "could not keep the answer");
            }
            is_kept
        };
        tokio::spawn(keeping.in_current_span()).await.unwrap_or(false)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // Another question of the thread may be under way by now.
        if let Entry::Occupied(entry) = self.under_way.threads().entry(self.thread)
            && entry.get().same_channel(&self.done.subscribe())
        {
            entry.remove();
        }
    }
}

impl PendingThreads {
    fn threads(&self) -> MutexGuard<'_, HashMap<ThreadId, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In one go, for each write is a flush of the disk.
async fn write(threads: &dyn Threads, asked: NewQuestion) -> Result<(), StoreError> {
    match asked.begin {
        Some(mut thread) => {
            thread.turns.push(asked.turn);
            threads.begin(*thread).await
        }
        None => threads.put_turn(asked.thread, asked.turn, asked.instead_of).await,
    }
}
