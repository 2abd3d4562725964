//! Scenario tests of an engine on a store in memory.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use docent_types::{
    AgentJob, Clock, Domain, FixedIds, ForgeKind, Ids, JobEvent, JobStatus, ManualClock, Message, Project, ProjectId,
    ProjectSettings, ProjectUid, Role, Timestamp,
};
use tokio::sync::Semaphore;

use super::*;
use crate::entry::{Entry, EntryBody};
use crate::jobs::{JobLimits, NewJob, Retention};
use crate::memory::MemoryStore;
use crate::watch::JobUpdate;

mod late_store;

/// Follows its script, one line per attempt; waits at the gate when the script says so.
#[derive(Debug)]
struct Scripted {
    script: Vec<&'static str>,
    next: AtomicUsize,
    guards: Semaphore,
    entered: Semaphore,
    pushed: AtomicUsize,
}

#[async_trait]
impl Worker for Scripted {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        let line = self.script.get(self.next.fetch_add(1, Ordering::SeqCst)).copied().unwrap_or("done");
        let newest = handle.read().await?.iter().rev().find_map(|entry| match entry.body {
            EntryBody::Instruction(_) => Some(entry.seq),
            _ => None,
        });
        handle.acknowledge(newest.unwrap_or_default());
        if !line.starts_with("retry") && line != "panic" {
            handle.record(line, serde_json::json!({}));
            handle.sync().await?;
        }
        self.entered.add_permits(1);
        tracing::info!(line, "at work");
        match line {
            "panic" => panic!("as the script says"),
            "retry" => return Err(not_today(None)),
            "retry after 90 s" => return Err(not_today(Some(90))),
            "retry after a day" => return Err(not_today(Some(86_400))),
            "wait" => self.guards.acquire().await.expect("open").forget(),
            "push" => {
                let _effect = handle.begin_effect().await?;
                self.guards.acquire().await.expect("open").forget();
                self.pushed.fetch_add(1, Ordering::SeqCst);
            }
            "step" => {
                self.guards.acquire().await.expect("open").forget();
                handle.check_interrupted()?;
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
    times: Arc<JobTimes>,
}

impl World {
    fn with(script: &[&'static str]) -> Self {
        Self::of(script, EngineConfig { attempts: 3, ..EngineConfig::new("test") })
    }

    fn of(script: &[&'static str], config: EngineConfig) -> Self {
        Self::on(Arc::new(MemoryStore::default()), script, config)
    }

    fn on(store: Arc<dyn Store>, script: &[&'static str], config: EngineConfig) -> Self {
        let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
        let ids = Arc::new(FixedIds::default());
        let jobs = Jobs::new(store, Arc::new(clock.clone()), ids, JobLimits::default());
        let worker = Arc::new(Scripted {
            script: script.to_vec(),
            next: AtomicUsize::new(0),
            guards: Semaphore::new(0),
            entered: Semaphore::new(0),
            pushed: AtomicUsize::new(0),
        });
        let drain = CancellationToken::new();
        let engine = Engine::new(jobs.clone(), Arc::clone(&worker) as Arc<dyn Worker>, config);
        let times = Arc::clone(engine.times());
        let engine = tokio::spawn(engine.run(drain.clone()));
        Self { jobs, worker, clock, drain, engine, times }
    }

    async fn submit(&self, branch: Option<&str>) -> Arc<AgentJob> {
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

    async fn reaches(&self, job: &AgentJob, status: JobStatus) -> Arc<AgentJob> {
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
        uid: ProjectUid::new(FixedIds::default().unguessable()),
        id: ProjectId::parse("acme").expect("a name"),
        domain: Domain::parse("acme").expect("a name"),
        repository: "/repo".to_owned(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: std::collections::BTreeMap::default(),
        settings: ProjectSettings::default(),
        created_at: Timestamp::default(),
    }
}

/// The captured log.
#[derive(Clone, Default)]
struct Log(Arc<parking_lot::Mutex<Vec<u8>>>);

impl Log {
    /// Captures the log of this thread until the guard is dropped.
    fn kept() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::DEBUG)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn line(&self, part: &str) -> String {
        let text = String::from_utf8(self.0.lock().clone()).expect("UTF-8");
        text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no `{part}` in:\n{text}")).to_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn log_lines_of_a_job_have_its_id_as_a_field() {
    let (log, _guard) = Log::kept();
    let world = World::with(&["done"]);
    let job = world.submit(None).await;
    world.reaches(&job, JobStatus::Completed).await;
    for part in ["job claimed", "at work"] {
        let line = log.line(part);
        assert!(line.contains(&format!("attempt{{job={}}}", job.id)), "{line}");
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
    world.worker.guards.add_permits(1);
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
    // The worker still waits at the gate; the engine stops nevertheless.
    world.drain.cancel();
    world.engine.await.expect("drained");
}

/// Ends a job as another process does that removes its project: nothing signals it here.
async fn remove(world: &World, id: JobId) {
    let now = world.clock.now();
    let guards = WriteGuards { now, quota: None, key: None };
    let decide = Arc::new(move |row: &Row| state::remove(row, now));
    world.jobs.store.change(id, guards, decide).await.expect("written");
}

/// Waits until the worker of a job has said that it stopped.
async fn stopped(world: &World, id: JobId) {
    while world.jobs.store.row(id).await.expect("reads").is_some_and(|row| row.lease.is_some()) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_another_process_ends_is_stopped_before_its_lease_is_renewed() {
    let world = World::with(&["wait"]);
    let job = world.submit(None).await;
    world.entered(1).await;
    remove(&world, job.id).await;
    let begun = tokio::time::Instant::now();
    stopped(&world, job.id).await;
    assert!(begun.elapsed() <= Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_has_begun_comes_to_its_end_before_the_worker_says_that_it_stopped() {
    let world = World::with(&["push"]);
    let job = world.submit(None).await;
    world.entered(1).await;
    remove(&world, job.id).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let row = world.jobs.store.row(job.id).await.expect("reads").expect("is there");
    assert!(row.lease.is_some() && world.worker.pushed.load(Ordering::SeqCst) == 0, "it still pushes");
    world.worker.guards.add_permits(1);
    stopped(&world, job.id).await;
    assert_eq!(world.worker.pushed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_ended_is_not_called_lost_because_the_store_answers_late() {
    let (log, _guard) = Log::kept();
    let (store, away_until) = (MemoryStore::default(), tokio::time::Instant::now());
    let store = late_store::LateStore { store, late: Duration::from_secs(15), away_until };
    let world = World::on(Arc::new(store), &["done"], EngineConfig::new("test"));
    let job = world.submit(None).await;
    world.reaches(&job, JobStatus::Completed).await;
    world.drain.cancel();
    world.engine.await.expect("drained");
    assert!(log.line("job ended").contains("completed"));
    assert_eq!(world.times.ended.done.counts().count, 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_store_failed_is_tried_again_soon_after_the_store_is_back() {
    let away = Duration::from_secs(6);
    let begun = tokio::time::Instant::now();
    let store = late_store::LateStore { store: MemoryStore::default(), late: Duration::ZERO, away_until: begun + away };
    let world = World::on(Arc::new(store), &["done", "done"], EngineConfig::new("test"));
    let clock = world.clock.clone();
    // The time of jobs follows that of the runtime.
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            clock.advance(Duration::from_millis(100));
        }
    });
    let job = world.submit(None).await;
    world.reaches(&job, JobStatus::Completed).await;
    let took = begun.elapsed();
    assert!((away..away + Duration::from_secs(8)).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn draining_gives_the_job_back_between_two_steps() {
    let world = World::with(&["step"]);
    let job = world.submit(None).await;
    world.entered(1).await;
    world.drain.cancel();
    world.worker.guards.add_permits(1);
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
    let Some(EntryBody::Retry { not_before, .. }) = entries.last().map(|entry| entry.body.clone()) else { panic!() };
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
    world.jobs.signals.watchers.live(job.id, u64::MAX, &JobEvent::Delta { at: 0, text: "hm".to_owned() });
    world.worker.guards.add_permits(1);
    let (mut kinds, mut live) = (Vec::new(), 0);
    while let Some(news) = watch.next().await.expect("reads") {
        match news {
            JobUpdate::Live(_) => live += 1,
            JobUpdate::Entry(entry) => kinds.push((entry.seq, entry.body)),
        }
    }
    assert_eq!(live, 1);
    assert!(kinds.iter().map(|(seq, _)| *seq).eq(1..=kinds.len() as u64), "no gap: {kinds:?}");
    let last = kinds.last().map(|(_, body)| body);
    assert!(matches!(last, Some(EntryBody::Transition { to: JobStatus::Completed, .. })), "{last:?}");
    // A watcher that reads the end knows that nothing follows.
    let mut all = world.jobs.watch(&job.project, job.id, 0).await.expect("is there");
    let start = tokio::time::Instant::now();
    while all.next().await.expect("reads").is_some() {}
    assert_eq!(start.elapsed(), Duration::ZERO);
    // A watch cannot continue from an entry that was never written.
    assert!(world.jobs.watch(&job.project, job.id, kinds.len() as u64 + 1).await.is_err());
    // After the last entry there is nothing more.
    let mut again = world.jobs.watch(&job.project, job.id, kinds.len() as u64).await.expect("is there");
    assert_eq!(again.next().await.expect("reads"), None);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_hears_of_the_end_and_is_forgotten_when_it_hangs_up() {
    let world = World::with(&["wait"]);
    let job = world.submit(None).await;
    world.entered(1).await;
    let wait = || {
        let (jobs, job) = (world.jobs.clone(), job.clone());
        tokio::spawn(async move { jobs.wait_until_inactive(&job.project, job.id, Duration::from_secs(60)).await })
    };
    let (stays, hangs_up) = (wait(), wait());
    let watched = || world.jobs.signals.watchers.watched();
    while watched() == 0 {
        tokio::task::yield_now().await;
    }
    hangs_up.abort();
    assert!(hangs_up.await.expect_err("it hung up").is_cancelled());
    assert_eq!(watched(), 1, "the other one still waits");
    world.worker.guards.add_permits(1);
    let ended = stays.await.expect("no panic").expect("is there");
    assert_eq!(ended.status, JobStatus::Completed);
    assert_eq!(watched(), 0);
    let mut watch = world.jobs.watch(&job.project, job.id, 0).await.expect("is there");
    assert!(watch.next().await.expect("reads").is_some());
    assert_eq!(watched(), 1);
    drop(watch);
    assert_eq!(watched(), 0);
}

#[tokio::test(start_paused = true)]
async fn two_jobs_never_work_on_one_branch_at_a_time() {
    let world = World::with(&["wait", "wait"]);
    let first = world.submit(Some("docs")).await;
    world.entered(1).await;
    let second = world.submit(Some("docs")).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.worker.entered.available_permits(), 0, "the second waits");
    world.worker.guards.add_permits(1);
    world.reaches(&first, JobStatus::Completed).await;
    world.entered(1).await;
    world.worker.guards.add_permits(1);
    world.reaches(&second, JobStatus::Completed).await;
}

#[tokio::test(start_paused = true)]
async fn free_places_are_filled_at_once_and_no_more_than_there_are() {
    let world = World::of(&["wait"; 9], EngineConfig { workers: 3, ..EngineConfig::new("test") });
    let mut jobs = Vec::new();
    for _ in 0..5 {
        jobs.push(world.submit(None).await);
    }
    world.entered(3).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.worker.entered.available_permits(), 0, "the others wait for a place");
    world.worker.guards.add_permits(5);
    for job in &jobs {
        world.reaches(job, JobStatus::Completed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_project_has_no_more_places_than_it_is_given() {
    let world = World::of(&["wait"; 9], EngineConfig { per_project: 1, ..EngineConfig::new("test") });
    let first = world.submit(None).await;
    let second = world.submit(None).await;
    world.entered(1).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.worker.entered.available_permits(), 0, "the second waits");
    world.worker.guards.add_permits(2);
    world.reaches(&first, JobStatus::Completed).await;
    world.reaches(&second, JobStatus::Completed).await;
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_job_hears_of_its_end_at_once() {
    let world = World::with(&["wait"]);
    let job = world.submit(None).await;
    world.entered(1).await;
    let begun = tokio::time::Instant::now();
    let wait = |seconds| world.jobs.wait_until_inactive(&job.project, job.id, Duration::from_secs(seconds));
    assert_eq!(wait(30).await.expect("is there").status, JobStatus::Active);
    assert_eq!(begun.elapsed(), Duration::from_secs(30), "and not before, when it goes on");
    let waiting = wait(30);
    tokio::pin!(waiting);
    assert!(futures::poll!(&mut waiting).is_pending());
    world.worker.guards.add_permits(1);
    assert_eq!(waiting.await.expect("is there").status, JobStatus::Completed);
    assert!(begun.elapsed() < Duration::from_secs(31));
    let ended = tokio::time::Instant::now();
    assert_eq!(wait(30).await.expect("is there").status, JobStatus::Completed);
    assert_eq!(ended.elapsed(), Duration::ZERO);
    let stranger = ProjectId::parse("other").expect("a name");
    assert!(world.jobs.wait_until_inactive(&stranger, job.id, Duration::from_secs(30)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_job_is_sent_away_when_the_process_goes_down() {
    let world = World::with(&["step"]);
    let job = world.submit(None).await;
    world.entered(1).await;
    let waiting = world.jobs.wait_until_inactive(&job.project, job.id, Duration::from_secs(60));
    tokio::pin!(waiting);
    assert!(futures::poll!(&mut waiting).is_pending());
    let begun = tokio::time::Instant::now();
    world.drain.cancel();
    assert_eq!(waiting.await.expect("is there").status, JobStatus::Active);
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn ended_jobs_are_pruned_after_their_retention() {
    let world = World::with(&["done", "done"]);
    let job = world.submit(None).await;
    world.reaches(&job, JobStatus::Completed).await;
    let day = Duration::from_secs(24 * 3600);
    let keep = Retention { journals: Some(30 * day), jobs: Some(365 * day) };
    world.clock.advance(30 * day);
    assert_eq!(world.jobs.prune(keep).await.expect("prunes").entries, 0);
    world.clock.advance(day);
    assert_eq!(world.jobs.prune(Retention::default()).await.expect("prunes").entries, 0, "kept for ever");
    assert!(world.jobs.prune(keep).await.expect("prunes").entries > 0);
    let known = world.jobs.job(&job.project, job.id).await.expect("is there");
    assert_eq!(known.message.as_deref(), Some("done"));
    let mut watch = world.jobs.watch(&job.project, job.id, 0).await.expect("is there");
    let told = watch.next().await.expect("reads");
    assert!(matches!(told, Some(JobUpdate::Entry(Entry { body: EntryBody::Transition { .. }, .. }))), "{told:?}");
    assert_eq!(watch.next().await.expect("reads"), None);
    world.clock.advance(365 * day);
    assert_eq!(world.jobs.prune(keep).await.expect("prunes").jobs, 1);
    assert!(world.jobs.job(&job.project, job.id).await.is_err());
}
