//! The job engine in a program of its own, with a worker that has nothing to do: what `cargo xtask bench engine` measures of
//! the engine alone. The api, admission, the store and the engine are Docent's; every job is durable.
//!
//! ```sh
//! cargo run --release -p docent-examples --example engine_host -- serve           # jobs over HTTP, ended as they come
//! cargo run --release -p docent-examples --example engine_host -- accept          # jobs over HTTP that nobody works on
//! cargo run --release -p docent-examples --example engine_host -- drain 10000     # jobs that wait already, until all are done
//! cargo run --release -p docent-examples --example engine_host -- pickup 200      # one at a time, for an idle worker
//! cargo run --release -p docent-examples --example engine_host -- bare            # hyper alone: the floor
//! cargo run --release -p docent-examples --example engine_host -- node URL …      # on PostgreSQL: node.rs
//! ```
//!
//! `serve` and `accept` print the path for jobs, a key, and `listening on http://ADDR`; `bare` only the last; they serve until
//! they are killed. `GET /counts` tells how many jobs there are of each status once none is active, and that some are until
//! then. `drain` and `pickup` print one line of JSON and end.

mod bare;
mod node;
mod noop;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_access::{Access, Grant, KeyKind, Keys, Projects, mint, system_randomness};
use docent_assistant::{Assistant, SearchLog};
use docent_builtin::Builtin;
use docent_discovery::{Answering, Replies};
use docent_http_v2::Api;
use docent_jobs::{Engine, EngineConfig, JobLimits, JobQuery, Jobs, ModelNames, NewJob};
use docent_search::Indexes;
use docent_store::SqliteStore;
use docent_types::{
    Clock, Domain, ForgeKind, Ids, JobId, JobStatus, Message, Project, ProjectId, ProjectSettings, ProjectUid,
    RandomIds, Role, SystemClock, Timestamp,
};
use docent_web::{Handler, Request, Response, ServerLimits, respond};
use http::StatusCode;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::noop::{Begun, Noop};

type BoxError = Box<dyn Error + Send + Sync>;

const NAME: &str = "bench";
const PROMPT: &str = "Replace \"alpha\" with \"beta\" in guides/page.md";
/// Jobs run at the same time.
const WORKERS: usize = 64;
/// Jobs submitted at the same time, where it is not the submitting that is measured.
const SUBMITTERS: usize = 256;
/// Jobs that do not count yet.
const WARM: usize = 10;
/// More jobs than anybody creates.
const MANY: u32 = 1_000_000_000;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let folder = tempfile::tempdir()?;
    match arguments[..] {
        ["bare"] => bare::serve(listening(&[]).await?).await,
        ["serve"] => {
            let service = Service::open(folder.path()).await?;
            service.start(Noop::default());
            serve(service).await
        }
        ["accept"] => serve(Service::open(folder.path()).await?).await,
        ["drain", jobs] => drain(Service::open(folder.path()).await?, jobs.parse()?).await,
        ["pickup", jobs] => pickup(Service::open(folder.path()).await?, jobs.parse()?).await,
        ["node", url, ref what @ ..] => node::run(url, what).await,
        _ => Err("usage: engine_host serve | accept | drain JOBS | pickup JOBS | bare | node URL …".into()),
    }
}

/// Listens on a free port, and says so after this.
async fn listening(said: &[String]) -> Result<TcpListener, BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    for line in said {
        println!("{line}");
    }
    println!("listening on http://{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    Ok(listener)
}

/// Store, engine and api, with one project.
struct Service {
    store: Arc<SqliteStore>,
    jobs: Jobs,
    project: Project,
    api: Api,
    key: String,
}

impl Service {
    async fn open(folder: &Path) -> Result<Self, BoxError> {
        let store = Arc::new(SqliteStore::open(folder.join("docent.db"))?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn Ids> = Arc::new(RandomIds);
        let project = project(NAME, folder, clock.now())?;
        store.add(project.clone()).await?;
        let now = clock.now();
        let (key, record) = mint(Grant::new(KeyKind::Admin, project.id.clone(), now), now, system_randomness)?;
        store.insert(record).await?;

        let access = Access::new(Arc::clone(&store) as _, Arc::clone(&store) as _, Arc::clone(&clock));
        let limits = JobLimits { creates_per_hour: MANY, messages_per_hour: MANY };
        let jobs = Jobs::new(Arc::clone(&store) as _, Arc::clone(&clock), Arc::clone(&ids), limits);
        let searches = SearchLog::new(Arc::clone(&store) as _, Arc::clone(&clock));
        let assistant = Arc::new(Assistant::new(Arc::new(Builtin), Arc::clone(&store) as _, Arc::clone(&clock), ids));
        let docs = Arc::new(Indexes::new(folder.join("index")));
        let api = Api {
            access,
            jobs: jobs.clone(),
            models: ModelNames { offered: vec![NAME.to_owned()], default: NAME.to_owned() },
            answering: Answering { assistant, docs, replies: Replies::default(), searches },
            events_of: |_| Vec::new(),
            clock: Arc::clone(&clock),
        };
        Ok(Self { store, jobs, project, api, key: key.expose().to_owned() })
    }

    fn start(&self, worker: Noop) {
        let config = EngineConfig { workers: WORKERS, per_project: WORKERS, ..EngineConfig::new("bench") };
        tokio::spawn(Engine::new(self.jobs.clone(), Arc::new(worker), config).run(CancellationToken::new()));
    }

    async fn submit(&self) -> Result<(), BoxError> {
        submit(&self.jobs, &self.project).await.map(drop)
    }

    async fn is_busy(&self) -> Result<bool, BoxError> {
        is_busy(&self.jobs, &self.project).await
    }

    /// How many jobs there are of each status; while some are active, only that.
    async fn counts(&self) -> Result<BTreeMap<&'static str, u64>, BoxError> {
        if self.is_busy().await? {
            return Ok(BTreeMap::from([(JobStatus::Active.as_str(), 1)]));
        }
        let counts = self.store.jobs_by_status().await?;
        Ok(counts.into_iter().map(|(status, count)| (status.as_str(), count)).collect())
    }
}

