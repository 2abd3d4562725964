//! The one thread that writes.
//!
//! ```text
//!   callers ──▶ queue ──▶ BEGIN IMMEDIATE
//!                           command 1                                        (decides, then writes)
//!                           SAVEPOINT · command 2 · RELEASE                  (decides as it writes)
//!                           SAVEPOINT · command 3 · ROLLBACK TO, RELEASE     (refused)
//!                           …everything that was waiting
//!                         COMMIT (one flush) ──▶ answers
//! ```
//!
//! A savepoint costs a copy of every page that is written under it, so a command that is refused before it has written
//! anything goes without, and so does one that is alone in its group. If the storage fails under one in the middle of its
//! writes, its whole group is undone.
//!
//! While one group is flushed the next one gathers, so the more there is to do, the larger the groups. Answers wait for
//! the commit, refusals too: what refused a command may be a neighbour's write that is not durable yet. A group in which
//! nobody asks for more than order is committed without a flush.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use docent_types::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::desk::Desk;
use crate::error::{Abort, Closed, NotCommitted, OpenError, Panicked};
use crate::seen::Seen;
use crate::turn::Turn;
use crate::{gate, rows};

/// Commands in one transaction, at most.
const GROUP: usize = 512;

/// How a command outlives the loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lasting {
    /// With the next commit that is flushed: the log is written in order, and flushing it flushes all of it.
    Ordered,
    /// Before it is answered.
    Flushed,
}

/// When a command decides whether it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deciding {
    /// Before its first write. What fails after that is the storage.
    First,
    /// At any time.
    Throughout,
}

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
    written: Arc<Written>,
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

/// A piece of work with somebody waiting for it.
trait Command: Send {
    fn lasting(&self) -> Lasting;
    fn deciding(&self) -> Deciding;
    /// Does the work; says whether what it wrote is to be kept.
    fn run(&mut self, desk: &Desk) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), NotCommitted>);
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
    pub(crate) fn start(connection: Connection, turn: Turn, seen: Arc<Seen>) -> Result<Self, OpenError> {
        let (queue, commands) = channel();
        let written = Arc::new(Written::default());
        let count = Arc::clone(&written);
        // It was opened to flush.
        let pen =
            Pen { desk: Desk::new(connection, Arc::clone(&seen)), turn, lasting: Lasting::Flushed, version: None };
        let write = move || serve(pen, &commands, &count, &seen);
        let thread = std::thread::Builder::new().name("store-writer".to_owned()).spawn(write);
        let thread = Some(thread.map_err(|source| OpenError::Thread { source })?);
        Ok(Self { queue, thread, written })
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
        // A queue that is closed drops the command, and with it whoever would reply.
        let _ = self.queue.send(Message::Command(Box::new(command)));
        async move { answer.await.unwrap_or_else(|_| Err(StoreError::new(doing, Closed).into())) }
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
        let Written { commands, commits, flushes } = &*self.written;
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

fn serve(mut pen: Pen, commands: &Receiver<Message>, written: &Written, seen: &Seen) {
    let mut closing = None;
    while closing.is_none() {
        let Ok(first) = commands.recv() else { return };
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
            let lasting = group.iter().map(|command| command.lasting()).max().unwrap_or(Lasting::Flushed);
            let committed = pen.write(lasting, &mut group);
            written.commands.fetch_add(group.len() as u64, Ordering::Relaxed);
            written.commits.fetch_add(u64::from(committed.is_ok()), Ordering::Relaxed);
            written.flushes.fetch_add(u64::from(committed.is_ok() && lasting == Lasting::Flushed), Ordering::Relaxed);
            for command in group {
                command.answer(committed.clone());
            }
            pen.desk.clean();
        }
    }
    seen.close();
    // Passive: closing waits for nobody else who has the file open.
    let checkpoint = pen.desk.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    drop(pen);
    if let Some(reply) = closing {
        let _ = reply.send(checkpoint.map_err(|error| StoreError::new("checkpoint the database", error)));
    }
}

