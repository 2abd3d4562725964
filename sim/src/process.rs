//! One process of a node: it runs until it is killed, and may be paused. A request to the outside begins with
//! [`Process::sends`] and ends with [`Process::receives`]; between the two the process can be paused or killed.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use docent_jobs::{Failure, Handle, Outcome, Worker};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// One process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) world: Arc<World>,
    pub(crate) node: usize,
    /// The process's name in leases and in the trace.
    pub(crate) name: String,
    pub(crate) dead: CancellationToken,
    /// Asks the process to stop between two steps.
    pub(crate) drain: CancellationToken,
    stands_until: Mutex<Instant>,
}

/// A kind of request to the outside.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RequestKind {
    Read,
    Write,
    Fetch,
    Push,
    Objects,
    Forge,
    Model,
    Word,
}

impl RequestKind {
    /// The longest time that a request takes without a fault, in milliseconds; long enough for other events meanwhile.
    const fn most_millis(self) -> u64 {
        match self {
            Self::Read | Self::Write => 3,
            Self::Objects => 20,
            Self::Word => 200,
            Self::Fetch | Self::Push | Self::Forge => 2_000,
            Self::Model => 15_000,
        }
    }
}

thread_local! {
    /// The process whose code this thread is running.
    static RUNNING: RefCell<Option<Arc<Process>>> = const { RefCell::new(None) };
}

/// The panic that unwinds a process killed at a named point.
#[derive(Debug)]
pub(crate) struct Killed;

impl Process {
    pub(crate) fn new(world: &Arc<World>, node: usize, life: u32) -> Arc<Self> {
        let (world, name) = (Arc::clone(world), format!("n{node}.{life}"));
        let (dead, drain, stands_until) = (CancellationToken::new(), CancellationToken::new(), Instant::now());
        Arc::new(Self { world, node, name, dead, drain, stands_until: Mutex::new(stands_until) })
    }

    pub(crate) fn dies(&self, of: &str) {
        if !self.is_dead() {
            self.world.note(format_args!("{} dies: {of}", self.name));
            self.dead.cancel();
        }
    }

    /// Whether no other node works on the same store.
    pub(crate) fn is_alone(&self) -> bool {
        self.world.plan.nodes == 1
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.is_cancelled()
    }

    /// Pauses the process, which cannot notice it.
    pub(crate) fn stands_still(&self, time: Duration) {
        self.world.note(format_args!("{} stands still for {} ms", self.name, time.as_millis()));
        *self.stands_until.lock() = Instant::now() + time;
    }

    /// Completes when the process is not paused; never when it is dead.
    pub(crate) async fn moves(&self) {
        loop {
            if self.is_dead() {
                std::future::pending::<()>().await;
            }
            let until = *self.stands_until.lock();
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Simulates the transmission of a request to the outside. The process may be killed before the request arrives.
    pub(crate) async fn sends(&self, what: RequestKind) {
        self.moves().await;
        let odds = &self.world.plan.odds;
        let most = if self.world.goes_wrong("slow", odds.slow) { 20_000 } else { what.most_millis() };
        self.waits(most).await;
        if self.world.goes_wrong("killed before", odds.killed) {
            self.dies(&format!("before {what:?}"));
            self.moves().await;
        }
    }

    /// Simulates the transmission of the answer. The process may be killed before the answer arrives.
    pub(crate) async fn receives(self: &Arc<Self>, what: RequestKind) {
        if self.world.goes_wrong("killed after", self.world.plan.odds.killed) {
            self.dies(&format!("after {what:?}"));
        }
        self.moves().await;
        self.waits(what.most_millis() / 4).await;
        self.runs();
    }

    async fn waits(&self, most_millis: u64) {
        let pause = self.world.chance().millis(0..=most_millis);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
            self.moves().await;
        }
    }

    /// Marks this thread as running code of this process.
    pub(crate) fn runs(self: &Arc<Self>) {
        RUNNING.set(Some(Arc::clone(self)));
    }

    /// Marks this thread as running no process's code.
    pub(crate) fn nobody_runs() {
        RUNNING.set(None);
    }

    /// Called at a named point of the code that runs.
    pub(crate) fn is_at(world: &World, point: &str) {
        world.count(&format!("point {point}"));
        let Some(process) = RUNNING.with_borrow(Clone::clone) else { return };
        // Some points are passed at every step of a job, others at most once.
        let weight = match point {
            "submitted" | "claimed" | "model-replied" | "tools-ran" => 1.0,
            "compacted" | "recorded" => 10.0,
            _ => 4.0,
        };
        let odds = world.plan.odds.killed_at_point * weight;
        if process.is_dead() || world.goes_wrong("killed at a point", odds) {
            process.dies(&format!("at {point}"));
            world.count(&format!("killed at {point}"));
            std::panic::resume_unwind(Box::new(Killed));
        }
    }
}

/// A worker in its process.
#[derive(Debug)]
pub(crate) struct ProcessWorker<W> {
    pub(crate) process: Arc<Process>,
    pub(crate) worker: W,
}

#[async_trait]
impl<W: Worker> Worker for ProcessWorker<W> {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        let mut work = self.worker.work(handle);
        let polled = move |context: &mut Context<'_>| -> Poll<Result<Outcome, Failure>> {
            self.process.runs();
            work.as_mut().poll(context)
        };
        std::future::poll_fn(polled).await
    }
}
