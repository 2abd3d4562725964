//! What memory many jobs take while they all wait for a slow model.
//!
//! `cargo run --release -p docent-authoring --example many_jobs [JOBS] [FILES]`
//!
//! Each job reads a page, plans and changes another one; then its model goes silent. When all of them wait, memory is
//! looked at; then the model speaks again and all of them have to complete. The transcripts are counted apart: how long
//! they are is the model's affair. The journals are held in memory too, where a server has them on disk.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use docent_authoring::{Author, AuthorConfig, Projects, Repositories};
use docent_forge::memory::MemoryPullRequests;
use docent_forge::{Forge, LocalForge, PullRequests};
use docent_jobs::memory::MemoryStore;
use docent_jobs::{Engine, EngineConfig, JobLimits, JobQuery, Jobs, NewJob, Store};
use docent_llm::{Description, Event, EventStream, Model, ModelError, Request};
use docent_types::{
    Clock, Domain, FinishReason, FixedIds, ForgeKind, Ids, JobStatus, Message, Project, ProjectId, ProjectSettings,
    ProjectUid, Role, StoreError, SystemClock, Timestamp, Usage,
};
use docent_workspace::{CommitMeta, Mirrors, create_repository};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The reply at which the model goes silent.
const SILENT: usize = 4;

/// Plays the same four replies for every job and lets go of each request at once, as a client does that has sent it.
struct Slow {
    gate: Arc<Semaphore>,
    waiting: AtomicUsize,
    transcript_bytes: AtomicUsize,
}

impl fmt::Debug for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slow")
    }
}

fn reply(number: usize) -> (&'static str, Value) {
    match number {
        1 => ("read", json!({ "path": "page-0001.md" })),
        2 => ("todo_write", json!({ "todos": [{ "content": "Rename it", "status": "in_progress" }] })),
        3 => ("edit", json!({ "path": "page-0002.md", "old": "page 2 of", "new": "sheet 2 of" })),
        _ => ("finish", json!({ "outcome": "done", "title": "Rename", "summary": "Renamed." })),
    }
}

#[async_trait]
impl Model for Slow {
    fn describe(&self) -> Description {
        Description::new("slow", "slow")
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let number = request.messages.iter().filter(|message| message.role == Role::Assistant).count() + 1;
        if number == SILENT {
            let bytes = serde_json::to_vec(&request.messages).map(|text| text.len()).unwrap_or_default();
            self.transcript_bytes.fetch_add(bytes, Ordering::SeqCst);
            self.waiting.fetch_add(1, Ordering::SeqCst);
        }
        drop(request);
        let gate = Arc::clone(&self.gate);
        let event = async move {
            if number == SILENT {
                drop(gate.acquire().await);
            }
            let (name, input) = reply(number);
            Ok(Event::ToolCall { id: format!("call-{number}"), name: name.to_owned(), input })
        };
        let done = Event::Done { reason: FinishReason::ToolCalls, usage: Usage::of(1_000, 100) };
        Ok(stream::once(event).chain(stream::iter([Ok(done)])).boxed())
    }
}

#[derive(Debug)]
struct One(Project);

#[async_trait]
impl Projects for One {
    async fn project(&self, _: &ProjectId) -> Result<Option<Project>, StoreError> {
        Ok(Some(self.0.clone()))
    }
}

fn pages(count: usize) -> BTreeMap<String, Vec<u8>> {
    let page = |number: usize| {
        let lines: String = (0..40).map(|line| format!("Line {line} says something of use to a reader.\n")).collect();
        let text = format!("---\ntitle: Page {number}\n---\n\nThis is page {number} of many.\n\n{lines}");
        (format!("docs/page-{number:04}.md"), text.into_bytes())
    };
    (1..=count).map(page).collect()
}

