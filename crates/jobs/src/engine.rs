//! Claims jobs under a lease and runs a worker on each.
//!
//! One loop steers: wait for a free place, claim, start; when there is nothing to claim, sleep until a signal or until
//! the store says something falls due. Each running job has a task that renews its lease and watches for the order to
//! stop; the worker itself runs in a task of its own, so that a panic in it is one failed attempt and nothing more.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docent_types::{Halt, JobId};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, error, info, warn};

use crate::crash;
use crate::jobs::Jobs;
use crate::row::Row;
use crate::state::{self, Outcome};
use crate::store::{Decide, Gate, Store, WriteError};
use crate::worker::{Failure, Halted, Handle, Worker};

/// How an engine works.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Names this process in leases.
    pub holder: String,
    /// Jobs run at the same time, at most.
    pub workers: usize,
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
    pub async fn take_over(&self) -> Result<usize, docent_types::StoreError> {
        let orphans = self.store().leased().await?;
        for id in &orphans {
            let gate = Gate { now: self.jobs.clock.now(), quota: None, key: None };
            // Any other error: the job has ended meanwhile, and there is nothing to take.
            if let Err(WriteError::Store(error)) = self.store().change(*id, gate, Arc::new(state::orphan)).await {
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
        loop {
            while tasks.try_join_next().is_some() {}
            let mut nap = Duration::ZERO;
            if tasks.len() >= self.config.workers {
                nap = self.config.idle;
            } else if !drain.is_cancelled() {
                match self.claim().await {
                    Ok(Some(row)) => {
                        let (engine, drain) = (Arc::clone(&self), drain.clone());
                        tasks.spawn(async move { engine.run_one(row, drain).await });
                    }
                    Ok(None) => nap = self.nap().await,
                    Err(error) => {
                        error!(error = &error as &dyn std::error::Error, "cannot claim jobs; trying again");
                        nap = self.config.idle;
                    }
                }
            }
            if nap.is_zero() && !drain.is_cancelled() {
                continue;
            }
            tokio::select! {
                () = drain.cancelled() => break,
                () = self.jobs.signals.work.notified() => {}
                id = stopped.recv() => self.heard_stop(id),
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                () = tokio::time::sleep(nap) => {}
            }
        }
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

    async fn claim(&self) -> Result<Option<Row>, docent_types::StoreError> {
        let now = self.jobs.clock.now();
        let (holder, until) = (self.config.holder.clone(), now.plus(self.config.lease));
        self.store().claim(now, Arc::new(move |row: &Row| state::lease(row, &holder, until))).await
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
        self.attempt(row, stop, drain).await;
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        // Its lane is free now, and another job may have waited for it.
        self.jobs.signals.work.notify_one();
    }

    async fn attempt(&self, row: Row, stop: CancellationToken, drain: CancellationToken) {
        let (id, token) = (row.id(), row.last_token);
        crash::point("claimed");
        debug!(job = %id, token, "job claimed");
        if row.attempt.failed >= self.config.crashes {
            let mut handle = self.handle(row, &stop, &drain);
            handle.heard(u64::MAX);
            self.give_up(&mut handle, "the process died or stalled each time", Halt::Error).await;
            return;
        }
        let mut handle = self.handle(row, &stop, &drain);
        let worker = Arc::clone(&self.worker);
        let halt = stop.clone();
        // Dropped with this future, so that nobody works on without renewing the lease.
        let mut work = AbortOnDropHandle::new(tokio::spawn(async move {
            let result = tokio::select! {
                biased;
                () = halt.cancelled() => Err(Failure::Halted(Halted::Lost)),
                result = turn(&*worker, &mut handle) => result,
            };
            (handle, result)
        }));
        let mut renewals = tokio::time::interval(self.config.lease / 3);
        renewals.tick().await;
        let joined = loop {
            tokio::select! {
                joined = &mut work => break joined,
                _ = renewals.tick() => self.renew(id, token, &stop).await,
            }
        };
        match joined {
            Ok((mut handle, result)) => self.settle(&mut handle, result).await,
            Err(panic) => {
                error!(job = %id, error = %panic, "the worker panicked");
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
        let gate = Gate { now, quota: None, key: None };
        match self.store().change(id, gate, Arc::new(move |row: &Row| state::renew(row, token, until))).await {
            Ok(_) => {}
            // The store may come back before the lease runs out; until then the work is still ours.
            Err(WriteError::Store(error)) => {
                warn!(job = %id, error = &error as &dyn std::error::Error, "could not renew the lease");
            }
            Err(_) => stop.cancel(),
        }
    }

    async fn settle(&self, handle: &mut Handle, result: Result<(), Failure>) {
        let id = handle.row().id();
        let token = handle.token();
        match result {
            Ok(()) => debug!(job = %id, status = handle.job().status.as_str(), "job ended"),
            Err(Failure::Halted(Halted::Lost)) => info!(job = %id, "job stopped: archived, or taken over by another"),
            Err(Failure::Halted(Halted::Draining)) => {
                let released = handle.give_back(Arc::new(move |row: &Row| state::release(row, token))).await;
                log_if_failed(id, "give the job back", released);
            }
            Err(Failure::Halted(Halted::Store(error))) => {
                error!(job = %id, error = &error as &dyn std::error::Error, "job left to be rescued");
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
                    warn!(job = %id, why, seconds = wait.as_secs_f32(), "attempt failed; the job will be tried again");
                    let not_before = self.jobs.clock.now().plus(wait);
                    let decide: Decide = Arc::new(move |row: &Row| state::retry(row, token, &why, not_before));
                    let given = handle.give_back(decide).await;
                    log_if_failed(id, "give the job back", given);
                }
            }
        }
    }

    async fn give_up(&self, handle: &mut Handle, why: &str, halt: Halt) {
        let id = handle.row().id();
        handle.heard(u64::MAX);
        let attempts = handle.row().attempt.failed + 1;
        let message = match attempts {
            1 => format!("Gave up: {why}."),
            _ => format!("Gave up after {attempts} attempts: {why}."),
        };
        let ended = handle.finish(&Outcome::Failed { halt, message }).await.map(drop);
        log_if_failed(id, "end the job as failed", ended);
    }

    async fn after_panic(&self, id: JobId, token: u64) {
        let now = self.jobs.clock.now();
        let gate = Gate { now, quota: None, key: None };
        let decide: Decide = Arc::new(move |row: &Row| {
            let not_before = now.plus(state::wait(id, row.attempt.failed, None));
            state::retry(row, token, "the worker panicked", not_before)
        });
        if let Err(WriteError::Store(error)) = self.store().change(id, gate, decide).await {
            error!(job = %id, error = &error as &dyn std::error::Error, "job left to be rescued");
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

fn log_if_failed(id: JobId, doing: &str, result: Result<(), Halted>) {
    if let Err(error) = result {
        warn!(job = %id, error = &error as &dyn std::error::Error, "could not {doing}");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use docent_types::{
        AgentJob, Clock, Domain, FixedIds, ForgeKind, JobEvent, JobStatus, ManualClock, Message, Project, ProjectId,
        Role, Timestamp,
    };
    use tokio::sync::Semaphore;

    use super::*;
    use crate::entry::EntryBody;
    use crate::jobs::{JobLimits, NewJob};
    use crate::memory::MemoryStore;
    use crate::watch::News;

    /// Plays what its script says, one line an attempt; waits at the gate when the script says so.
    #[derive(Debug)]
    struct Scripted {
        script: Vec<&'static str>,
        next: AtomicUsize,
        gate: Semaphore,
        entered: Semaphore,
    }

    #[async_trait]
    impl Worker for Scripted {
        async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
            let line = self.script.get(self.next.fetch_add(1, Ordering::SeqCst)).copied().unwrap_or("done");
            let newest = handle.read().await?.iter().rev().find_map(|entry| match entry.body {
                EntryBody::Instruction(_) => Some(entry.seq),
                _ => None,
            });
            handle.heard(newest.unwrap_or_default());
            if !line.starts_with("retry") && line != "panic" {
                handle.record(line, serde_json::json!({}));
                handle.sync().await?;
            }
            self.entered.add_permits(1);
            match line {
                "panic" => panic!("as the script says"),
                "retry" => return Err(not_today(None)),
                "retry after 90 s" => return Err(not_today(Some(90))),
                "retry after a day" => return Err(not_today(Some(86_400))),
                "wait" => self.gate.acquire().await.expect("open").forget(),
                "step" => {
                    self.gate.acquire().await.expect("open").forget();
                    handle.may_go_on()?;
                }
                _ => {}
            }
            Ok(Outcome::Completed { message: line.to_owned() })
        }
    }

    fn not_today(after: Option<u64>) -> Failure {
        let after = after.map(Duration::from_secs);
        Failure::Retry { why: "not today".to_owned(), halt: Halt::Error, after, attempts: None }
    }

    struct World {
        jobs: Jobs,
        worker: Arc<Scripted>,
        clock: ManualClock,
        drain: CancellationToken,
        engine: tokio::task::JoinHandle<()>,
    }

    impl World {
        fn with(script: &[&'static str]) -> Self {
            let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
            let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
            let ids = Arc::new(FixedIds::default());
            let jobs = Jobs::new(store, Arc::new(clock.clone()), ids, JobLimits::default());
            let worker = Arc::new(Scripted {
                script: script.to_vec(),
                next: AtomicUsize::new(0),
                gate: Semaphore::new(0),
                entered: Semaphore::new(0),
            });
            let drain = CancellationToken::new();
            let config = EngineConfig { attempts: 3, ..EngineConfig::new("test") };
            let engine = Engine::new(jobs.clone(), Arc::clone(&worker) as Arc<dyn Worker>, config);
            let engine = tokio::spawn(engine.run(drain.clone()));
            Self { jobs, worker, clock, drain, engine }
        }

        async fn submit(&self, branch: Option<&str>) -> AgentJob {
            let project = project();
            let new = NewJob {
                project: &project,
                messages: vec![Message::text(Role::User, "do it")],
                branch: branch.map(|name| docent_types::BranchName::parse(name).expect("a name")),
                as_draft: false,
                model: "sonnet".to_owned(),
            };
            self.jobs.submit(new, None).await.expect("accepted").job
        }

        async fn reaches(&self, job: &AgentJob, status: JobStatus) -> AgentJob {
            loop {
                let now = self.jobs.job(&job.project, job.id).await.expect("is there");
                if now.status == status {
                    return now;
                }
                tokio::task::yield_now().await;
                // Lets a paused clock jump to the engine's next wake-up.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }

        async fn entered(&self, times: u32) {
            self.worker.entered.acquire_many(times).await.expect("open").forget();
        }
    }

    fn project() -> Project {
        Project {
            id: ProjectId::parse("acme").expect("a name"),
            domain: Domain::parse("acme").expect("a name"),
            repository: "/repo".to_owned(),
            branch: "main".to_owned(),
            docs_root: String::new(),
            forge: ForgeKind::Local,
            token_env: None,
            base_url: None,
            context: std::collections::BTreeMap::default(),
            created_at: Timestamp::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_is_run_to_its_end() {
        let world = World::with(&["done"]);
        let job = world.submit(None).await;
        let ended = world.reaches(&job, JobStatus::Completed).await;
        assert_eq!(ended.message.as_deref(), Some("done"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_instruction_that_comes_while_it_works_is_worked_on_before_it_ends() {
        let world = World::with(&["wait", "second"]);
        let job = world.submit(None).await;
        world.entered(1).await;
        let more = vec![Message::text(Role::User, "and that")];
        world.jobs.follow_up(&job.project, job.id, more, None).await.expect("accepted");
        world.worker.gate.add_permits(1);
        let ended = world.reaches(&job, JobStatus::Completed).await;
        assert_eq!(ended.message.as_deref(), Some("second"));
    }

    #[tokio::test(start_paused = true)]
    async fn archiving_stops_the_worker_where_it_is() {
        let world = World::with(&["wait"]);
        let job = world.submit(None).await;
        world.entered(1).await;
        let archived = world.jobs.archive(&job.project, job.id).await.expect("archived");
        assert_eq!(archived.status, JobStatus::Archived);
        // The worker never gets through the gate, and still the engine comes to rest.
        world.drain.cancel();
        world.engine.await.expect("drained");
    }

    #[tokio::test(start_paused = true)]
    async fn draining_gives_the_job_back_between_two_steps() {
        let world = World::with(&["step"]);
        let job = world.submit(None).await;
        world.entered(1).await;
        world.drain.cancel();
        world.worker.gate.add_permits(1);
        world.engine.await.expect("drained");
        let row = world.jobs.store.row(job.id).await.expect("reads").expect("is there");
        assert_eq!((row.job.status, row.lease, row.attempt.failed), (JobStatus::Active, None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_attempt_is_tried_again_and_a_job_that_only_fails_is_given_up() {
        let world = World::with(&["retry", "panic", "retry", "never"]);
        let job = world.submit(None).await;
        for _ in 0..3 {
            world.entered(1).await;
            world.clock.advance(Duration::from_secs(600));
        }
        let ended = world.reaches(&job, JobStatus::Failed).await;
        assert!(ended.message.as_deref().is_some_and(|text| text.contains("after 3 attempts")), "{:?}", ended.message);
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_waits_as_long_as_it_is_asked_to() {
        let world = World::with(&["retry after 90 s", "done"]);
        let job = world.submit(None).await;
        world.entered(1).await;
        let entries = loop {
            let entries = world.jobs.store.entries(job.id, 0, 100).await.expect("reads");
            if matches!(entries.last().map(|entry| &entry.body), Some(EntryBody::Retry { .. })) {
                break entries;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        let Some(EntryBody::Retry { not_before, .. }) = entries.last().map(|entry| entry.body.clone()) else {
            panic!()
        };
        let wait = not_before.since(world.clock.now());
        assert!((90..=100).contains(&wait.as_secs()), "{wait:?}");
        world.clock.advance(wait);
        world.reaches(&job, JobStatus::Completed).await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_is_asked_to_wait_for_too_long_is_the_last() {
        let world = World::with(&["retry after a day"]);
        let job = world.submit(None).await;
        let ended = world.reaches(&job, JobStatus::Failed).await;
        let message = "Gave up: not today, and asks to be left alone for 1440 minutes.";
        assert_eq!(ended.message.as_deref(), Some(message));
    }

    #[tokio::test(start_paused = true)]
    async fn who_watches_hears_the_journal_and_what_is_live_to_the_end() {
        let world = World::with(&["wait"]);
        let job = world.submit(None).await;
        world.entered(1).await;
        let mut watch = world.jobs.watch(&job.project, job.id, 0).await.expect("is there");
        world.jobs.signals.watchers.live(job.id, u64::MAX, || JobEvent::Delta { at: 0, text: "hm".to_owned() });
        world.worker.gate.add_permits(1);
        let (mut kinds, mut live) = (Vec::new(), 0);
        while let Some(news) = watch.next().await.expect("reads") {
            match news {
                News::Live(_) => live += 1,
                News::Entry(entry) => kinds.push((entry.seq, entry.body)),
            }
        }
        assert_eq!(live, 1);
        assert!(kinds.iter().map(|(seq, _)| *seq).eq(1..=kinds.len() as u64), "no gap: {kinds:?}");
        let last = kinds.last().map(|(_, body)| body);
        assert!(matches!(last, Some(EntryBody::Transition { to: JobStatus::Completed, .. })), "{last:?}");
        // Whoever hears of the end knows at once that it is the end.
        let mut all = world.jobs.watch(&job.project, job.id, 0).await.expect("is there");
        let start = tokio::time::Instant::now();
        while all.next().await.expect("reads").is_some() {}
        assert_eq!(start.elapsed(), Duration::ZERO);
        // Nobody goes on after what was never written.
        assert!(world.jobs.watch(&job.project, job.id, kinds.len() as u64 + 1).await.is_err());
        // From the last entry on there is nothing more to hear.
        let mut again = world.jobs.watch(&job.project, job.id, kinds.len() as u64).await.expect("is there");
        assert_eq!(again.next().await.expect("reads"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn two_jobs_never_work_on_one_branch_at_a_time() {
        let world = World::with(&["wait", "wait"]);
        let first = world.submit(Some("docs")).await;
        world.entered(1).await;
        let second = world.submit(Some("docs")).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(world.worker.entered.available_permits(), 0, "the second waits");
        world.worker.gate.add_permits(1);
        world.reaches(&first, JobStatus::Completed).await;
        world.entered(1).await;
        world.worker.gate.add_permits(1);
        world.reaches(&second, JobStatus::Completed).await;
    }
}
