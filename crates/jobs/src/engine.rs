//! Claims jobs under a lease and runs a worker on each.
//!
//! One loop steers: wait for a free place, claim, start; when there is nothing to claim, sleep until a signal or until
//! the store says something falls due. Each running job has a task that renews its lease and watches for the order to
//! stop; the worker itself runs in a task of its own, so that a panic in it is one failed attempt and nothing more.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docent_types::{Halt, JobId, StoreError};
use futures::FutureExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, debug, error, error_span, info, warn};

use crate::crash;
use crate::jobs::Jobs;
use crate::row::Row;
use crate::state::{self, Outcome};
use crate::store::{ClaimRequest, Decide, Store, WriteError, WriteGuards};
use crate::worker::{Failure, Handle, Interrupted, Worker};

/// How long a job waits before it asks again for what this process lacks.
const WANT: Duration = Duration::from_secs(5);

/// How an engine works.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Names this process in leases.
    pub holder: String,
    /// Jobs run at the same time, at most.
    pub workers: usize,
    /// Jobs of one project run at the same time, at most, by whichever process.
    pub per_project: usize,
    /// How long a lease lasts without a renewal. It is renewed every third of this.
    pub lease: Duration,
    /// Attempts that may fail in a row before the job does, when the worker does not say otherwise.
    pub attempts: u32,
    /// The longest a failed attempt waits for the next because something outside asks for it. Asked for more, the job
    /// fails and says so.
    pub longest_wait: Duration,
    /// Attempts that may end without a word, by a crash or a lost lease, before the job counts as what causes it.
    pub crashes: u32,
    /// How long to sleep at most when nothing is known to fall due: how late a job submitted by another process, whose
    /// signal this one cannot hear, may be noticed.
    pub idle: Duration,
}

impl EngineConfig {
    pub fn new(holder: impl Into<String>) -> Self {
        Self {
            holder: holder.into(),
            workers: 8,
            per_project: usize::MAX,
            lease: Duration::from_secs(30),
            attempts: 5,
            longest_wait: Duration::from_secs(30 * 60),
            crashes: 20,
            idle: Duration::from_secs(1),
        }
    }
}

/// Runs jobs until told to drain.
pub struct Engine {
    jobs: Jobs,
    worker: Arc<dyn Worker>,
    config: EngineConfig,
    running: Mutex<HashMap<JobId, CancellationToken>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Engine {
    pub fn new(jobs: Jobs, worker: Arc<dyn Worker>, config: EngineConfig) -> Arc<Self> {
        Arc::new(Self { jobs, worker, config, running: Mutex::new(HashMap::new()) })
    }

    /// Takes all leases back. For a process that knows to be the only one that works on this store: jobs of a process
    /// that died before need not wait for their leases to run out.
    pub async fn take_over(&self) -> Result<usize, StoreError> {
        let (orphans, now) = (self.store().leased().await?, self.jobs.clock.now());
        let guards = WriteGuards { now, quota: None, key: None };
        // Flushed: its entry is told to whoever listens, and nothing that was told is taken back by a loss of power.
        let takes = orphans.iter().map(|id| self.store().change(*id, guards.clone(), Arc::new(state::orphan)));
        for taken in futures::future::join_all(takes).await {
            // Any other error: the job has ended meanwhile, and there is nothing to take.
            if let Err(WriteError::Store(error)) = taken {
                return Err(error);
            }
        }
        Ok(orphans.len())
    }

    /// Runs until `drain` is cancelled, then lets every running job stop between two steps and gives it back.
    ///
    /// Dropping the future leaves the leases behind: they run out and the jobs are taken up again.
    pub async fn run(self: Arc<Self>, drain: CancellationToken) {
        let mut tasks = JoinSet::new();
        let mut stopped = self.jobs.signals.stopped.subscribe();
        while !drain.is_cancelled() {
            while tasks.try_join_next().is_some() {}
            let free = self.config.workers.saturating_sub(tasks.len());
            let mut nap = self.config.idle;
            if free > 0 {
                match self.claim(free).await {
                    Ok(rows) => {
                        let full = rows.len() >= free;
                        for row in rows {
                            let (engine, drain) = (Arc::clone(&self), drain.clone());
                            tasks.spawn(async move { engine.run_one(row, drain).await });
                        }
                        // Looking for what falls due is for whoever has nothing else to do.
                        if !full && self.jobs.signals.work.notified().now_or_never().is_some() {
                            continue;
                        }
                        if !full {
                            nap = self.nap().await;
                        }
                    }
                    Err(error) => error!(error = &error as &dyn Error, "cannot claim jobs; trying again"),
                }
            }
            // In this order, whatever else is due: what happens follows from what happened, and from nothing else.
            tokio::select! {
                biased;
                () = drain.cancelled() => break,
                id = stopped.recv() => self.heard_stop(id),
                // Whoever has no place free is not interested; the signal stays until somebody is.
                () = self.jobs.signals.work.notified(), if tasks.len() < self.config.workers => {}
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                () = tokio::time::sleep(nap) => {}
            }
        }
        self.jobs.signals.draining.cancel();
        if !tasks.is_empty() {
            info!(running = tasks.len(), "draining: running jobs stop between two steps");
        }
        while tasks.join_next().await.is_some() {}
    }

    fn heard_stop(&self, id: Result<JobId, RecvError>) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // A missed signal costs only time: the lease's next renewal is refused and stops the job as well.
        if let Some(token) = id.ok().and_then(|id| running.get(&id)) {
            token.cancel();
        }
    }

