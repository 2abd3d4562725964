//! The assistant in a program of its own, with a model that speaks at a pace: what `cargo xtask bench stream` measures when
//! no model server is to be in between. Everything from the question to the stream is Docent's: the api, admission, search,
//! the thread that is kept.
//!
//! ```sh
//! cargo run --release -p docent-examples --example stream_host -- docent 200 50  # 200 deltas, one every 50 ms
//! cargo run --release -p docent-examples --example stream_host -- bare 200 50    # the same frames from hyper alone
//! ```
//!
//! It prints the path to ask, a key, and `listening on http://ADDR`; then it serves until it is killed.

mod bare;
mod paced;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use docent_access::{Access, AssistantLimits, Grant, KeyKind, Keys, Projects, mint, system_randomness};
use docent_assistant::{Assistant, SearchLog};
use docent_authoring::Repositories;
use docent_discovery::{Answering, Replies};
use docent_http_v2::Api;
use docent_jobs::{JobLimits, Jobs, ModelNames};
use docent_search::Indexes;
use docent_store::SqliteStore;
use docent_types::{
    Clock, Domain, ForgeKind, Ids, Project, ProjectId, ProjectSettings, ProjectUid, RandomIds, SystemClock,
};
use docent_web::ServerLimits;
use docent_workspace::{CommitMeta, Mirrors, create_repository};
use tokio::net::TcpListener;

use crate::paced::Paced;

type BoxError = Box<dyn Error + Send + Sync>;

const NAME: &str = "paced";
/// What the pages are about: the question that is asked finds a passage of each.
const TOPICS: [&str; 5] = ["webhooks", "queues", "callbacks", "mails", "exports"];
/// A page's section is as long as sections are.
const SENTENCES: usize = 12;
/// As in the server, so that what is measured is what it costs there.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// More readers than anybody brings.
const MANY: u32 = 10_000_000;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, deltas, every] = &arguments[..] else {
        return Err("usage: stream_host docent|bare DELTAS EVERY_MS".into());
    };
    let pace = Paced { deltas: deltas.parse()?, every: Duration::from_millis(every.parse()?) };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    if kind == "bare" {
        println!("listening on http://{address}");
        return bare::serve(listener, pace).await;
    }
    let folder = tempfile::tempdir()?;
    let (api, key) = docent(folder.path(), pace).await?;
    println!("path: /discovery/v2/assistant/{NAME}/message\nkey: {key}\nlistening on http://{address}");
    std::io::stdout().flush()?;
    let limits = ServerLimits { connections: MANY as usize, ..ServerLimits::default() };
    docent_web::serve(listener, api, limits, Arc::new(RandomIds), std::future::pending()).await;
    Ok(())
}

/// The api over its cores, with one small site, and a key to it.
async fn docent(folder: &Path, pace: Paced) -> Result<(Api, String), BoxError> {
    let store = Arc::new(SqliteStore::open(folder.join("docent.db"))?);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(RandomIds);
    let project = project(&folder.join("docs.git"))?;
    store.add(project.clone()).await?;
    let now = clock.now();
    let (key, record) = mint(Grant::new(KeyKind::Assistant, project.id.clone(), now), now, system_randomness)?;
    store.insert(record).await?;

    let indexes = Arc::new(Indexes::new(folder.join("index")));
    let docs = Repositories::open_to_all(Mirrors::new(folder.join("mirrors"))).docs(&project).await?;
    let index = indexes.open(project.uid)?;
    tokio::task::spawn_blocking(move || index.update(&docs, &mut |_| ())).await??;

    let asking = AssistantLimits { per_project_and_hour: MANY, per_address_and_day: MANY };
    let access = Access::new(Arc::clone(&store) as _, Arc::clone(&store) as _, Arc::clone(&clock)).with_limits(asking);
    let threads = Arc::clone(&store) as _;
    let searches = SearchLog::new(Arc::clone(&store) as _, Arc::clone(&clock));
    let assistant = Arc::new(Assistant::new(Arc::new(pace), threads, Arc::clone(&clock), Arc::clone(&ids)));
    let api = Api {
        access,
        jobs: Jobs::new(store, Arc::clone(&clock), ids, JobLimits { creates_per_hour: 1, messages_per_hour: 1 }),
        models: ModelNames { offered: vec![NAME.to_owned()], default: NAME.to_owned() },
        answering: Answering { assistant, docs: indexes, replies: Replies::at_once(MANY as usize), searches },
        events_of: docent_authoring::job_events,
        clock,
    };
    Ok((api, key.expose().to_owned()))
}

/// A repository with a few pages, and the project it is.
fn project(path: &Path) -> Result<Project, BoxError> {
    let files =
        TOPICS.iter().map(|topic| (format!("{topic}.md"), page(topic).into_bytes())).collect::<BTreeMap<_, _>>();
    let meta = CommitMeta {
        name: "Sample".to_owned(),
        email: "docs@sample.example".to_owned(),
        seconds: SystemClock.now().seconds(),
        message: "Begin the docs\n".to_owned(),
        parents: Vec::new(),
    };
    create_repository(path, "main", &files, &meta)?;
    Ok(Project {
        uid: ProjectUid::new(RandomIds.unguessable()),
        id: ProjectId::parse(NAME)?,
        domain: Domain::parse(NAME)?,
        repository: path.display().to_string(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at: SystemClock.now(),
    })
}

fn page(topic: &str) -> String {
    let sentence = |n| {
        format!(
            "A delivery of {topic} that fails for the {n}th time is tried again, often after a longer pause than before."
        )
    };
    let sentences: Vec<String> = (1..=SENTENCES).map(sentence).collect();
    format!("# Deliveries of {topic}\n\n## Retries\n\n{}\n", sentences.join(" "))
}
