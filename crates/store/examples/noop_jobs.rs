//! Measures the engine with a worker that has nothing to do: `cargo run --release -p docent-store --example noop_jobs
//! [FOLDER]`.
//!
//! First one job after another, on an engine that is idle: how long after its submission was answered the worker begins.
//! Then many at once: jobs created, worked on and completed a second, each of them durable when it is created and when it
//! is completed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use docent_jobs::{Engine, EngineConfig, EntryBody, Failure, Handle, JobLimits, Jobs, NewJob, Outcome, Worker};
use docent_store::SqliteStore;
use docent_types::{
    Clock, Domain, FixedIds, ForgeKind, Ids, JobId, Message, Project, ProjectId, ProjectSettings, ProjectUid,
    RandomIds, Role, SystemClock,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

const SINGLES: usize = 300;
const SPAN: Duration = Duration::from_secs(4);
const CALLERS: usize = 256;

/// Says which job it begins with, and that it is done.
#[derive(Debug)]
struct Idler(UnboundedSender<(JobId, Instant)>);

#[async_trait]
impl Worker for Idler {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        let _ = self.0.send((handle.job().id, Instant::now()));
        for entry in handle.read().await? {
            if matches!(entry.body, EntryBody::Instruction(_)) {
                handle.acknowledge(entry.seq);
            }
        }
        Ok(Outcome::Completed { message: "Nothing to do.".to_owned() })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    let store = Arc::new(SqliteStore::open(folder.path().join("docent.db"))?);
    let limits = JobLimits { creates_per_hour: u32::MAX, messages_per_hour: u32::MAX };
    let jobs = Jobs::new(Arc::clone(&store) as _, Arc::new(SystemClock), Arc::new(RandomIds), limits);
    let (says, begun) = unbounded_channel();
    let config = EngineConfig { workers: CALLERS, ..EngineConfig::new("noop") };
    let engine = Engine::new(jobs.clone(), Arc::new(Idler(says)), config);
    let drain = CancellationToken::new();
    let running = tokio::spawn(engine.run(drain.clone()));
    singles(&jobs, begun).await?;
    many(&jobs, &store).await?;
    drain.cancel();
    running.await?;
    Ok(())
}

async fn singles(
    jobs: &Jobs,
    mut begun: UnboundedReceiver<(JobId, Instant)>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut waits = Vec::new();
    for _ in 0..SINGLES {
        let id = submit(jobs).await?;
        let answered = Instant::now();
        let (job, at) = begun.recv().await.ok_or("the worker is gone")?;
        assert_eq!(job, id);
        waits.push(at.saturating_duration_since(answered));
        jobs.wait_until_inactive(&project().id, id, Duration::from_secs(10)).await?;
    }
    waits.sort_unstable();
    let wait = |part: usize| waits[(waits.len() - 1) * part / 100].as_secs_f64() * 1000.0;
    println!("an idle worker begins {:.2} ms after the answer at the median, {:.2} ms at p99", wait(50), wait(99));
    Ok(())
}

async fn many(jobs: &Jobs, store: &SqliteStore) -> Result<(), Box<dyn std::error::Error>> {
    let (before, begun) = (store.writes(), Instant::now());
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let jobs = jobs.clone();
            tokio::spawn(async move {
                let mut done = 0_u32;
                while begun.elapsed() < SPAN {
                    let id = submit(&jobs).await?;
                    jobs.wait_until_inactive(&project().id, id, Duration::from_secs(60)).await?;
                    done += 1;
                }
                Ok::<_, docent_types::CallError>(done)
            })
        })
        .collect();
    let mut done = 0;
    for caller in callers {
        done += caller.await??;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let after = store.writes();
    let each = |count: u64| count as f64 / f64::from(done);
    println!(
        "{:.0} jobs a second created and completed by {CALLERS} callers; a job: {:.2} commands, {:.3} commits, {:.3} flushes",
        f64::from(done) / seconds,
        each(after.commands - before.commands),
        each(after.commits - before.commits),
        each(after.flushes - before.flushes)
    );
    Ok(())
}

async fn submit(jobs: &Jobs) -> Result<JobId, docent_types::CallError> {
    let project = project();
    let messages = vec![Message::text(Role::User, "Replace \"colour\" with \"color\"")];
    let new = NewJob { project: &project, messages, branch: None, as_draft: false, model: "none".to_owned() };
    Ok(jobs.submit(new, None).await?.job.id)
}

fn project() -> Project {
    Project {
        uid: ProjectUid::new(FixedIds::default().unguessable()),
        id: ProjectId::parse("acme").expect("a name"),
        domain: Domain::parse("acme").expect("a name"),
        repository: "/srv/git/docs.git".to_owned(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: std::collections::BTreeMap::default(),
        settings: ProjectSettings::default(),
        created_at: SystemClock.now(),
    }
}