fn project(name: &str, folder: &Path, created_at: Timestamp) -> Result<Project, BoxError> {
    Ok(Project {
        uid: ProjectUid::new(RandomIds.unguessable()),
        id: ProjectId::parse(name)?,
        domain: Domain::parse(name)?,
        repository: folder.join("docs.git").display().to_string(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at,
    })
}

async fn submit(jobs: &Jobs, project: &Project) -> Result<JobId, BoxError> {
    let new = NewJob {
        project,
        messages: vec![Message::text(Role::User, PROMPT)],
        branch: None,
        as_draft: false,
        model: NAME.to_owned(),
    };
    Ok(jobs.submit(new, None).await?.job.id)
}

/// Whether some job of a project has not ended. Asked again and again, so it looks at one job and does not count.
async fn is_busy(jobs: &Jobs, project: &Project) -> Result<bool, BoxError> {
    let (project, status) = (project.id.clone(), Some(JobStatus::Active));
    let query = JobQuery { project, status, after: None, skip: 0, limit: 1 };
    Ok(!jobs.list(query).await?.is_empty())
}

/// A percentile in milliseconds.
fn percentile(times: &mut [Duration], share: f64) -> Option<f64> {
    times.sort_unstable();
    let place = (share * times.len() as f64) as usize;
    times.get(place.min(times.len().saturating_sub(1))).map(|time| time.as_secs_f64() * 1e3)
}

async fn serve(service: Service) -> Result<(), BoxError> {
    let said = [format!("path: /v2/agent/{NAME}/job"), format!("key: {}", service.key)];
    let listener = listening(&said).await?;
    let limits = ServerLimits { connections: MANY as usize, ..ServerLimits::default() };
    docent_web::serve(listener, Counting(service), limits, Arc::new(RandomIds), std::future::pending()).await;
    Ok(())
}

/// The api, with the counts beside it.
struct Counting(Service);

impl Handler for Counting {
    async fn handle(&self, request: Request) -> Response {
        if request.path() != "/counts" {
            return self.0.api.handle(request).await;
        }
        match self.0.counts().await {
            Ok(counts) => respond::json(StatusCode::OK, &counts),
            Err(error) => respond::json(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}

async fn drain(service: Service, jobs: usize) -> Result<(), BoxError> {
    let service = Arc::new(service);
    let mut submitting = JoinSet::new();
    for _ in 0..jobs {
        if submitting.len() >= SUBMITTERS {
            submitting.join_next().await.transpose()?.transpose()?;
        }
        let service = Arc::clone(&service);
        submitting.spawn(async move { service.submit().await });
    }
    while submitting.join_next().await.transpose()?.transpose()?.is_some() {}
    let before = service.store.writes();
    let began = Instant::now();
    service.start(Noop::default());
    while service.is_busy().await? {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (seconds, after) = (began.elapsed().as_secs_f64(), service.store.writes());
    println!("{}", json!({ "jobs": jobs, "seconds": seconds, "commits": after.commits - before.commits }));
    service.store.close().await?;
    Ok(())
}

async fn pickup(service: Service, jobs: usize) -> Result<(), BoxError> {
    let (worker, mut begun) = Begun::pair();
    service.start(worker);
    let (mut asked, mut accepted) = (Vec::new(), Vec::new());
    for n in 0..jobs + WARM {
        let before = Instant::now();
        service.submit().await?;
        let answered = Instant::now();
        let at = begun.next().await.ok_or("the worker is gone")?;
        if n >= WARM {
            asked.push(at.saturating_duration_since(before));
            accepted.push(at.saturating_duration_since(answered));
        }
        // Until it is idle again.
        while service.is_busy().await? {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    println!(
        "{}",
        json!({
            "jobs": jobs,
            "asked_p50": percentile(&mut asked, 0.5),
            "accepted_p50": percentile(&mut accepted, 0.5),
            "accepted_p99": percentile(&mut accepted, 0.99),
        })
    );
    service.store.close().await?;
    Ok(())
}