/// What is in the transaction of a command that was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// All that it wrote, or nothing.
    Whole,
    /// A part.
    Torn,
}

/// What writes, and what it knows of the database between two transactions.
struct Pen {
    desk: Desk,
    turn: Turn,
    /// How the next commit is to last.
    lasting: Lasting,
    version: Option<i64>,
}

impl Pen {
    /// One transaction.
    fn write(&mut self, lasting: Lasting, group: &mut [Box<dyn Command>]) -> Result<(), NotCommitted> {
        let failed = |error| NotCommitted::Begin(Arc::new(error));
        self.last(lasting).map_err(failed)?;
        self.turn.take(|| self.run("BEGIN IMMEDIATE"))?.map_err(failed)?;
        // Nobody else writes from here on, so this is what is known until the commit.
        let begun = self.look().map_err(failed);
        let committed =
            begun.and_then(|()| self.commit(group).unwrap_or_else(|error| Err(NotCommitted::Commit(Arc::new(error)))));
        if committed.is_err() {
            self.desk.undone();
        }
        if !self.desk.is_autocommit() {
            // If even this fails, the next BEGIN does, and says so.
            let _ = self.run("ROLLBACK");
        }
        committed
    }

    /// Says how the next commits are to last. Between two transactions, as SQLite refuses it inside one; and prepared
    /// anew each time, as it takes effect when it is prepared.
    fn last(&mut self, lasting: Lasting) -> rusqlite::Result<()> {
        if lasting != self.lasting {
            self.desk.execute_batch(match lasting {
                Lasting::Flushed => "PRAGMA synchronous = FULL",
                Lasting::Ordered => "PRAGMA synchronous = NORMAL",
            })?;
            self.lasting = lasting;
        }
        Ok(())
    }

    fn look(&mut self) -> rusqlite::Result<()> {
        self.desk.look(&mut self.version)
    }

    fn commit(&self, group: &mut [Box<dyn Command>]) -> rusqlite::Result<Result<(), NotCommitted>> {
        if let [command] = group {
            return self.commit_alone(&mut **command);
        }
        for command in group {
            let done = match command.deciding() {
                Deciding::First => self.carry_out(&mut **command),
                Deciding::Throughout => self.carry_out_or_undo(&mut **command)?,
            };
            if self.desk.is_autocommit() || done == Done::Torn {
                return Ok(Err(NotCommitted::RolledBack));
            }
        }
        self.write_down()?;
        self.run("COMMIT").map(Ok)
    }

    /// What one command undoes is the whole transaction.
    fn commit_alone(&self, command: &mut dyn Command) -> rusqlite::Result<Result<(), NotCommitted>> {
        let before = self.desk.changes();
        let keep = command.run(&self.desk);
        if self.desk.is_autocommit() {
            return Ok(Err(NotCommitted::RolledBack));
        }
        if keep || (command.deciding() == Deciding::First && self.desk.changes() == before) {
            self.write_down()?;
            return self.run("COMMIT").map(Ok);
        }
        self.desk.undone();
        self.run("ROLLBACK").map(Ok)
    }

    /// Writes down what is written together for all commands.
    fn write_down(&self) -> rusqlite::Result<()> {
        rows::write_new(&self.desk)?;
        gate::write_uses(&self.desk)
    }

    fn carry_out(&self, command: &mut dyn Command) -> Done {
        let before = self.desk.changes();
        let keep = command.run(&self.desk);
        if keep || self.desk.changes() == before { Done::Whole } else { Done::Torn }
    }

    fn carry_out_or_undo(&self, command: &mut dyn Command) -> rusqlite::Result<Done> {
        self.write_down()?;
        self.run("SAVEPOINT command")?;
        let keep = command.run(&self.desk);
        if self.desk.is_autocommit() {
            return Ok(Done::Torn);
        }
        if !keep {
            self.run("ROLLBACK TO command")?;
            self.desk.undone();
        }
        self.run("RELEASE command")?;
        Ok(Done::Whole)
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.desk.prepare_cached(sql)?.execute([]).map(drop)
    }
}
