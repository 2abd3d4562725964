//! Questions on their way to the disk.
//!
//! The first words of a reply do not wait for its question to be kept; only its end does. Somebody who goes on with the
//! thread in the meantime waits here for it to be there. An answer that is there at once is kept with its question in one
//! go; any other is kept by itself, when it has ended.
//!
//! ```text
//!   the reply puts its question down ──▶ questions that wait ──┬─▶ the reply takes it up at its end: one write
//!                                                              └─▶ after 20 ms, or when the reply is gone, whoever
//!                                                                  looks after them takes it: the question alone
//! ```
//!
//! Whoever takes a question up writes it, and nobody else does. A reply that ends soon costs no task and no timer of its own.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docent_types::{StoreError, ThreadId};
use futures::FutureExt;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};
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
    under_way: Arc<UnderWay>,
    questions: Arc<Questions>,
}

#[derive(Debug, Default)]
struct UnderWay(Mutex<HashMap<ThreadId, watch::Receiver<()>>>);

#[derive(Debug)]
struct Questions {
    threads: Arc<dyn Threads>,
    waiting: Mutex<Waiting>,
    /// Rings when one need not wait any longer.
    left: Notify,
}

/// Questions that wait for their answers, by a number that grows.
#[derive(Debug, Default)]
struct Waiting {
    by_number: BTreeMap<u64, Question>,
    last: u64,
    /// Who looks after them; nobody while there are none.
    watch: Option<AbortHandle>,
}

#[derive(Debug)]
struct Question {
    asked: Asked,
    announced: Announced,
    /// When it is kept without an answer.
    due: Instant,
    told: oneshot::Sender<bool>,
}

/// A thread that others wait for. They do so until this is dropped.
#[derive(Debug)]
struct Announced {
    under_way: Arc<UnderWay>,
    thread: ThreadId,
    done: watch::Sender<()>,
}

/// A question that is going to be kept. Dropping it gives that up.
#[derive(Debug)]
pub(crate) struct Writing {
    questions: Arc<Questions>,
    announced: Announced,
}

/// A question that is being kept, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Kept {
    questions: Arc<Questions>,
    number: u64,
    thread: ThreadId,
    written: oneshot::Receiver<bool>,
}

impl Writes {
    pub(crate) fn new(threads: Arc<dyn Threads>) -> Self {
        let (waiting, left) = Default::default();
        Self { under_way: Arc::default(), questions: Arc::new(Questions { threads, waiting, left }) }
    }

    /// Tells whoever goes on with this thread to wait.
    pub(crate) fn announce(&self, thread: ThreadId) -> Writing {
        let (done, wait) = watch::channel(());
        self.under_way.threads().insert(thread, wait);
        let announced = Announced { under_way: Arc::clone(&self.under_way), thread, done };
        Writing { questions: Arc::clone(&self.questions), announced }
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

impl Writing {
    /// Sees to it that the question is written, whether or not anybody waits for it or still reads the reply.
    pub(crate) fn keep(self, asked: Asked) -> Kept {
        let Self { questions, announced } = self;
        let thread = announced.thread;
        let (told, written) = oneshot::channel();
        let number = questions.wait(Question { asked, announced, due: Instant::now() + AT_ONCE, told });
        Kept { questions, number, thread, written }
    }
}

impl Kept {
    /// Waits for the question to be kept, without an answer, and says whether it could be.
    pub(crate) async fn unanswered(mut self) -> bool {
        if let Some(question) = self.questions.take(self.number) {
            through(question.write(&self.questions)).await;
        }
        self.is_written().await
    }

    /// Keeps the answer too, and says whether there is a conversation that it belongs to.
    pub(crate) async fn answered(mut self, turn: Turn) -> bool {
        if let Some(mut question) = self.questions.take(self.number) {
            question.asked.turn = turn;
            through(question.write(&self.questions)).await;
            return self.is_written().await;
        }
        let is_kept = self.is_written().await;
        if is_kept {
            through(put_answer(Arc::clone(&self.questions.threads), self.thread, turn)).await;
        }
        is_kept
    }

    async fn is_written(&mut self) -> bool {
        (&mut self.written).await.unwrap_or(false)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Its reader has left: there is no answer to wait for.
        if let Some(question) = self.questions.waiting().by_number.get_mut(&self.number) {
            question.due = Instant::now();
            self.questions.left.notify_one();
        }
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

impl UnderWay {
    fn threads(&self) -> MutexGuard<'_, HashMap<ThreadId, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Questions {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question to those that wait; gives its number.
    fn wait(self: &Arc<Self>, question: Question) -> u64 {
        let mut waiting = self.waiting();
        waiting.last += 1;
        let number = waiting.last;
        waiting.by_number.insert(number, question);
        // Who looked after them may have ended with the runtime it was on.
        if waiting.watch.as_ref().is_none_or(AbortHandle::is_finished) {
            waiting.watch = Some(tokio::spawn(look_after(Arc::clone(self))).abort_handle());
        }
        number
    }

    /// A question, if nobody has taken it up yet.
    fn take(&self, number: u64) -> Option<Question> {
        self.waiting().by_number.remove(&number)
    }

    /// The questions that are to be kept without an answer now, and when to look again; `None` when nobody needs to.
    fn due(&self, now: Instant) -> (Vec<Question>, Option<Instant>) {
        let mut waiting = self.waiting();
        let due = waiting.by_number.extract_if(.., |_, question| question.due <= now);
        let due = due.map(|(_, question)| question).collect();
        let next = waiting.by_number.values().next().map(|question| question.due);
        if next.is_none() {
            waiting.watch = None;
        }
        (due, next)
    }
}

impl Question {
    fn write(self, questions: &Questions) -> impl Future<Output = ()> + Send + use<> {
        let threads = Arc::clone(&questions.threads);
        async move {
            let Self { asked, announced, told, .. } = self;
            let thread = asked.thread;
            let written = write(threads.as_ref(), asked).await;
            drop(announced);
            if let Err(failure) = &written {
                error!(%thread, error = failure as &dyn std::error::Error, "could not keep the question");
            }
            // The reply may be gone.
            let _ = told.send(written.is_ok());
        }
    }
}

/// Keeps questions that have waited for long enough, for as long as any waits.
async fn look_after(questions: Arc<Questions>) {
    loop {
        let (due, next) = questions.due(Instant::now());
        for question in due {
            // Each by itself: a store may take its time with one.
            tokio::spawn(question.write(&questions));
        }
        let Some(next) = next else { return };
        tokio::select! {
            () = sleep_until(next) => {}
            () = questions.left.notified() => {}
        }
    }
}

/// Does work that is finished once it has begun: here if it takes no waiting, and else in a task of its own, as whoever
/// reads the reply may be slow to ask for more, or leave.
async fn through(work: impl Future<Output = ()> + Send + 'static) {
    // A store that panics has not kept anything, and that is what is said of it.
    let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
    if work.as_mut().now_or_never().is_none() {
        let _ = tokio::spawn(work).await;
    }
}

async fn put_answer(threads: Arc<dyn Threads>, thread: ThreadId, turn: Turn) {
    if let Err(failure) = threads.put_turn(thread, turn, None).await {
        error!(%thread, error = &failure as &dyn std::error::Error, "could not keep the answer");
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
