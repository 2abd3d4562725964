//! A node on PostgreSQL, which creates jobs of many projects, or works on them.
//!
//! ```text
//! node URL prepare                          creates the tables
//! node URL create CLIENTS SECONDS           creates jobs, each durable before the next of the same client
//! node URL fill JOBS                        creates jobs that wait
//! node URL work                             works on them until none is left
//! node URL journal RATE STREAMS SECONDS     writes entries at this rate, while another node streams as many jobs
//! ```
//!
//! Each prints one line of JSON and ends.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use docent_jobs::{Engine, EngineConfig, EntryBody, Failure, Handle, JobLimits, JobUpdate, Jobs, Outcome, Worker};
use docent_store_postgres::PostgresStore;
use docent_types::{Clock, JobId, Project, RandomIds};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::noop::{Noop, read_instruction};
use crate::{BoxError, MANY, NAME, PROMPT, WORKERS, is_busy, percentile, submit};

/// Projects whose jobs are created in turn.
const PROJECTS: u64 = 64;
/// What `docent serve` uses by default.
const CONNECTIONS: usize = 16;
/// Creates do not count for so long.
const WARM: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

pub(crate) async fn run(url: &str, what: &[&str]) -> Result<(), BoxError> {
    let node = Arc::new(Node::open(url).await?);
    let said = match *what {
        ["prepare"] => json!({}),
        ["create", clients, seconds] => node.create(clients.parse()?, seconds.parse()?).await?,
        ["fill", jobs] => node.fill(jobs.parse()?).await?,
        ["work"] => node.work().await?,
        ["journal", rate, streams, seconds] => {
            let other = Node::open(url).await?;
            journal(&node, &other, rate.parse()?, streams.parse()?, seconds.parse()?).await?
        }
        _ => return Err("usage: engine_host node URL prepare | create … | fill … | work | journal …".into()),
    };
    println!("{said}");
    node.store.close().await?;
    Ok(())
}

struct Node {
    store: Arc<PostgresStore>,
    jobs: Jobs,
    projects: Vec<Project>,
    submitted: AtomicU64,
}

impl Node {
    async fn open(url: &str) -> Result<Self, BoxError> {
        let store = Arc::new(PostgresStore::connect(url, CONNECTIONS).await?);
        let clock: Arc<dyn Clock> = Arc::new(store.clock());
        let now = clock.now();
        let projects = (0..PROJECTS).map(|n| crate::project(&format!("{NAME}-{n}"), Path::new("/srv"), now));
        let limits = JobLimits { creates_per_hour: MANY, messages_per_hour: MANY };
        let jobs = Jobs::new(Arc::clone(&store) as _, clock, Arc::new(RandomIds), limits);
        let following = jobs.clone();
        tokio::spawn(async move { following.follow_other_processes().await });
        Ok(Self { store, jobs, projects: projects.collect::<Result<_, _>>()?, submitted: AtomicU64::new(0) })
    }

    fn next_project(&self) -> &Project {
        &self.projects[(self.submitted.fetch_add(1, Ordering::Relaxed) % PROJECTS) as usize]
    }

    fn start(&self, worker: impl Worker, workers: usize) {
        let holder = format!("{NAME}-{}", std::process::id());
        let config = EngineConfig { workers, per_project: workers, ..EngineConfig::new(holder) };
        tokio::spawn(Engine::new(self.jobs.clone(), Arc::new(worker), config).run(CancellationToken::new()));
    }

    async fn create(self: &Arc<Self>, clients: usize, seconds: u64) -> Result<Value, BoxError> {
        let began = Instant::now() + WARM;
        let end = began + Duration::from_secs(seconds);
        let mut creating = JoinSet::new();
        for _ in 0..clients {
            let node = Arc::clone(self);
            creating.spawn(async move {
                let mut took = Vec::new();
                loop {
                    let asked = Instant::now();
                    if asked >= end {
                        return Ok::<_, BoxError>(took);
                    }
                    submit(&node.jobs, node.next_project()).await?;
                    if asked >= began {
                        took.push(asked.elapsed());
                    }
                }
            });
        }
        let mut took = Vec::new();
        while let Some(of_one) = creating.join_next().await.transpose()?.transpose()? {
            took.extend(of_one);
        }
        let (jobs, p50, p99) = (took.len(), percentile(&mut took, 0.5), percentile(&mut took, 0.99));
        Ok(json!({ "jobs": jobs, "seconds": seconds, "p50": p50, "p99": p99 }))
    }