    fn store(&self) -> &Arc<dyn Store> {
        &self.jobs.store
    }

    async fn claim(&self, most: usize) -> Result<Vec<Row>, StoreError> {
        let now = self.jobs.clock.now();
        let (holder, until) = (self.config.holder.clone(), now.plus(self.config.lease));
        let request = ClaimRequest { now, cap_per_project: self.config.per_project, most };
        self.store().claim(request, Arc::new(move |row: &Row| state::lease(row, &holder, until))).await
    }

    async fn nap(&self) -> Duration {
        let now = self.jobs.clock.now();
        match self.store().next_due(now).await {
            Ok(Some(due)) => due.since(now).clamp(Duration::from_millis(1), self.config.idle),
            _ => self.config.idle,
        }
    }

    async fn run_one(&self, row: Row, drain: CancellationToken) {
        let id = row.id();
        let stop = CancellationToken::new();
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(id, stop.clone());
        // At the highest level, so that whatever is logged, it says of which job.
        self.attempt(row, stop, drain).instrument(error_span!("attempt", job = %id)).await;
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        // Its concurrency key is free now, and another job may have waited for it.
        self.jobs.signals.work.notify_one();
    }

    async fn attempt(&self, row: Row, stop: CancellationToken, drain: CancellationToken) {
        let (id, token) = (row.id(), row.last_token);
        crash::point("claimed");
        debug!(token, "job claimed");
        if row.attempt.failed >= self.config.crashes {
            let mut handle = self.handle(row, &stop, &drain);
            handle.acknowledge(u64::MAX);
            self.give_up(&mut handle, "the process died or stalled each time", Halt::Error).await;
            return;
        }
        let mut handle = self.handle(row, &stop, &drain);
        let worker = Arc::clone(&self.worker);
        let halt = stop.clone();
        // Dropped with this future, so that nobody works on without renewing the lease.
        let work = async move {
            let result = tokio::select! {
                biased;
                () = halt.cancelled() => Err(Failure::Halted(Interrupted::Lost)),
                result = turn(&*worker, &mut handle) => result,
            };
            (handle, result)
        };
        let mut work = AbortOnDropHandle::new(tokio::spawn(work.in_current_span()));
        let mut renewals = tokio::time::interval(self.config.lease / 3);
        renewals.tick().await;
        let joined = loop {
            tokio::select! {
                biased;
                joined = &mut work => break joined,
                _ = renewals.tick() => self.renew(id, token, &stop).await,
            }
        };
        match joined {
            Ok((mut handle, result)) => self.settle(&mut handle, result).await,
            Err(panic) => {
                error!(error = %panic, "the worker panicked");
                self.after_panic(id, token).await;
            }
        }
    }

    fn handle(&self, row: Row, stop: &CancellationToken, drain: &CancellationToken) -> Handle {
        let (store, clock) = (Arc::clone(self.store()), Arc::clone(&self.jobs.clock));
        let watchers = Arc::clone(&self.jobs.signals.watchers);
        Handle::new(store, clock, watchers, row, stop.clone(), drain.clone())
    }

