//! Callers: they create jobs, send follow-ups, archive and watch them, and repeat a request that got no answer.

use std::sync::Arc;
use std::time::Duration;

use docent_jobs::{EntryBody, Fingerprint, JobUpdate, Jobs, NewJob, WriteOutcome};
use docent_types::{AgentJob, BranchName, CallError, JobId, Message, Project, RefusalKind, Role};

use crate::model::task;
use crate::node::Running;
use crate::store::short;
use crate::world::World;

/// The answer to a call; `None` when none came.
type Answer<T> = Option<Result<T, CallError>>;

/// One caller with one job.
pub(crate) async fn calls(world: Arc<World>) {
    waits(&world, world.plan.window / 2).await;
    let project = { world.projects[world.chance().place(world.projects.len())].clone() };
    let Some(job) = creates(&world, &project).await else { return };
    if world.chance().happens(0.7) {
        tokio::spawn(watches(Arc::clone(&world), project.clone(), job.id));
    }
    let instructions = world.chance().within(0..=2);
    for _ in 0..instructions {
        waits(&world, world.plan.window / 3).await;
        speaks_up(&world, &project, job.id).await;
    }
    if world.chance().happens(0.15) {
        waits(&world, world.plan.window / 3).await;
        archives(&world, &project, job.id).await;
    }
}

/// Waits for a random time up to this long.
async fn waits(world: &World, most: Duration) {
    let pause = world.chance().millis(0..=u64::try_from(most.as_millis()).unwrap_or(0));
    tokio::time::sleep(pause).await;
}

/// A running process, chosen at random; `None` when there is none.
fn somebody(world: &World) -> Option<Arc<Running>> {
    let living: Vec<Arc<Running>> = world.processes().iter().flatten().map(Arc::clone).collect();
    if living.is_empty() { None } else { Some(Arc::clone(&living[world.chance().place(living.len())])) }
}

/// One request to one process, which may be killed during it.
async fn requests<T, F>(world: &World, request: impl FnOnce(Jobs) -> F) -> Answer<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, CallError>> + Send + 'static,
{
    let running = somebody(world)?;
    let mut answer = tokio::spawn(request(running.jobs.clone()));
    tokio::select! {
        biased;
        () = running.process.dead.cancelled() => {
            answer.abort();
            None
        }
        answer = &mut answer => answer.ok(),
    }
}

/// A new, unique instruction for this model.
fn instruction(world: &World, model: &str) -> String {
    let number = {
        let mut ledger = world.ledger();
        ledger.tasks += 1;
        ledger.tasks
    };
    match model {
        "builtin" => format!("Add a page guide-{number}.md titled \"Guide {number}\""),
        _ => task(number, world.chance().within(1..=3)),
    }
}

async fn creates(world: &Arc<World>, project: &Project) -> Option<Arc<AgentJob>> {
    let model = if world.chance().happens(0.75) { "sonnet" } else { "builtin" };
    let asked = instruction(world, model);
    let branch = {
        let shared = world.chance().happens(0.4);
        let number = world.chance().place(2);
        shared.then(|| BranchName::parse(&format!("shared-{number}")).expect("a name"))
    };
    let is_keyed = world.chance().happens(0.7);
    loop {
        let key = is_keyed.then(|| fingerprint(&asked));
        let (project, branch, text, model) = (project.clone(), branch.clone(), asked.clone(), model.to_owned());
        let answer: Answer<WriteOutcome> = requests(world, move |jobs| async move {
            let messages = vec![Message::text(Role::User, &text)];
            let new = NewJob { project: &project, messages, branch, as_draft: false, model };
            jobs.submit(new, key).await
        })
        .await;
        match answer {
            Some(Ok(written)) => {
                world.note(format_args!("job {} is accepted: {asked}", short(written.job.id)));
                world.ledger().accepted.insert(written.job.id, asked);
                return Some(written.job);
            }
            Some(Err(CallError::Refused(refusal))) if matches!(refusal.kind, RefusalKind::Limited(_)) => {
                world.count("caller is limited");
                return None;
            }
            Some(Err(CallError::Refused(refusal))) => {
                world.violated(format_args!("a creation was refused: {refusal}"));
                return None;
            }
            // Without an idempotency key it is unknown whether the job was created.
            Some(Err(CallError::Store(_))) | None if !is_keyed => return None,
            Some(Err(CallError::Store(_))) | None => waits(world, Duration::from_secs(4)).await,
        }
    }
}

