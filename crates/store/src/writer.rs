//! Who writes: a thread of its own, for everybody who asks, and now and then the one who asks.
//!
//! ```text
//!   callers ──▶ queue ──▶ BEGIN · all that was waiting · COMMIT (one flush) ──▶ answers
//!
//!   a caller with something brief, while nothing waits and nobody writes:
//!                         BEGIN · it alone · COMMIT (no flush) ──▶ answer
//! ```
//!
//! While one group is flushed the next one gathers, so the more there is to do, the larger the groups. Answers wait for
//! the commit, refusals too: what refused a command may be a neighbour's write that is not durable yet. A group in which
//! nobody asks for more than order is committed without a flush.
//!
//! To hand a command to the thread and to be woken by it costs more than a small write itself. So what is brief and asks for
//! order alone is written by its caller where that takes no waiting: neither for the queue, nor for another process, nor for
//! the disk, as at the end of the log. Then it goes to the thread like all else. Where a disk is slow even so, the thread writes
//! everything for a while: callers are threads that have other things to do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use docent_types::StoreError;
use tokio::sync::oneshot;

use crate::desk::Desk;
use crate::error::{Abort, Closed, NotCommitted, OpenError, Panicked};
use crate::pen::{Command, Deciding, Lasting, Pen};
use crate::seen::Seen;

/// Commands in one transaction, at most.
const GROUP: usize = 512;
/// A caller that was held up for longer by what it wrote meets a slow disk.
const SLOW: Duration = Duration::from_millis(20);
/// How long callers do not write themselves after that.
const REST: Duration = Duration::from_secs(5);

/// How much was written since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Writes {
    /// Commands that were carried out or refused.
    pub commands: u64,
    /// Transactions they were committed in.
    pub commits: u64,
    /// Of these, the ones that waited for the disk.
    pub flushes: u64,
}

#[derive(Debug)]
pub(crate) struct Writer {
    queue: Sender<Message>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

/// What the thread and callers share.
#[derive(Debug)]
struct Shared {
    writing: Mutex<Writing>,
    /// Commands that were handed to the thread and are not answered yet.
    waiting: AtomicUsize,
    written: Written,
}

#[derive(Debug)]
struct Writing {
    /// `None` when the store is closed.
    pen: Option<Pen>,
    /// Until when callers do not write themselves.
    rests_until: Option<Instant>,
}

#[derive(Debug, Default)]
struct Written {
    commands: AtomicU64,
    commits: AtomicU64,
    flushes: AtomicU64,
}

enum Message {
    Command(Box<dyn Command>),
    Look,
    Close(oneshot::Sender<Result<(), StoreError>>),
}

struct Asked<T, E, F, D> {
    doing: &'static str,
    lasting: Lasting,
    deciding: Deciding,
    work: Option<F>,
    done: D,
    result: Option<Result<T, Abort<E>>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F, D> Command for Asked<T, E, F, D>
where
    T: Send,
    E: From<StoreError> + Send,
    F: FnOnce(&Desk) -> Result<T, Abort<E>> + Send,
    D: FnOnce(&T) + Send,
{
    fn lasting(&self) -> Lasting {
        self.lasting
    }

    fn deciding(&self) -> Deciding {
        self.deciding
    }

    fn run(&mut self, desk: &Desk) -> bool {
        let Some(work) = self.work.take() else { return false };
        let result = catch_unwind(AssertUnwindSafe(|| work(desk)));
        let result = result.unwrap_or_else(|_| Err(Abort::Failed(Panicked.into())));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn answer(self: Box<Self>, committed: Result<(), NotCommitted>) {
        let answer = match (committed, self.result) {
            // Its own failure says more than what became of the group.
            (_, Some(Err(Abort::Failed(source)))) => Err(Abort::Failed(source)),
            (Ok(()), Some(result)) => result.inspect(self.done),
            (Ok(()), None) => Err(Abort::Failed(Closed.into())),
            (Err(error), _) => Err(Abort::Failed(error.into())),
        };
        // A caller that has gone away wants no answer.
        let _ = self.reply.send(answer.map_err(|abort| abort.explain(self.doing)));
    }
}

impl Writer {
    pub(crate) fn start(pen: Pen, seen: Arc<Seen>) -> Result<Self, OpenError> {
        let (queue, commands) = channel();
        let writing = Mutex::new(Writing { pen: Some(pen), rests_until: None });
        let shared = Arc::new(Shared { writing, waiting: AtomicUsize::new(0), written: Written::default() });
        let write = {
            let shared = Arc::clone(&shared);
            move || shared.serve(&commands, &seen)
        };
        let thread = std::thread::Builder::new().name("store-writer".to_owned()).spawn(write);
        let thread = Some(thread.map_err(|source| OpenError::Thread { source })?);
        Ok(Self { queue, thread, shared })
    }

    /// Does `work` in a transaction, and returns when that is as durable as it is asked to be. Right after the commit, in
    /// the order of the commits, `done` hears what it came to. `doing` completes "could not …".
    ///
    /// The work is on its way when this returns; the future is the wait for it.
    pub(crate) fn write<T, E, F, D>(
        &self,
        doing: &'static str,
        (lasting, deciding): (Lasting, Deciding),
        work: F,
        done: D,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F, D>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&Desk) -> Result<T, Abort<E>> + Send + 'static,
        D: FnOnce(&T) + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let command = Asked { doing, lasting, deciding, work: Some(work), done, result: None, reply };
        self.hand_over(Box::new(command));
        async move { answer.await.unwrap_or_else(|_| Err(StoreError::new(doing, Closed).into())) }
    }

    /// Like [`write`](Self::write), in order alone: what touches a few rows. If it can be done without waiting, it is done when
    /// this returns.
    pub(crate) fn write_briefly<T, E, F>(
        &self,
        doing: &'static str,
        work: F,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&Desk) -> Result<T, Abort<E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let (lasting, deciding) = (Lasting::Ordered, Deciding::Throughout);
        let command = Asked { doing, lasting, deciding, work: Some(work), done: |_: &T| (), result: None, reply };
        if let Some(command) = self.shared.write_at_once(Box::new(command)) {
            self.hand_over(command);
        }
        async move { answer.await.unwrap_or_else(|_| Err(StoreError::new(doing, Closed).into())) }
    }

