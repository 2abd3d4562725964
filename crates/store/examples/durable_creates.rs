//! Measures durable creations of jobs a second: `cargo run --release -p docent-store --example durable_creates [FOLDER]`.
//!
//! Each creation is a row, two journal entries, a counted quota and an idempotency key in one transaction that survives
//! the loss of power. The folder decides which disk is measured; it is the system's temporary one unless named.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_jobs::conformance::sample_job;
use docent_jobs::{IdempotencyKey, Instruction, Store, WriteGuards, state};
use docent_store::SqliteStore;
use docent_types::{AgentJob, Clock, Ids, JobId, Message, Quota, RandomIds, Role, SystemClock};

const SPAN: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    println!("{:>10} {:>12} {:>12} {:>12} {:>12}", "callers", "creates/s", "commits/s", "median ms", "p99 ms");
    for callers in [1, 16, 256] {
        let folder = tempfile::tempdir_in(&folder)?;
        let store = Arc::new(SqliteStore::open(folder.path().join("docent.db"))?);
        let begun = Instant::now();
        let tasks: Vec<_> =
            (0..callers).map(|caller| tokio::spawn(create(Arc::clone(&store), caller, begun))).collect();
        let mut waits = Vec::new();
        for task in tasks {
            waits.extend(task.await??);
        }
        let seconds = begun.elapsed().as_secs_f64();
        waits.sort_unstable();
        let wait = |part: usize| waits.get(waits.len() * part / 100).map_or(0.0, |wait| wait.as_secs_f64() * 1000.0);
        let (creates, commits) = (waits.len() as f64 / seconds, store.writes().commits as f64 / seconds);
        println!("{callers:>10} {creates:>12.0} {commits:>12.0} {:>12.2} {:>12.2}", wait(50), wait(99));
        store.close().await?;
    }
    Ok(())
}

/// One caller: creates jobs one after another and says how long each took.
async fn create(
    store: Arc<SqliteStore>,
    caller: u128,
    begun: Instant,
) -> Result<Vec<Duration>, docent_jobs::WriteError> {
    let mut waits = Vec::new();
    while begun.elapsed() < SPAN {
        let now = SystemClock.now();
        let id = JobId::new(RandomIds.ordered(now));
        let instruction = Instruction::new(vec![Message::text(Role::User, "Replace \"colour\" with \"color\"")]);
        let (row, entries) = state::create(AgentJob { id, ..sample_job(caller) }, instruction);
        let bucket = format!("agent-jobs:p{}", caller % 100);
        let quota = Quota { bucket, limit: 1_000_000, window: Duration::from_secs(3600) };
        let scope = quota.bucket.clone();
        let key = IdempotencyKey { scope, key: id.to_string(), fingerprint: [7; 32], keep: Duration::from_secs(60) };
        let guards = WriteGuards { now, quota: Some(quota), key: Some(key) };
        let asked = Instant::now();
        store.create(row, entries, guards).await?;
        waits.push(asked.elapsed());
    }
    Ok(waits)
}