fn fingerprint(text: &str) -> Fingerprint {
    let mut digest = [0; 32];
    let length = text.len().min(32);
    digest[..length].copy_from_slice(&text.as_bytes()[text.len() - length..]);
    Fingerprint { key: text.to_owned(), digest }
}

async fn speaks_up(world: &Arc<World>, project: &Project, id: JobId) {
    let model = world.disk.rows().iter().find(|row| row.id() == id).map(|row| row.job.model.clone());
    let asked = instruction(world, model.as_deref().unwrap_or_default());
    loop {
        let (of, text) = (project.id.clone(), asked.clone());
        let answer: Answer<WriteOutcome> = requests(world, move |jobs| async move {
            let messages = vec![Message::text(Role::User, &text)];
            jobs.follow_up(&of, id, messages, Some(fingerprint(&text))).await
        })
        .await;
        match answer {
            Some(Ok(_)) => {
                world.note(format_args!("job {} gets a follow-up: {asked}", short(id)));
                return world.ledger().instructed.push((id, asked));
            }
            Some(Err(CallError::Refused(refusal))) => {
                return world.violated(format_args!("a message to {} was refused: {refusal}", short(id)));
            }
            Some(Err(CallError::Store(_))) | None => waits(world, Duration::from_secs(4)).await,
        }
    }
}

async fn archives(world: &Arc<World>, project: &Project, id: JobId) {
    loop {
        let of = project.id.clone();
        let answer: Answer<Arc<AgentJob>> =
            requests(world, move |jobs| async move { jobs.archive(&of, id).await }).await;
        match answer {
            Some(Ok(_)) => {
                world.note(format_args!("job {} is archived", short(id)));
                world.ledger().archived.insert(id);
                return;
            }
            Some(Err(CallError::Refused(refusal))) => {
                return world.violated(format_args!("archiving {} was refused: {refusal}", short(id)));
            }
            Some(Err(CallError::Store(_))) | None => waits(world, Duration::from_secs(4)).await,
        }
    }
}

/// Reads the events of a job to its end, and continues at the same event when the process that sends them dies.
async fn watches(world: Arc<World>, project: Project, id: JobId) {
    let mut after = 0;
    loop {
        let watched = watch_once(&world, &project, id, &mut after).await;
        if watched == Watched::All {
            return;
        }
        waits(&world, Duration::from_secs(3)).await;
    }
}

#[derive(PartialEq)]
enum Watched {
    All,
    Part,
}

async fn watch_once(world: &Arc<World>, project: &Project, id: JobId, after: &mut u64) -> Watched {
    let Some(running) = somebody(world) else { return Watched::Part };
    let from = *after;
    let watching = async {
        let mut watch = match running.jobs.watch(&project.id, id, from).await {
            Ok(watch) => watch,
            Err(CallError::Store(_)) => return Watched::Part,
            Err(CallError::Refused(refusal)) => {
                world.violated(format_args!("watching {} after {from} was refused: {refusal}", short(id)));
                return Watched::All;
            }
        };
        let mut last = from;
        loop {
            match watch.next().await {
                Ok(Some(JobUpdate::Entry(entry))) => {
                    if entry.seq != last + 1 {
                        world.violated(format_args!("a watcher of {} received {} after {last}", short(id), entry.seq));
                    }
                    last = entry.seq;
                    // The holder of the lease is not sent to watchers, and may be written again after a power failure.
                    if !matches!(entry.body, EntryBody::Leased { .. }) {
                        *after = entry.seq;
                        world.ledger().told.entry(id).or_default().insert(entry.seq, entry.body);
                    }
                }
                Ok(Some(JobUpdate::Live(_))) => {}
                Ok(None) => return Watched::All,
                Err(_) => return Watched::Part,
            }
        }
    };
    tokio::select! {
        biased;
        () = running.process.dead.cancelled() => Watched::Part,
        watched = watching => watched,
    }
}
