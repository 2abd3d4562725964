//! Questions on their way to the disk.
//!
//! The first words of a reply do not wait for its question to be kept; only its end does. Somebody who goes on with the
//! thread in the meantime waits here for it to be there. An answer that is there at once is kept with its question in one
//! go; any other is kept by itself, when it has ended.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docent_types::{StoreError, ThreadId};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tracing::error;

use crate::dialogue::Asked;
use crate::thread::{Threads, Turn};

/// How long somebody waits for a question that is not kept yet. It may be one that nobody reads the reply to.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a question waits for its answer before it is kept without.
const AT_ONCE: Duration = Duration::from_millis(20);

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

/// A question that is being kept, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Kept {
    writes: Writes,
    thread: ThreadId,
    answer: oneshot::Sender<Turn>,
    written: oneshot::Receiver<bool>,
}

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
    pub(crate) fn keep(self, mut asked: Asked) -> Kept {
        let (answer, answered) = oneshot::channel();
        let (told, written) = oneshot::channel();
        let kept = Kept { writes: self.writes.clone(), thread: self.thread, answer, written };
        tokio::spawn(async move {
            let thread = asked.thread;
            if let Some(turn) = at_once(answered).await {
                asked.turn = turn;
            }
            let written = write(self.writes.threads.as_ref(), asked).await;
            drop(self);
            if let Err(failure) = &written {
                error!(%thread, error = failure as &dyn std::error::Error, "could not keep the question");
            }
            // The reply may be gone.
            let _ = told.send(written.is_ok());
        });
        kept
    }
}

/// The answer, if it comes soon enough. One that comes later is refused, so that none is lost between the two.
async fn at_once(mut answered: oneshot::Receiver<Turn>) -> Option<Turn> {
    if let Ok(answer) = timeout(AT_ONCE, &mut answered).await {
        return answer.ok();
    }
    answered.close();
    answered.try_recv().ok()
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
    /// Waits for the question to be kept, without an answer, and says whether it could be.
    pub(crate) async fn unanswered(self) -> bool {
        drop(self.answer);
        self.written.await.unwrap_or(false)
    }

    /// Keeps the answer too, and says whether there is a conversation that it belongs to.
    pub(crate) async fn answered(self, turn: Turn) -> bool {
        let refused = self.answer.send(turn).err();
        let is_kept = self.written.await.unwrap_or(false);
        if let Some(turn) = refused.filter(|_| is_kept)
            && let Err(failure) = self.writes.threads.put_turn(self.thread, turn, None).await
        {
            error!(thread = %self.thread, error = &failure as &dyn std::error::Error, "could not keep the answer");
        }
        is_kept
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