    async fn renew(&self, id: JobId, token: u64, stop: &CancellationToken) {
        let now = self.jobs.clock.now();
        let until = now.plus(self.config.lease);
        match self.store().hold(id, now, Arc::new(move |row: &Row| state::renew(row, token, until))).await {
            Ok(_) => {}
            // The store may come back before the lease runs out; until then the work is still ours.
            Err(WriteError::Store(error)) => {
                warn!(error = &error as &dyn Error, "could not renew the lease");
            }
            Err(_) => stop.cancel(),
        }
    }

    async fn settle(&self, handle: &mut Handle, result: Result<(), Failure>) {
        let id = handle.row().id();
        let token = handle.token();
        match result {
            Ok(()) => debug!(status = handle.job().status.as_str(), "job ended"),
            Err(Failure::Halted(Interrupted::Lost)) => {
                info!("job stopped: archived, or taken over by another");
            }
            Err(Failure::Halted(Interrupted::Draining)) => {
                let released = handle.release().await;
                log_if_failed("give the job back", released);
            }
            Err(Failure::Halted(Interrupted::Store(error))) => {
                error!(error = &error as &dyn Error, "job left to be rescued");
            }
            Err(Failure::Wait { why }) => {
                warn!(why, seconds = WANT.as_secs(), "the job waits for this process to have room for it");
                let not_before = self.jobs.clock.now().plus(WANT);
                let decide: Decide = Arc::new(move |row: &Row| state::postpone(row, token, &why, not_before));
                let given = handle.give_back(decide).await;
                log_if_failed("give the job back", given);
            }
            Err(Failure::Retry { why, halt, after, attempts }) => {
                let failed = handle.row().attempt.failed + 1;
                if failed >= attempts.unwrap_or(self.config.attempts) {
                    self.give_up(handle, &why, halt).await;
                } else if let Some(wait) = after.filter(|wait| *wait > self.config.longest_wait) {
                    let minutes = wait.as_secs().div_ceil(60);
                    let why = format!("{why}, and asks to be left alone for {minutes} minutes");
                    self.give_up(handle, &why, halt).await;
                } else {
                    let wait = state::wait(id, failed - 1, after);
                    warn!(why, seconds = wait.as_secs_f32(), "attempt failed; the job will be tried again");
                    let not_before = self.jobs.clock.now().plus(wait);
                    let decide: Decide = Arc::new(move |row: &Row| state::retry(row, token, &why, not_before));
                    let given = handle.give_back(decide).await;
                    log_if_failed("give the job back", given);
                }
            }
        }
    }

    async fn give_up(&self, handle: &mut Handle, why: &str, halt: Halt) {
        handle.acknowledge(u64::MAX);
        let attempts = handle.row().attempt.failed + 1;
        let message = match attempts {
            1 => format!("Gave up: {why}."),
            _ => format!("Gave up after {attempts} attempts: {why}."),
        };
        let ended = handle.finish(&Outcome::Failed { halt, message }).await.map(drop);
        log_if_failed("end the job as failed", ended);
    }

    async fn after_panic(&self, id: JobId, token: u64) {
        let now = self.jobs.clock.now();
        let guards = WriteGuards { now, quota: None, key: None };
        let decide: Decide = Arc::new(move |row: &Row| {
            let not_before = now.plus(state::wait(id, row.attempt.failed, None));
            state::retry(row, token, "the worker panicked", not_before)
        });
        if let Err(WriteError::Store(error)) = self.store().change(id, guards, decide).await {
            error!(error = &error as &dyn Error, "job left to be rescued");
        }
    }
}

/// One turn after another, until the job ends or must stop.
async fn turn(worker: &dyn Worker, handle: &mut Handle) -> Result<(), Failure> {
    loop {
        handle.rewind();
        let outcome = worker.work(handle).await?;
        if handle.finish(&outcome).await? {
            crash::point("completed");
            return Ok(());
        }
    }
}

fn log_if_failed(doing: &str, result: Result<(), Interrupted>) {
    if let Err(error) = result {
        warn!(error = &error as &dyn Error, "could not {doing}");
    }
}

#[cfg(test)]
mod tests;