/// What the process holds, in KiB.
fn resident() -> Result<usize, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("the kernel tells no memory")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let jobs_wanted: usize = arguments.next().map_or(Ok(500), |text| text.parse())?;
    let files: usize = arguments.next().map_or(Ok(3_000), |text| text.parse())?;
    let dir = tempfile::tempdir()?;
    let folder = dir.path().join("docs.git");
    let meta = CommitMeta {
        name: "Ann".into(),
        email: "ann@example.com".into(),
        seconds: 1_795_000_000,
        message: "Begin".into(),
        parents: vec![],
    };
    create_repository(&folder, "main", &pages(files), &meta)?;
    let project = Project {
        uid: ProjectUid::new(FixedIds::default().unguessable()),
        id: ProjectId::parse("acme")?,
        domain: Domain::parse("acme")?,
        repository: folder.display().to_string(),
        branch: "main".to_owned(),
        docs_root: "docs".to_owned(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at: Timestamp::default(),
    };

    let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) = (Arc::new(SystemClock), Arc::new(FixedIds::default()));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let most = u32::try_from(jobs_wanted)? + 1;
    let limits = JobLimits { creates_per_hour: most, messages_per_hour: most };
    let jobs = Jobs::new(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&ids), limits);
    let gate = Arc::new(Semaphore::new(1));
    let (waiting, transcript_bytes) = Default::default();
    let model = Arc::new(Slow { gate: Arc::clone(&gate), waiting, transcript_bytes });
    let pulls: Arc<dyn PullRequests> = Arc::new(MemoryPullRequests::default());
    let forge = move |project: &Project| -> Arc<dyn Forge> {
        let (pulls, clock, ids) = (Arc::clone(&pulls), Arc::clone(&clock), Arc::clone(&ids));
        Arc::new(LocalForge::new(pulls, project.id.clone(), "http://docent.test".to_owned(), clock, ids))
    };
    let repositories = Repositories::open_to_all(Mirrors::new(dir.path().join("mirrors")));
    let models = BTreeMap::from([("slow".to_owned(), Arc::clone(&model) as Arc<dyn Model>)]);
    let (projects, config) = (Arc::new(One(project.clone())), AuthorConfig::default());
    let author = Author::new(projects, repositories, Arc::new(forge), models, config);
    let settings = EngineConfig { workers: jobs_wanted, ..EngineConfig::new("many-jobs") };
    let drain = CancellationToken::new();
    let engine = tokio::spawn(Engine::new(jobs.clone(), Arc::new(author), settings).run(drain.clone()));

    let submit = async || {
        let messages = vec![Message::text(Role::User, "Rename page 2")];
        let new = NewJob { project: &project, messages, branch: None, as_draft: false, model: "slow".to_owned() };
        jobs.submit(new, None).await
    };
    let ended = async || {
        let query = JobQuery { project: project.id.clone(), status: None, after: None, skip: 0, limit: most };
        let all = store.list(query).await?;
        let failed = all.iter().find(|job| job.status == JobStatus::Failed);
        if let Some(message) = failed.and_then(|job| job.message.clone()) {
            return Err(Box::<dyn Error>::from(message));
        }
        Ok(all.iter().filter(|job| job.status == JobStatus::Completed).count())
    };

    // The first job brings in the mirror and everything else that all of them share.
    submit().await?;
    while ended().await? < 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    gate.acquire().await?.forget();
    model.waiting.store(0, Ordering::SeqCst);
    model.transcript_bytes.store(0, Ordering::SeqCst);
    let before = resident()?;

    let begun = Instant::now();
    for _ in 0..jobs_wanted {
        submit().await?;
    }
    while model.waiting.load(Ordering::SeqCst) < jobs_wanted {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (there, after) = (begun.elapsed(), resident()?);
    let transcript = model.transcript_bytes.load(Ordering::SeqCst) / jobs_wanted;
    let each = (after.saturating_sub(before) * 1024 / jobs_wanted).saturating_sub(transcript) / 1024;
    println!("{jobs_wanted} jobs wait for the model on {files} files after {:.1} s", there.as_secs_f32());
    println!("memory                     {before} KiB before, {after} KiB now");
    println!("transcript of a job        {} KiB", transcript.div_ceil(1024));
    println!("a job beyond its transcript {each} KiB");

    gate.add_permits(jobs_wanted * 2);
    while ended().await? < jobs_wanted + 1 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("all of them completed after {:.1} s; memory {} KiB", begun.elapsed().as_secs_f32(), resident()?);
    drain.cancel();
    engine.await?;
    if each >= 256 { Err("a job takes more than 256 KiB".into()) } else { Ok(()) }
}
