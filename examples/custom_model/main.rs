//! A model of your own, at work on a job.
//!
//! [`Shouting`] is not clever: it writes the headings of the docs in capitals. But it does so as any model does, over
//! the same port: it gets a transcript and a list of tools, and streams back text and calls. Everything else (running
//! the tools, the checks, the commit, the push, the pull request) is Docent's.
//!
//! Nothing here needs a database or HTTP: jobs, pull requests and the one project are kept in memory.
//!
//! ```sh
//! cargo run -p docent-examples --example custom_model
//! ```

mod shouting;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_authoring::{Author, AuthorConfig, DiffView, Pulls, Repositories};
use docent_forge::memory::MemoryPullRequests;
use docent_forge::{Forge, LocalForge, PullRequests};
use docent_jobs::memory::MemoryStore;
use docent_jobs::{Engine, EngineConfig, EntryBody, JobLimits, Jobs, NewJob, Store};
use docent_llm::Model;
use docent_types::{
    Clock, Domain, ForgeKind, Ids, JobStatus, Message, Project, ProjectId, ProjectSettings, ProjectUid, RandomIds,
    Role, StoreError, SystemClock,
};
use docent_workspace::{CommitMeta, Mirrors, create_repository};
use tokio_util::sync::CancellationToken;

use crate::shouting::Shouting;

type BoxError = Box<dyn Error + Send + Sync>;

/// The name jobs ask for our model by.
const MODEL: &str = "shouting";
/// How long the job may take.
const PATIENCE: Duration = Duration::from_secs(30);

const INDEX: &str = "# Welcome

Start with [the setup](/guide#setup).
";

const GUIDE: &str = "# The guide

## Setup

```sh
# a comment is no heading
make install
```

## Daily use

Use it daily.
";

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let project = project(&folder.path().join("docs.git"))?;

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(RandomIds);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let jobs = Jobs::new(Arc::clone(&store), Arc::clone(&clock), Arc::clone(&ids), JobLimits::default());
    let mirrors = Mirrors::new(folder.path().join("mirrors"));
    let repositories = Repositories::open_to_all(mirrors);
    let records: Arc<dyn PullRequests> = Arc::new(MemoryPullRequests::default());
    let registry = Arc::new(OneProject(project.clone()));

    // Jobs name a model; this is the table they are looked up in.
    let models = BTreeMap::from([(MODEL.to_owned(), Arc::new(Shouting) as Arc<dyn Model>)]);
    let (kept, time) = (Arc::clone(&records), Arc::clone(&clock));
    let forge = move |project: &Project| -> Arc<dyn Forge> {
        let url = "http://docs.example".to_owned();
        Arc::new(LocalForge::new(Arc::clone(&kept), project.id.clone(), url, Arc::clone(&time), Arc::clone(&ids)))
    };
    let (forges, config) = (Arc::new(forge), AuthorConfig::default());
    let author = Author::new(Arc::clone(&registry) as _, repositories.clone(), forges, models, config);

    let drain = CancellationToken::new();
    let engine = Engine::new(jobs.clone(), Arc::new(author), EngineConfig::new("custom-model"));
    let engine = tokio::spawn(engine.run(drain.clone()));

    let new = NewJob {
        project: &project,
        messages: vec![Message::text(Role::User, "Make the headings louder.")],
        branch: None,
        as_draft: false,
        model: MODEL.to_owned(),
    };
    let accepted = jobs.submit(new, None).await?.job;
    let job = jobs.wait_until_inactive(&accepted.project, accepted.id, PATIENCE).await?;
    drain.cancel();
    engine.await?;

    println!("what the journal says:");
    for entry in store.entries(job.id, 0, u32::MAX).await? {
        println!("{:>4}  {}", entry.seq, told(&entry.body));
    }
    let message = job.message.clone().unwrap_or_default();
    println!("\njob {} is {}: {message}", job.id, job.status.as_str());
    assert_eq!(job.status, JobStatus::Completed, "{message}");

    // The pull request is where every other one is, and its diff is what the model's calls made of the docs.
    let found = records.by_head(&project.id, &job.source.branch).await?;
    let record = found.ok_or("there is no pull request")?;
    let pulls = Pulls::new(records, registry, repositories, clock);
    let diff = pulls.changes(&project, &record, DiffView::default()).await?.diff;
    println!("pull request {}: {}\n", record.number, record.title);
    for change in &diff.files {
        println!("{}", change.unified.trim_end());
    }
    let added: Vec<&str> = diff.files.iter().flat_map(|change| change.unified.lines()).filter_map(added).collect();
    assert_eq!(added, ["# THE GUIDE", "## SETUP", "## DAILY USE", "# WELCOME"]);
    assert!(job.pr_link.as_ref().is_some_and(|link| link.ends_with(&record.id.to_string())));
    println!("\nall as it should be");
    Ok(())
}

/// One entry of the journal, on one line.
fn told(entry: &EntryBody) -> String {
    match entry {
        EntryBody::Instruction(instruction) => {
            let words: Vec<String> = instruction.messages.iter().map(Message::plain_text).collect();
            format!("asked: {}", words.join(" "))
        }
        EntryBody::Transition { to, .. } => format!("the job is {}", to.as_str()),
        EntryBody::Leased { holder, .. } => format!("leased to {holder}"),
        EntryBody::Retry { why, .. } => format!("to be tried again: {why}"),
        EntryBody::Work { kind, .. } => kind.clone(),
    }
}

/// A line a diff adds.
fn added(line: &str) -> Option<&str> {
    line.strip_prefix('+').filter(|rest| !rest.starts_with("++"))
}

/// A repository with two pages, and the project it is.
fn project(path: &Path) -> Result<Project, BoxError> {
    let files = [("guide.md", GUIDE), ("index.md", INDEX)];
    let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect();
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
        id: ProjectId::parse("sample")?,
        domain: Domain::parse("sample")?,
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

/// The projects, as authoring asks for them: here there is one.
#[derive(Debug)]
struct OneProject(Project);

#[async_trait]
impl docent_authoring::Projects for OneProject {
    async fn project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        Ok((self.0.id == *id).then(|| self.0.clone()))
    }
}