    fn hand_over(&self, command: Box<dyn Command>) {
        // Counted first: from here on nobody writes before it who asks later.
        self.shared.waiting.fetch_add(1, Ordering::SeqCst);
        // A queue that is closed drops the command, and with it whoever would reply.
        let _ = self.queue.send(Message::Command(command));
    }

    /// Finishes what is waiting, moves the log into the database and stops.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        match self.queue.send(Message::Close(reply)) {
            Ok(()) => answer.await.unwrap_or(Ok(())),
            Err(_) => Ok(()),
        }
    }

    /// Asks whether others have written.
    pub(crate) fn look(&self) {
        let _ = self.queue.send(Message::Look);
    }

    pub(crate) fn writes(&self) -> Writes {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Written { commands, commits, flushes } = &self.shared.written;
        Writes { commands: read(commands), commits: read(commits), flushes: read(flushes) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.queue.send(Message::Close(oneshot::channel().0));
        if let Some(thread) = self.thread.take() {
            // A command may hold the last handle on the store that runs it.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl Shared {
    /// The thread's work, until the store is closed.
    fn serve(&self, commands: &Receiver<Message>, seen: &Seen) {
        let mut closing = None;
        while closing.is_none() {
            let Ok(first) = commands.recv() else { break };
            // What is asked while a caller writes is written together.
            let mut writing = self.writing();
            let Some(pen) = &mut writing.pen else { return };
            let (mut group, mut look) = (Vec::new(), false);
            let mut next = Some(first);
            while let Some(message) = next.take() {
                match message {
                    Message::Command(command) => group.push(command),
                    Message::Look => look = true,
                    Message::Close(reply) => closing = Some(reply),
                }
                if closing.is_none() && group.len() < GROUP {
                    next = commands.try_recv().ok();
                }
            }
            if look {
                // A look that fails leaves what is known to grow old.
                let _ = pen.look();
            }
            if !group.is_empty() {
                let count = group.len();
                let lasting = group.iter().map(|command| command.lasting()).max().unwrap_or(Lasting::Flushed);
                let committed = pen.write(lasting, &mut group);
                self.answer(pen, lasting, &committed, group);
                self.waiting.fetch_sub(count, Ordering::SeqCst);
                pen.tidy();
            }
        }
        seen.close();
        let Some(pen) = self.writing().pen.take() else { return };
        let moved = pen.move_log();
        drop(pen);
        if let Some(reply) = closing {
            let _ = reply.send(moved.map_err(|error| StoreError::new("checkpoint the database", error)));
        }
    }

    /// Writes a command on the thread that asks, or gives it back when it would have to wait.
    fn write_at_once(&self, command: Box<dyn Command>) -> Option<Box<dyn Command>> {
        let Ok(mut writing) = self.writing.try_lock() else { return Some(command) };
        let begun = Instant::now();
        // Who asked before is answered before.
        if self.waiting.load(Ordering::SeqCst) > 0 || writing.rests_until.is_some_and(|until| begun < until) {
            return Some(command);
        }
        let Some(pen) = &mut writing.pen else { return Some(command) };
        let mut group = vec![command];
        let Some(committed) = pen.write_without_waiting(&mut group) else { return group.pop() };
        self.answer(pen, Lasting::Ordered, &committed, group);
        writing.rests_until = rest(begun, Instant::now());
        None
    }

    /// Tells everybody of a group what became of it.
    fn answer(&self, pen: &Pen, lasting: Lasting, committed: &Result<(), NotCommitted>, group: Vec<Box<dyn Command>>) {
        let Written { commands, commits, flushes } = &self.written;
        commands.fetch_add(group.len() as u64, Ordering::Relaxed);
        commits.fetch_add(u64::from(committed.is_ok()), Ordering::Relaxed);
        flushes.fetch_add(u64::from(committed.is_ok() && lasting == Lasting::Flushed), Ordering::Relaxed);
        for command in group {
            command.answer(committed.clone());
        }
        pen.clean();
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until when callers are not to write themselves, after one that did from `begun` to `ended`.
fn rest(begun: Instant, ended: Instant) -> Option<Instant> {
    (ended - begun > SLOW).then(|| ended + REST)
}
