//! The writer thread, shared by all callers.
//!
//! ```text
//!   callers ──▶ queue ──▶ BEGIN · all that is queued · COMMIT (one flush) ──▶ answers
//! ```
//!
//! While one group is flushed the next one gathers, so groups grow with the load. Answers wait for the commit, refusals
//! too: a command may be refused because of a neighbour's write that is not durable yet. A group in which every command
//! is [ordered](Durability::Ordered) is committed without a flush.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use docent_types::StoreError;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::change_tracker::ChangeTracker;
use crate::error::{Abort, Closed, NotCommitted, OpenError, Panicked};
use crate::transaction::{Command, Decides, Durability, Transactions};
use crate::write_connection::WriteConnection;

/// Maximum number of commands in one transaction.
const MAX_GROUP_COMMANDS: usize = 512;
/// How much was written since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteCounts {
    /// Commands carried out or refused.
    pub commands: u64,
    /// Transactions that committed them.
    pub commits: u64,
    /// Commits that were flushed to the disk.
    pub flushes: u64,
}

#[derive(Debug)]
pub(crate) struct Writer {
    queue: Sender<WriterMessage>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Mutex<WriteCounts>>,
}

enum WriterMessage {
    Command(Box<dyn Command>),
    CheckOtherProcesses,
    Close(oneshot::Sender<Result<(), StoreError>>),
}

struct PendingCommand<T, E, F, D> {
    doing: &'static str,
    durability: Durability,
    decides: Decides,
    work: Option<F>,
    on_committed: D,
    result: Option<Result<T, Abort<E>>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F, D> Command for PendingCommand<T, E, F, D>
where
    T: Send,
    E: From<StoreError> + Send,
    F: FnOnce(&WriteConnection) -> Result<T, Abort<E>> + Send,
    D: FnOnce(&T) + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn decides(&self) -> Decides {
        self.decides
    }

    fn run(&mut self, connection: &WriteConnection) -> bool {
        let Some(work) = self.work.take() else { return false };
        let result = catch_unwind(AssertUnwindSafe(|| work(connection)));
        let result = result.unwrap_or_else(|_| Err(Abort::Failed(Panicked.into())));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn answer(self: Box<Self>, committed: Result<(), NotCommitted>) {
        let answer = match (committed, self.result) {
            // The command's own error says more than that of the group.
            (_, Some(Err(Abort::Failed(source)))) => Err(Abort::Failed(source)),
            (Ok(()), Some(result)) => result.inspect(self.on_committed),
            (Ok(()), None) => Err(Abort::Failed(Closed.into())),
            (Err(error), _) => Err(Abort::Failed(error.into())),
        };
        // The caller may have gone away.
        let _ = self.reply.send(answer.map_err(|abort| abort.explain(self.doing)));
    }
}

impl Writer {
    pub(crate) fn start(transactions: Transactions, changes: Arc<ChangeTracker>) -> Result<Self, OpenError> {
        let (queue, commands) = channel();
        let counts = Arc::<Mutex<WriteCounts>>::default();
        let write = {
            let counts = Arc::clone(&counts);
            move || serve(transactions, &commands, &counts, &changes)
        };
        let thread = std::thread::Builder::new().name("store-writer".to_owned()).spawn(write);
        let thread = Some(thread.map_err(|source| OpenError::Thread { source })?);
        Ok(Self { queue, thread, counts })
    }

    /// Runs `work` in a transaction, and returns when it is as durable as requested. Right after the commit, in the
    /// order of the commits, `on_committed` gets the result. `doing` completes "could not …".
    ///
    /// The work is queued when this returns; the future waits for its result.
    pub(crate) fn write<T, E, F, D>(
        &self,
        doing: &'static str,
        (durability, decides): (Durability, Decides),
        work: F,
        on_committed: D,
    ) -> impl Future<Output = Result<T, E>> + Send + use<T, E, F, D>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&WriteConnection) -> Result<T, Abort<E>> + Send + 'static,
        D: FnOnce(&T) + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let command =
            PendingCommand { doing, durability, decides, work: Some(work), on_committed, result: None, reply };
        // A closed queue drops the command, and with it the sender of its reply.
        let _ = self.queue.send(WriterMessage::Command(Box::new(command)));
        async move { answer.await.unwrap_or_else(|_| Err(StoreError::new(doing, Closed).into())) }
    }

    /// Carries out what is queued, checkpoints the log and stops.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        match self.queue.send(WriterMessage::Close(reply)) {
            Ok(()) => answer.await.unwrap_or(Ok(())),
            Err(_) => Ok(()),
        }
    }

    /// Requests a check whether other processes have written.
    pub(crate) fn check_other_processes(&self) {
        let _ = self.queue.send(WriterMessage::CheckOtherProcesses);
    }

    pub(crate) fn writes(&self) -> WriteCounts {
        *self.counts.lock()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.queue.send(WriterMessage::Close(oneshot::channel().0));
        if let Some(thread) = self.thread.take() {
            // A command may drop the last handle on the store that runs it.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

/// The thread's loop, until the store is closed.
fn serve(
    mut transactions: Transactions,
    commands: &Receiver<WriterMessage>,
    counts: &Mutex<WriteCounts>,
    changes: &ChangeTracker,
) {
    let mut closing = None;
    while closing.is_none() {
        let Ok(first) = commands.recv() else { break };
        let (mut group, mut check_other_processes) = (Vec::new(), false);
        let mut next = Some(first);
        while let Some(message) = next.take() {
            match message {
                WriterMessage::Command(command) => group.push(command),
                WriterMessage::CheckOtherProcesses => check_other_processes = true,
                WriterMessage::Close(reply) => closing = Some(reply),
            }
            if closing.is_none() && group.len() < MAX_GROUP_COMMANDS {
                next = commands.try_recv().ok();
            }
        }
        if check_other_processes {
            // After a failed check, the cache expires.
            let _ = transactions.check_other_processes();
        }
        if !group.is_empty() {
            let durability = group.iter().map(|command| command.durability()).max().unwrap_or(Durability::Flushed);
            let committed = transactions.write(durability, &mut group);
            counts.lock().count(group.len(), durability, committed.is_ok());
            for command in group {
                command.answer(committed.clone());
            }
            transactions.end_transaction();
            transactions.checkpoint_if_long();
        }
    }
    changes.close();
    let checkpointed = transactions.checkpoint();
    drop(transactions);
    if let Some(reply) = closing {
        let _ = reply.send(checkpointed.map_err(|error| StoreError::new("checkpoint the database", error)));
    }
}

impl WriteCounts {
    fn count(&mut self, group: usize, durability: Durability, is_committed: bool) {
        self.commands += group as u64;
        self.commits += u64::from(is_committed);
        self.flushes += u64::from(is_committed && durability == Durability::Flushed);
    }
}
