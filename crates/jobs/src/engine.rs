//! Claims jobs under a lease and runs a worker on each.
//!
//! One loop steers: wait for a free worker, claim, start; when there is nothing to claim, sleep until a signal or until
//! the next due time from the store. Each running job has a task that renews its lease and watches for the signal to
//! stop; the worker runs in a task of its own, so that a panic in it is one failed attempt and nothing more.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{Durations, Halt, JobId, JobStatus, StoreError, WorkDurations};
use futures::FutureExt;
use parking_lot::Mutex;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, debug, error, error_span, info, warn};

use crate::crash;
use crate::jobs::Jobs;
use crate::row::Row;
use crate::state::{self, Outcome};
use crate::store::{ClaimRequest, Decision, Store, WriteError, WriteGuards};
use crate::worker::{Failure, Handle, Interrupted, Worker};

/// Delay before the retry of a job that failed because this process lacked a resource.
const RESOURCE_DELAY: Duration = Duration::from_secs(5);

/// How long after a failure of the store a job is given back; doubled with each further failure, five times at most.
const FIRST_STORE_PAUSE: Duration = Duration::from_millis(100);

/// Settings of an engine.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// The name of this process in leases.
    pub holder: String,
    /// Most jobs that run at the same time.
    pub workers: usize,
    /// Most jobs of one project that run at the same time, over all processes.
    pub per_project: usize,
    /// How long a lease lasts without a renewal. It is renewed after each third of this.
    pub lease: Duration,
    /// Attempts that may fail in a row before the job fails, unless the worker's failure names another number.
    pub attempts: u32,
    /// The longest delay that a service outside may ask for before the next attempt. If it asks for more, the job fails
    /// with a message that names the delay.
    pub max_wait: Duration,
    /// Attempts in a row that may end in a crash or a lost lease before the job counts as their cause and fails.
    pub crashes: u32,
    /// The longest sleep when nothing is known to fall due. It is also the longest delay until this process notices a
    /// job that was submitted to another process, whose signals do not reach this one, and that one of its own was ended
    /// there.
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
            max_wait: Duration::from_secs(30 * 60),
            crashes: 20,
            idle: Duration::from_secs(1),
        }
    }
}

/// How long jobs took, since this process began.
#[derive(Debug, Default)]
pub struct JobTimes {
    /// From the creation of a job to its first lease.
    pub waited: Durations,
    /// From the creation of a job to its end, completed or failed. A job that was followed up is left out: the pause before
    /// the follow-up is not the engine's.
    pub ended: WorkDurations,
}

