//! Fills a database with jobs, pull requests and conversations of a project, to look at or to measure: `cargo run --release -p
//! docent-store --example seed DATABASE PROJECT [JOBS] [CONVERSATIONS]`. The project's domain is its id.
//!
//! They are spread over the 30 days until now, 10,000 jobs and 100,000 conversations unless told. Jobs are done, but for one
//! of ten that failed; one of five has a pull request, without a branch. Each day has as many different searches as are counted.
//! No server may run on the database meanwhile.

use std::sync::Arc;

use docent_assistant::{MOST_TERMS_A_DAY, Search, Searches};
use docent_forge::{NewPullRecord, PullRequestSpec, PullRequests, PullState};
use docent_jobs::conformance::sample_job;
use docent_jobs::{Instruction, JobProgress, Outcome, Row, Store, WriteGuards, state};
use docent_store::SqliteStore;
use docent_types::{
    AgentJob, Clock, Domain, Halt, Ids, JobId, Message, ProjectId, RandomIds, Role, StoreError, SystemClock, Timestamp,
};

use made_up::MONTH;

mod made_up;

const AT_ONCE: u32 = 256;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, project, counts @ ..] = arguments.as_slice() else {
        return Err("name a database and a project".into());
    };
    let count = |at: usize, usual: u32| counts.get(at).map_or(Ok(usual), |count: &String| count.parse());
    let (jobs, conversations) = (count(0, 10_000)?, count(1, 100_000)?);
    let store = Arc::new(SqliteStore::open(database)?);
    let start = SystemClock.now().millis() - MONTH;
    let (project, domain) = (ProjectId::parse(project)?, Domain::parse(project)?);
    for first in (0..jobs).step_by(AT_ONCE as usize) {
        let mut writers = tokio::task::JoinSet::new();
        for n in first..jobs.min(first + AT_ONCE) {
            let created_at = Timestamp::from_millis(start + i64::from(n) * (MONTH / i64::from(jobs)));
            let id = JobId::new(RandomIds.ordered(created_at));
            let mut made = AgentJob { id, created_at, ..sample_job(n.into()) };
            (made.project, made.domain) = (project.clone(), domain.clone());
            made.source.branch = format!("docent/{id}");
            let store = Arc::clone(&store);
            writers.spawn(async move {
                if n.is_multiple_of(5) {
                    pull_request(&store, &made, n).await?;
                }
                job(&store, made, n).await?;
                Ok::<_, Failure>(())
            });
        }
        while let Some(written) = writers.join_next().await {
            written??;
        }
    }
    made_up::conversations(&store, &domain, conversations, start).await?;
    searches(&store, &domain, start).await?;
    store.close().await?;
    println!("{jobs} jobs and {conversations} conversations");
    Ok(())
}

async fn searches(store: &SqliteStore, domain: &Domain, start: i64) -> Result<(), StoreError> {
    for day in 0..30 {
        let at = Timestamp::from_millis(start + day * (MONTH / 30));
        let term = |n: u64| format!("how to configure topic {}", n + MOST_TERMS_A_DAY / 10 * day.unsigned_abs());
        let search = |n: u64| Search { domain: domain.clone(), term: term(n), at, has_results: !n.is_multiple_of(10) };
        store.count((0..MOST_TERMS_A_DAY).map(search).collect()).await?;
    }
    Ok(())
}

/// One of four is open, and of the others one of eight was closed without merging.
async fn pull_request(store: &SqliteStore, job: &AgentJob, n: u32) -> Result<(), StoreError> {
    let request = PullRequestSpec {
        title: format!("Replace \"widget {n}\" with \"gadget {n}\""),
        body: format!("> Replace \"widget {n}\" with \"gadget {n}\"\n\nChanged {} pages.\n", n % 7 + 1),
        head: job.source.branch.clone(),
        base: "main".to_owned(),
        draft: job.as_draft,
        labels: Vec::new(),
    };
    let new = NewPullRecord {
        id: RandomIds.unguessable(),
        project: job.project.clone(),
        request,
        created_at: job.created_at,
    };
    let opened = store.open(new).await?;
    if !n.is_multiple_of(20) {
        let state = if n.is_multiple_of(8) { PullState::Closed } else { PullState::Merged };
        let later = job.created_at.plus(std::time::Duration::from_secs(3_600));
        store.end(&opened.project, opened.id, state, None, later).await?;
    }
    Ok(())
}

/// Writes a job as the engine does: created, leased, and ended.
async fn job(store: &SqliteStore, job: AgentJob, n: u32) -> Result<(), docent_jobs::WriteError> {
    let (id, now) = (job.id, job.created_at);
    let guards = || WriteGuards { now, quota: None, key: None };
    let text = format!("Replace \"widget {n}\" with \"gadget {n}\" on the pages about topic {}", n % 100);
    let (row, entries) = state::create(job, Instruction::new(vec![Message::text(Role::User, text)]));
    store.create(row, entries, guards()).await?;
    let until = now.plus(std::time::Duration::from_secs(60));
    store.change(id, guards(), Arc::new(move |row: &Row| state::lease(row, "seed", until))).await?;
    let outcome = if n.is_multiple_of(10) {
        Outcome::Failed { halt: Halt::Error, message: "Nothing on these pages says so.".to_owned() }
    } else {
        Outcome::Completed { message: format!("Changed {} pages.", n % 7 + 1) }
    };
    let end =
        move |row: &Row| state::finish(row, row.last_token, row.last_seq, &outcome, Vec::new(), JobProgress::default());
    store.change(id, guards(), Arc::new(end)).await?;
    Ok(())
}
