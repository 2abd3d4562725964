//! Questions on their way to the disk.
//!
//! The first words of a reply do not wait for its question to be kept; only its end does. Somebody who goes on with the
//! thread in the meantime waits here for it to be there.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docent_types::{StoreError, ThreadId};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tracing::error;

use crate::dialogue::Asked;
use crate::thread::Threads;

/// How long somebody waits for a question that is not kept yet. It may be one that nobody reads the reply to.
const PATIENCE: Duration = Duration::from_secs(5);

/// The threads whose newest question is not kept yet.
#[derive(Debug, Clone)]
pub(crate) struct Writes {
    threads: Arc<dyn Threads>,
    under_way: Arc<Mutex<HashMap<ThreadId, watch::Receiver<()>>>>,
}

/// A question that is going to be kept. Dropping it gives that up.
#[derive(Debug)]
pub(crate) struct Writing {
    writes: Writes,
    thread: ThreadId,
    /// Whoever waits does so until this is dropped.
    done: watch::Sender<()>,
}

/// Whether a question is kept.
#[derive(Debug)]
pub(crate) struct Kept(oneshot::Receiver<bool>);

impl Writes {
    pub(crate) fn new(threads: Arc<dyn Threads>) -> Self {
        Self { threads, under_way: Arc::default() }
    }

    /// Tells whoever goes on with this thread to wait.
    pub(crate) fn announce(&self, thread: ThreadId) -> Writing {
        let (done, wait) = watch::channel(());
        self.under_way().insert(thread, wait);
        Writing { writes: self.clone(), thread, done }
    }

    /// Waits until the newest question of a thread is kept, if there is one that is not.
    pub(crate) async fn are_done(&self, thread: ThreadId) {
        let under_way = self.under_way().get(&thread).cloned();
        if let Some(mut under_way) = under_way {
            // Nothing is ever sent: it fails when the sender is gone. After too long the store is asked all the same.
            let _ = timeout(PATIENCE, under_way.changed()).await;
        }
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<ThreadId, watch::Receiver<()>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writing {
    /// Writes the question, whether or not anybody waits for it or still reads the reply.
    pub(crate) fn keep(self, asked: Asked) -> Kept {
        let (told, kept) = oneshot::channel();
        tokio::spawn(async move {
            let thread = asked.thread;
            let written = write(self.writes.threads.as_ref(), asked).await;
            drop(self);
            if let Err(failure) = &written {
                error!(%thread, error = failure as &dyn std::error::Error, "could not keep the question");
            }
            // The reply may be gone.
            let _ = told.send(written.is_ok());
        });
        Kept(kept)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Another question of the thread may be under way by now.
        if let Entry::Occupied(entry) = self.writes.under_way().entry(self.thread)
            && entry.get().same_channel(&self.done.subscribe())
        {
            entry.remove();
        }
    }
}

impl Kept {
    /// Waits for it, and says whether it could be kept.
    pub(crate) async fn written(self) -> bool {
        self.0.await.unwrap_or(false)
    }
}

/// In one go, for each write is a flush of the disk.
async fn write(threads: &dyn Threads, asked: Asked) -> Result<(), StoreError> {
    match asked.begin {
        Some(mut thread) => {
            thread.turns.push(asked.turn);
            threads.begin(*thread).await
        }
        None => threads.put_turn(asked.thread, asked.turn, asked.instead_of).await,
    }
}