/// Runs jobs until it is drained.
pub struct Engine {
    jobs: Jobs,
    worker: Arc<dyn Worker>,
    config: EngineConfig,
    running: Mutex<HashMap<JobId, CancellationToken>>,
    times: Arc<JobTimes>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Engine {
    pub fn new(jobs: Jobs, worker: Arc<dyn Worker>, config: EngineConfig) -> Arc<Self> {
        Arc::new(Self { jobs, worker, config, running: Mutex::default(), times: Arc::default() })
    }

    /// How long the jobs of this engine took.
    pub const fn times(&self) -> &Arc<JobTimes> {
        &self.times
    }

    /// Takes all leases back. For a process that is known to be the only one on this store: the jobs of a process that
    /// died before need not wait for their leases to expire.
    pub async fn take_over(&self) -> Result<usize, StoreError> {
        let (orphans, now) = (self.store().leased().await?, self.jobs.clock.now());
        let guards = WriteGuards { now, quota: None, key: None };
        // Flushed, because the entry is announced to watchers, and a power loss must not undo what was announced.
        let takeovers = orphans.iter().map(|id| self.store().change(*id, guards.clone(), Arc::new(state::orphan)));
        for taken in futures::future::join_all(takeovers).await {
            // Any other error: the job has ended meanwhile and holds no lease.
            if let Err(WriteError::Store(error)) = taken {
                return Err(error);
            }
        }
        Ok(orphans.len())
    }

    /// Runs until `drain` is cancelled; then every running job stops between two steps and its lease is released.
    ///
    /// If the future is dropped, the leases stay: they expire, and the jobs are claimed again.
    pub async fn run(self: Arc<Self>, drain: CancellationToken) {
        let mut tasks = JoinSet::new();
        let mut stopped = self.jobs.signals.stopped.subscribe();
        while !drain.is_cancelled() {
            while tasks.try_join_next().is_some() {}
            let free = self.config.workers.saturating_sub(tasks.len());
            let mut sleep_time = self.config.idle;
            if free > 0 {
                match self.claim(free).await {
                    Ok(rows) => {
                        let full = rows.len() >= free;
                        for row in rows {
                            let (engine, drain) = (Arc::clone(&self), drain.clone());
                            tasks.spawn(async move { engine.run_one(row, drain).await });
                        }
                        // Claiming again at once takes precedence over waiting for due jobs.
                        if !full && self.jobs.signals.work.notified().now_or_never().is_some() {
                            continue;
                        }
                        if !full {
                            sleep_time = self.time_until_due().await;
                        }
                    }
                    Err(error) => error!(error = &error as &dyn Error, "cannot claim jobs; trying again"),
                }
            }
            // Polled in this fixed order, so that a simulation is deterministic.
            tokio::select! {
                biased;
                () = drain.cancelled() => break,
                id = stopped.recv() => self.stop(id),
                // Not awaited while no worker is free; the signal stays stored until then.
                () = self.jobs.signals.work.notified(), if tasks.len() < self.config.workers => {}
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                () = tokio::time::sleep(sleep_time) => {}
            }
        }
        self.jobs.signals.draining.cancel();
        if !tasks.is_empty() {
            info!(running = tasks.len(), "draining: running jobs stop between two steps");
        }
        while tasks.join_next().await.is_some() {}
    }

    fn stop(&self, id: Result<JobId, RecvError>) {
        let running = self.running.lock();
        // A missed signal costs only time: the next renewal of the lease is refused, which stops the job as well.
        if let Some(token) = id.ok().and_then(|id| running.get(&id)) {
            token.cancel();
        }
    }

    fn store(&self) -> &Arc<dyn Store> {
        &self.jobs.store
    }

    async fn claim(&self, limit: usize) -> Result<Vec<Row>, StoreError> {
        let now = self.jobs.clock.now();
        let (holder, until) = (self.config.holder.clone(), now.plus(self.config.lease));
        let request = ClaimRequest { now, cap_per_project: self.config.per_project, limit };
        self.store().claim(request, Arc::new(move |row: &Row| state::lease(row, &holder, until))).await
    }

    async fn time_until_due(&self) -> Duration {
        let now = self.jobs.clock.now();
        match self.store().next_due(now).await {
            Ok(Some(due)) => due.since(now).clamp(Duration::from_millis(1), self.config.idle),
            _ => self.config.idle,
        }
    }

    async fn run_one(&self, row: Row, drain: CancellationToken) {
        let id = row.id();
        let stop = CancellationToken::new();
        self.running.lock().insert(id, stop.clone());
        // The span has the highest level, so that every log line names its job.
        self.attempt(row, stop, drain).instrument(error_span!("attempt", job = %id)).await;
        self.running.lock().remove(&id);
        self.jobs.signals.watchers.forget_text(id);
        // The job's concurrency key is free now, and another job may wait for it.
        self.jobs.signals.work.notify_one();
    }

    async fn attempt(&self, row: Row, stop: CancellationToken, drain: CancellationToken) {
        let (id, token) = (row.id(), row.last_token);
        crash::point("claimed");
        debug!(token, "job claimed");
        if token == state::FIRST_TOKEN {
            self.times.waited.record(self.jobs.clock.now().since(row.job.created_at));
        }
        if row.attempt.failed >= self.config.crashes {
            let mut handle = self.handle(row, &stop, &drain);
            handle.acknowledge(u64::MAX);
            self.give_up(&mut handle, "the process died or stalled each time", Halt::Error).await;
            self.record_end(&handle);
            return;
        }
        let mut handle = self.handle(row, &stop, &drain);
        let worker = Arc::clone(&self.worker);
        let stopped = handle.stopped();
        // Dropped with this future, so that no worker continues without a renewed lease.
        let work = async move {
            let result = tokio::select! {
                biased;
                () = stopped => Err(Failure::Halted(Interrupted::Lost)),
                result = turn(&*worker, &mut handle) => result,
            };
            (handle, result)
        };
        let mut work = AbortOnDropHandle::new(tokio::spawn(work.in_current_span()));
        let mut renewals = tokio::time::interval(self.config.lease / 3);
        renewals.tick().await;
        let mut looks = tokio::time::interval(self.config.idle);
        looks.tick().await;
        let joined = loop {
            tokio::select! {
                biased;
                joined = &mut work => break joined,
                _ = renewals.tick() => self.renew(id, token, &stop).await,
                _ = looks.tick(), if !stop.is_cancelled() => self.look(id, token, &stop).await,
            }
        };
        match joined {
            Ok((mut handle, result)) => {
                self.settle(&mut handle, result).await;
                self.record_end(&handle);
            }
            Err(panic) => {
                error!(error = %panic, "the worker panicked");
                self.after_panic(id, token).await;
            }
        }
    }

    fn record_end(&self, handle: &Handle) {
        let ended = match handle.job().status {
            JobStatus::Completed => &self.times.ended.done,
            JobStatus::Failed => &self.times.ended.failed,
            JobStatus::Active | JobStatus::Archived => return,
        };
        if handle.row().last_instruction == state::FIRST_INSTRUCTION {
            ended.record(self.jobs.clock.now().since(handle.job().created_at));
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
            // The store may recover before the lease expires; until then the job is still ours.
            Err(WriteError::Store(error)) => {
                warn!(error = &error as &dyn Error, "could not renew the lease");
            }
            Err(_) => stop.cancel(),
        }
    }

    /// Stops the worker if another process has ended the job, without waiting for the next renewal of the lease.
    async fn look(&self, id: JobId, token: u64, stop: &CancellationToken) {
        // A row that cannot be read is looked at again.
        if self.store().row(id).await.is_ok_and(|row| !row.is_some_and(|row| state::is_held(&row, token))) {
            stop.cancel();
        }
    }

    async fn settle(&self, handle: &mut Handle, result: Result<(), Failure>) {
        let id = handle.row().id();
        let token = handle.token();
        match result {
            Ok(()) => debug!(status = handle.job().status.as_str(), "job ended"),
            Err(Failure::Halted(Interrupted::Lost)) => {
                info!("job stopped: archived, or taken over by another");
                // Whoever removed the job waits for this. Otherwise there is no such lease any more.
                if let Err(error @ Interrupted::Store(_)) = handle.release().await {
                    warn!(error = &error as &dyn Error, "could not tell that the job has stopped");
                }
            }
            Err(Failure::Halted(Interrupted::Draining)) => {
                let released = handle.release().await;
                log_if_failed("give the job back", released);
            }
            Err(Failure::Halted(Interrupted::Store(error))) => {
                error!(error = &error as &dyn Error, "job left to be rescued, unless the store answers before");
                self.give_back(handle).await;
            }
            Err(Failure::Wait { why }) => {
                warn!(why, seconds = RESOURCE_DELAY.as_secs(), "the job waits for this process to have room for it");
                let not_before = self.jobs.clock.now().plus(RESOURCE_DELAY);
                let decide: Decision = Arc::new(move |row: &Row| state::postpone(row, token, &why, not_before));
                let written = handle.write(decide).await;
                log_if_failed("give the job back", written);
            }
            Err(Failure::Retry { why, halt, after, attempts }) => {
                let failed = handle.row().attempt.failed + 1;
                if failed >= attempts.unwrap_or(self.config.attempts) {
                    self.give_up(handle, &why, halt).await;
                } else if let Some(wait) = after.filter(|wait| *wait > self.config.max_wait) {
                    let minutes = wait.as_secs().div_ceil(60);
                    let why = format!("{why}, and asks to be left alone for {minutes} minutes");
                    self.give_up(handle, &why, halt).await;
                } else {
                    let wait = state::retry_delay(id, failed - 1, after);
                    warn!(why, seconds = wait.as_secs_f32(), "attempt failed; the job will be tried again");
                    let not_before = self.jobs.clock.now().plus(wait);
                    let decide: Decision = Arc::new(move |row: &Row| state::retry(row, token, &why, not_before));
                    let written = handle.write(decide).await;
                    log_if_failed("give the job back", written);
                }
            }
        }
    }

    /// Gives a job back whose store failed, as soon as the store answers. If it does not within the lease, the job is claimed
    /// again when that has expired.
    async fn give_back(&self, handle: &mut Handle) {
        let (id, token) = (handle.row().id(), handle.token());
        let tries = async {
            for n in 0_u32.. {
                tokio::time::sleep(FIRST_STORE_PAUSE * 2_u32.pow(n.min(5))).await;
                let not_before = self.jobs.clock.now().plus(state::retry_delay(id, handle.row().attempt.failed, None));
                let decide: Decision =
                    Arc::new(move |row: &Row| state::retry(row, token, "the store failed", not_before));
                if !matches!(handle.write(decide).await, Err(Interrupted::Store(_))) {
                    break;
                }
            }
        };
        tokio::select! {
            biased;
            () = self.jobs.signals.draining.cancelled() => {}
            _ = tokio::time::timeout(self.config.lease, tries) => {}
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
        let decide: Decision = Arc::new(move |row: &Row| {
            let not_before = now.plus(state::retry_delay(id, row.attempt.failed, None));
            state::retry(row, token, "the worker panicked", not_before)
        });
        if let Err(WriteError::Store(error)) = self.store().change(id, guards, decide).await {
            error!(error = &error as &dyn Error, "job left to be rescued");
        }
    }
}

/// Runs turns until the job ends or must stop.
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