    async fn fill(self: &Arc<Self>, jobs: u64) -> Result<Value, BoxError> {
        let mut creating = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let node = Arc::clone(self);
            creating.spawn(async move {
                while node.submitted.load(Ordering::Relaxed) < jobs {
                    submit(&node.jobs, node.next_project()).await?;
                }
                Ok::<_, BoxError>(())
            });
        }
        while creating.join_next().await.transpose()?.transpose()?.is_some() {}
        Ok(json!({ "jobs": self.submitted.load(Ordering::Relaxed) }))
    }

    async fn work(&self) -> Result<Value, BoxError> {
        let began = self.jobs_clock();
        self.start(Noop::default(), WORKERS);
        for project in &self.projects {
            while is_busy(&self.jobs, project).await? {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
        Ok(json!({ "began": began, "ended": self.jobs_clock() }))
    }

    /// Milliseconds since the epoch, which compare with those of other nodes.
    fn jobs_clock(&self) -> i64 {
        self.store.clock().now().millis()
    }
}

/// Writes an entry to its job at each tick.
#[derive(Debug)]
struct Paced {
    interval: Duration,
    end: Instant,
    took: Arc<Mutex<Vec<Duration>>>,
}

#[async_trait]
impl Worker for Paced {
    async fn work(&self, handle: &mut Handle) -> Result<Outcome, Failure> {
        read_instruction(handle).await?;
        let mut ticks = tokio::time::interval(self.interval);
        while Instant::now() < self.end {
            ticks.tick().await;
            handle.record("step", json!({ "text": PROMPT.repeat(10) }));
            let asked = Instant::now();
            handle.sync().await?;
            self.took.lock().push(asked.elapsed());
        }
        Ok(Outcome::Completed { message: String::new() })
    }
}

async fn journal(
    writer: &Arc<Node>,
    reader: &Node,
    rate: f64,
    streams: usize,
    seconds: u64,
) -> Result<Value, BoxError> {
    let mut reading = JoinSet::new();
    for _ in 0..streams {
        let project = writer.next_project();
        let id = submit(&writer.jobs, project).await?;
        let watch = reader.jobs.watch(&project.id, id, 0).await?;
        reading.spawn(streamed(watch, id));
    }
    let (took, began) = (Arc::<Mutex<Vec<Duration>>>::default(), Instant::now());
    let (interval, end) = (Duration::from_secs_f64(streams as f64 / rate), began + Duration::from_secs(seconds));
    writer.start(Paced { interval, end, took: Arc::clone(&took) }, streams);
    let mut shown = 0;
    while let Some(entries) = reading.join_next().await.transpose()?.transpose()? {
        shown += entries;
    }
    let mut took = std::mem::take(&mut *took.lock());
    let (entries, p50, p99) = (took.len(), percentile(&mut took, 0.5), percentile(&mut took, 0.99));
    Ok(json!({ "entries": entries, "seconds": seconds, "p50": p50, "p99": p99, "streamed": shown }))
}

/// The steps that a stream shows until its job ends.
async fn streamed(mut watch: docent_jobs::Watch, id: JobId) -> Result<usize, BoxError> {
    let mut steps = 0;
    while let Some(update) = watch.next().await? {
        let JobUpdate::Entry(entry) = update else { continue };
        steps += usize::from(matches!(entry.body, EntryBody::Work { .. }));
    }
    if steps == 0 { Err(format!("job {id} showed nothing").into()) } else { Ok(steps) }
}
