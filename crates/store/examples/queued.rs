//! Measures what a long queue costs: `cargo run --release -p docent-store --example queued [JOBS] [FOLDER]`.
//!
//! Creates jobs, 256 at a time, until so many wait (100,000 unless told), and says how long single creations, claims and
//! readings took at the beginning and at the end, how long opening the database takes, and what memory the process holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_jobs::conformance::sample_job;
use docent_jobs::{ClaimRequest, Instruction, Row, Store, WriteGuards, state};
use docent_store::SqliteStore;
use docent_types::{AgentJob, Clock, Ids, JobId, Message, ProjectId, RandomIds, Role, SystemClock};

const AT_ONCE: u32 = 256;
const SINGLES: u32 = 400;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let jobs = std::env::args().nth(1).map_or(Ok(100_000), |jobs| jobs.parse())?;
    let folder = std::env::args_os().nth(2).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    let path = folder.path().join("docent.db");
    println!("{:>24} {:>12} {:>12}", "", "median ms", "p99 ms");
    let store = Arc::new(SqliteStore::open(&path)?);
    singles(&store, "few wait").await?;
    let begun = Instant::now();
    fill(&store, jobs).await?;
    println!("filled with {jobs} in {:.1} s", begun.elapsed().as_secs_f64());
    singles(&store, "many wait").await?;
    store.close().await?;
    drop(store);
    reopen(&path).await?;
    Ok(())
}

fn say(what: &str, mut waits: Vec<Duration>) {
    waits.sort_unstable();
    let wait = |part: usize| waits.get(waits.len() * part / 100).map_or(0.0, |wait| wait.as_secs_f64() * 1000.0);
    println!("{what:>24} {:>12.3} {:>12.3}", wait(50), wait(99));
}

/// One thing after another, with nobody beside.
async fn singles(store: &Arc<SqliteStore>, when: &str) -> Result<(), Box<dyn std::error::Error>> {
    let (mut creates, mut claims, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..SINGLES {
        let asked = Instant::now();
        let id = create(store, n).await?;
        creates.push(asked.elapsed());
        let asked = Instant::now();
        assert_eq!(claim(store, 1).await?.len(), 1, "one waits");
        claims.push(asked.elapsed());
        let asked = Instant::now();
        store.entries(id, 0, 10).await?;
        reads.push(asked.elapsed());
    }
    say(&format!("create, {when}"), creates);
    say(&format!("claim, {when}"), claims);
    say(&format!("read, {when}"), reads);
    Ok(())
}

async fn fill(store: &Arc<SqliteStore>, jobs: u32) -> Result<(), Box<dyn std::error::Error>> {
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|caller| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                for n in (caller..jobs).step_by(AT_ONCE as usize) {
                    create(&store, n).await?;
                }
                Ok::<_, docent_jobs::WriteError>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

async fn reopen(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let store = SqliteStore::open(path)?;
    store.ready().await?;
    let leased = store.leased().await?.len();
    let first = claim(&store, 8).await?.len();
    println!("opened, {leased} leases looked up and {first} jobs claimed in {:.3} s", begun.elapsed().as_secs_f64());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM")) {
        println!("{line}");
    }
    println!("{:?}", store.sizes().await?);
    Ok(())
}

async fn create(store: &SqliteStore, n: u32) -> Result<JobId, docent_jobs::WriteError> {
    let now = SystemClock.now();
    let id = JobId::new(RandomIds.ordered(now));
    let mut job = AgentJob { id, created_at: now, ..sample_job(n.into()) };
    job.source.branch = format!("docent/{id}");
    job.project = ProjectId::parse(&format!("project-{}", n % 50)).expect("a name");
    let instruction = Instruction::new(vec![Message::text(Role::User, "Replace \"colour\" with \"color\"")]);
    let (row, entries) = state::create(job, instruction);
    store.create(row, entries, WriteGuards { now, quota: None, key: None }).await?;
    Ok(id)
}

async fn claim(store: &SqliteStore, limit: usize) -> Result<Vec<Row>, docent_types::StoreError> {
    let now = SystemClock.now();
    let until = now.plus(Duration::from_secs(30));
    let request = ClaimRequest { now, cap_per_project: usize::MAX, limit };
    store.claim(request, Arc::new(move |row: &Row| state::lease(row, "queued", until))).await
}
