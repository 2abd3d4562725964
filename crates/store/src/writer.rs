//! The one thread that writes.
//!
//! ```text
//!   callers ──▶ queue ──▶ BEGIN IMMEDIATE
//!                           SAVEPOINT · command 1 · RELEASE
//!                           SAVEPOINT · command 2 · ROLLBACK TO, RELEASE     (refused)
//!                           …everything that was waiting
//!                         COMMIT (one flush) ──▶ answers
//! ```
//!
//! While one group is flushed the next one gathers, so the more there is to do, the larger the groups. Answers wait for
//! the commit, refusals too: what refused a command may be a neighbour's write that is not durable yet.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use docent_types::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{Abort, Closed, NotCommitted, OpenError, Panicked};
use crate::turn::Turn;

/// Commands in one transaction, at most.
const GROUP: usize = 512;

/// How much was written since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Writes {
    /// Commands that were carried out or refused.
    pub commands: u64,
    /// Transactions they were committed in.
    pub commits: u64,
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
}

enum Message {
    Command(Box<dyn Command>),
    Close(oneshot::Sender<Result<(), StoreError>>),
}

/// A piece of work with somebody waiting for it.
trait Command: Send {
    /// Does the work; says whether what it wrote is to be kept.
    fn run(&mut self, connection: &Connection) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), NotCommitted>);
}

struct Asked<T, E, F> {
    doing: &'static str,
    work: Option<F>,
    result: Option<Result<T, Abort<E>>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Command for Asked<T, E, F>
where
    T: Send,
    E: From<StoreError> + Send,
    F: FnOnce(&Connection) -> Result<T, Abort<E>> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else { return false };
        let result = catch_unwind(AssertUnwindSafe(|| work(connection)));
        let result = result.unwrap_or_else(|_| Err(Abort::Failed(Panicked.into())));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn answer(self: Box<Self>, committed: Result<(), NotCommitted>) {
        let answer = match (committed, self.result) {
            // Its own failure says more than what became of the group.
            (_, Some(Err(Abort::Failed(source)))) => Err(Abort::Failed(source)),
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Abort::Failed(Closed.into())),
            (Err(error), _) => Err(Abort::Failed(error.into())),
        };
        // A caller that has gone away wants no answer.
        let _ = self.reply.send(answer.map_err(|abort| abort.explain(self.doing)));
    }
}

impl Writer {
    pub(crate) fn start(connection: Connection, turn: Turn) -> Result<Self, OpenError> {
        let (queue, commands) = channel();
        let written = Arc::new(Written::default());
        let count = Arc::clone(&written);
        let write = move || serve(connection, &turn, &commands, &count);
        let thread = std::thread::Builder::new().name("store-writer".to_owned()).spawn(write);
        let thread = Some(thread.map_err(|source| OpenError::Thread { source })?);
        Ok(Self { queue, thread, written })
    }

    /// Does `work` in a transaction, and returns when that is durable. `doing` completes "could not …".
    pub(crate) async fn write<T, E, F>(&self, doing: &'static str, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Abort<E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let command = Asked { doing, work: Some(work), result: None, reply };
        let closed = || E::from(StoreError::new(doing, Closed));
        self.queue.send(Message::Command(Box::new(command))).map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Finishes what is waiting, moves the log into the database and stops.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        match self.queue.send(Message::Close(reply)) {
            Ok(()) => answer.await.unwrap_or(Ok(())),
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn writes(&self) -> Writes {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Writes { commands: read(&self.written.commands), commits: read(&self.written.commits) }
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

fn serve(connection: Connection, turn: &Turn, commands: &Receiver<Message>, written: &Written) {
    let mut closing = None;
    while closing.is_none() {
        let Ok(first) = commands.recv() else { return };
        let mut group = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next.take() {
            match message {
                Message::Command(command) => group.push(command),
                Message::Close(reply) => closing = Some(reply),
            }
            if closing.is_none() && group.len() < GROUP {
                next = commands.try_recv().ok();
            }
        }
        if !group.is_empty() {
            let committed = commit(&connection, turn, &mut group);
            written.commands.fetch_add(group.len() as u64, Ordering::Relaxed);
            written.commits.fetch_add(u64::from(committed.is_ok()), Ordering::Relaxed);
            for command in group {
                command.answer(committed.clone());
            }
        }
    }
    // Passive: closing waits for nobody else who has the file open.
    let checkpoint = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    drop(connection);
    if let Some(reply) = closing {
        let _ = reply.send(checkpoint.map_err(|error| StoreError::new("checkpoint the database", error)));
    }
}

fn commit(connection: &Connection, turn: &Turn, group: &mut [Box<dyn Command>]) -> Result<(), NotCommitted> {
    let run = |sql| connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop);
    let begun = turn.take(|| run("BEGIN IMMEDIATE"))?;
    begun.map_err(|error| NotCommitted::Begin(Arc::new(error)))?;
    let commit = || {
        for command in group {
            run("SAVEPOINT command")?;
            let keep = command.run(connection);
            if connection.is_autocommit() {
                return Ok(Err(NotCommitted::RolledBack));
            }
            if !keep {
                run("ROLLBACK TO command")?;
            }
            run("RELEASE command")?;
        }
        run("COMMIT").map(Ok)
    };
    let committed = commit().unwrap_or_else(|error| Err(NotCommitted::Commit(Arc::new(error))));
    if !connection.is_autocommit() {
        // If even this fails, the next BEGIN does, and says so.
        let _ = run("ROLLBACK");
    }
    committed
}
