//! Jobs on a real repository in a folder of its own. The clock is stopped unless a test advances it.

mod context_repositories;
mod cord;
mod documents;
mod follow_ups;
mod language_models;
mod model;
mod outcomes;
mod publishing;
mod pulls;
mod races;
mod rebuild;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use docent_builtin::Builtin;
use docent_forge::memory::MemoryPullRequests;
use docent_forge::{Forge, ForgeError, LocalForge, PullRecord, PullRequest, PullRequestSpec, PullRequests};
use docent_jobs::memory::MemoryStore;
use docent_jobs::{Engine, EngineConfig, JobLimits, Jobs, NewJob, Store};
use docent_llm::Model;
use docent_types::{
    AgentJob, BranchName, Clock, Domain, FixedIds, ForgeKind, Halt, Ids, JobStatus, ManualClock, Message, Project,
    ProjectId, ProjectSettings, ProjectUid, Role, StoreError, Timestamp,
};
use docent_workspace::{CommitId, CommitMeta, CommitSummary, DiffView, Mirror, Mirrors, Remote, create_repository};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::cord::{Cord, CordedPulls, CordedStore};
use crate::{Author, AuthorConfig, Forges, Projects, Pulls, Repositories};

/// Real time that a test waits for the end of its job.
const PATIENCE: Duration = Duration::from_secs(60);

/// The prompt of most tests, and its effect on the docs below.
const RENAME: &str = r#"Replace "Widget" with "Gadget""#;

fn docs() -> BTreeMap<String, Vec<u8>> {
    let files = [
        ("docs/index.md", "---\ntitle: Home\n---\n\nThe Widget is a thing. See [setup](setup.md).\n"),
        ("docs/setup.md", "---\ntitle: Setup\n---\n\nInstall the Widget.\n"),
        ("docs/other.md", "---\ntitle: Other\n---\n\nNothing of note.\n"),
        ("src/widget.txt", "The Widget's code.\n"),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect()
}

/// One project of one repository, which a test may change.
#[derive(Debug)]
struct Registry(Mutex<Option<Project>>);

#[async_trait]
impl Projects for Registry {
    async fn project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        let project = self.0.lock().clone();
        Ok(project.filter(|project| project.id == *id))
    }
}

/// Returns the error of each attempt to open a pull request, if any.
type Objection = Box<dyn FnMut() -> Option<ForgeError> + Send>;
type Trouble = Arc<Mutex<Option<Objection>>>;

/// A forge whose attempts to open a pull request fail when the test says so.
struct Moody {
    forge: LocalForge,
    trouble: Trouble,
}

impl fmt::Debug for Moody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.forge.fmt(f)
    }
}

#[async_trait]
impl Forge for Moody {
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError> {
        self.forge.find(head).await
    }

    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let objection = self.trouble.lock().as_mut().and_then(|object| object());
        match objection {
            Some(error) => Err(error),
            None => self.forge.open(request).await,
        }
    }

    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        self.forge.update(found, request).await
    }
}

/// Everything that outlives a process, and what a person sees of it.
struct World {
    dir: TempDir,
    clock: ManualClock,
    ids: FixedIds,
    store: Arc<dyn Store>,
    pulls: Arc<dyn PullRequests>,
    projects: Arc<Registry>,
    model: Arc<dyn Model>,
    forge_trouble: Trouble,
    config: AuthorConfig,
    /// The APIs' handle: another process's view of the same store.
    jobs: Jobs,
}

impl World {
    /// The docs are in `docs/`, and the builtin model works on them.
    fn new() -> Self {
        Self::with(Arc::new(Builtin))
    }

    fn with(model: Arc<dyn Model>) -> Self {
        Self::of(model, &docs())
    }

    fn of(model: Arc<dyn Model>, files: &BTreeMap<String, Vec<u8>>) -> Self {
        let dir = TempDir::new().expect("a folder");
        let clock = ManualClock::at(Timestamp::from_millis(1_795_000_000_000));
        let project = Project {
            uid: ProjectUid::new(FixedIds::default().unguessable()),
            id: ProjectId::parse("acme").expect("a name"),
            domain: Domain::parse("acme").expect("a name"),
            repository: dir.path().join("docs.git").display().to_string(),
            branch: "main".to_owned(),
            docs_root: "docs".to_owned(),
            forge: ForgeKind::Local,
            token: None,
            base_url: None,
            context: BTreeMap::new(),
            settings: ProjectSettings::default(),
            created_at: Timestamp::default(),
        };
        create_repository(&dir.path().join("docs.git"), "main", files, &by("Ann", "First", vec![])).expect("made");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let ids = FixedIds::default();
        let shared = (Arc::new(clock.clone()), Arc::new(ids.clone()));
        let jobs = Jobs::new(Arc::clone(&store), shared.0, shared.1, JobLimits::default());
        let projects = Arc::new(Registry(Mutex::new(Some(project))));
        let (pulls, forge_trouble) = (Arc::new(MemoryPullRequests::default()), Trouble::default());
        let config = AuthorConfig::default();
        Self { dir, clock, ids, store, pulls, projects, model, forge_trouble, config, jobs }
    }

    fn project(&self) -> Project {
        self.projects.0.lock().clone().expect("there is one")
    }

    fn set_project(&self, change: impl FnOnce(&mut Project)) {
        change(self.projects.0.lock().as_mut().expect("there is one"));
    }

    fn forge_has(&self, trouble: Option<fn() -> ForgeError>) {
        let objection = trouble.map(|trouble| -> Objection { Box::new(move || Some(trouble())) });
        *self.forge_trouble.lock() = objection;
    }

    /// Sets the function that returns the error of each attempt to open a pull request.
    fn forge_objects(&self, object: impl FnMut() -> Option<ForgeError> + Send + 'static) {
        *self.forge_trouble.lock() = Some(Box::new(object));
    }

    fn remote(&self) -> Remote {
        Remote::new(self.project().repository)
    }

    async fn asks(&self, prompt: &str) -> AgentJob {
        self.asks_on(prompt, None).await
    }

    async fn asks_on(&self, prompt: &str, branch: Option<&str>) -> AgentJob {
        let new = NewJob {
            project: &self.project(),
            messages: vec![Message::text(Role::User, prompt)],
            branch: branch.map(|name| BranchName::parse(name).expect("a name")),
            as_draft: false,
            model: "sonnet".to_owned(),
        };
        Arc::unwrap_or_clone(self.jobs.submit(new, None).await.expect("accepted").job)
    }

    async fn follows_up(&self, job: &AgentJob, prompt: &str) {
        let messages = vec![Message::text(Role::User, prompt)];
        self.jobs.follow_up(&job.project, job.id, messages, None).await.expect("accepted");
    }

    /// Starts a process that works on the jobs until the cord is pulled, with its mirrors in this folder.
    fn starts_with(&self, cord: &Arc<Cord>, mirrors: &str) -> Process {
        let clock: Arc<dyn Clock> = Arc::new(self.clock.clone());
        let ids = Arc::new(self.ids.clone());
        let store = Arc::new(CordedStore::new(Arc::clone(&self.store), Arc::clone(cord)));
        let pulls: Arc<dyn PullRequests> = Arc::new(CordedPulls::new(Arc::clone(&self.pulls), Arc::clone(cord)));
        let jobs = Jobs::new(store, Arc::clone(&clock), Arc::clone(&ids) as _, JobLimits::default());
        let trouble = Arc::clone(&self.forge_trouble);
        let forges: Forges = Arc::new(move |project| {
            let url = "http://docent.test".to_owned();
            let (clock, ids) = (Arc::clone(&clock), Arc::clone(&ids));
            let forge = LocalForge::new(Arc::clone(&pulls), project.id.clone(), url, clock, ids);
            Arc::new(Moody { forge, trouble: Arc::clone(&trouble) }) as Arc<dyn Forge>
        });
        let models = BTreeMap::from([("sonnet".to_owned(), Arc::clone(&self.model))]);
        let (projects, config) = (Arc::clone(&self.projects) as _, self.config.clone());
        let author = Author::new(projects, self.repositories(mirrors), forges, models, config);
        let engine = Engine::new(jobs.clone(), Arc::new(author), EngineConfig::new("test"));
        let drain = CancellationToken::new();
        let task = tokio::spawn({
            let drain = drain.clone();
            async move {
                engine.take_over().await.expect("takes over");
                engine.run(drain).await;
            }
        });
        Process { jobs, drain, task }
    }

    fn starts(&self) -> Process {
        self.starts_with(&Cord::safe(), "mirrors")
    }

    fn repositories(&self, mirrors: &str) -> Repositories {
        Repositories::open_to_all(Mirrors::new(self.dir.path().join(mirrors)))
    }

    /// Runs a process until the job is not active any more.
    async fn works_on(&self, job: &AgentJob) -> AgentJob {
        let process = self.starts();
        let ended = self.ends(job).await;
        process.drains().await;
        ended
    }

    /// Waits until the job is not active any more.
    async fn ends(&self, job: &AgentJob) -> AgentJob {
        let begun = Instant::now();
        loop {
            let now = self.job(job).await;
            if now.status != JobStatus::Active {
                return now;
            }
            if begun.elapsed() > PATIENCE {
                panic!("the job does not end: {:#?}", self.store.entries(job.id, 0, 500).await.expect("reads"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn job(&self, job: &AgentJob) -> AgentJob {
        Arc::unwrap_or_clone(self.jobs.job(&job.project, job.id).await.expect("is there"))
    }

    /// The repository as a person would see it now.
    async fn look(&self) -> Mirror {
        Mirrors::new(self.dir.path().join("looked-at")).fetch(&self.remote()).await.expect("fetches")
    }

    async fn tip(&self, branch: &str) -> CommitId {
        self.look().await.branch(branch).expect("is there")
    }

    /// The commits a branch has and `main` lacks, newest first.
    async fn commits(&self, branch: &str) -> Vec<CommitSummary> {
        self.commits_since(branch, self.tip("main").await).await
    }

    async fn commits_since(&self, branch: &str, since: CommitId) -> Vec<CommitSummary> {
        let mirror = self.look().await;
        mirror.commits(mirror.branch(branch).expect("is there"), Some(since), 100).expect("reads")
    }

    async fn text(&self, branch: &str, path: &str) -> String {
        let mirror = self.look().await;
        let base = mirror.base(mirror.branch(branch).expect("is there")).expect("reads");
        String::from_utf8(base.read(path).expect("reads").expect("is there")).expect("text")
    }

    /// The paths that differ from `main`.
    async fn changed(&self, branch: &str) -> Vec<String> {
        let mirror = self.look().await;
        let (tip, main) = (mirror.branch(branch).expect("is there"), mirror.branch("main").expect("is there"));
        mirror
            .diff(main, tip, &DiffView::default())
            .expect("compares")
            .files
            .into_iter()
            .map(|file| file.path)
            .collect()
    }

    /// Runs git in the repository, always with the same dates, and returns its output.
    fn git(&self, args: &[&str]) -> String {
        let said = std::process::Command::new("git")
            .arg("--git-dir")
            .arg(self.dir.path().join("docs.git"))
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(args)
            .envs([("GIT_AUTHOR_DATE", "1794000000 +0000"), ("GIT_COMMITTER_DATE", "1794000000 +0000")])
            .output()
            .expect("git runs");
        assert!(said.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }

    /// All pull requests, newest first.
    async fn pull_requests(&self) -> Vec<PullRecord> {
        self.pulls.list(&self.project().id, 100).await.expect("reads")
    }

    fn pulls(&self) -> Pulls {
        let (records, projects) = (Arc::clone(&self.pulls), Arc::clone(&self.projects) as _);
        Pulls::new(records, projects, self.repositories("dashboard"), Arc::new(self.clock.clone()))
    }

    /// A second clone of the repository, of another person.
    async fn colleague(&self) -> Colleague {
        let mirror = Mirrors::new(self.dir.path().join("colleague")).fetch(&self.remote()).await.expect("fetches");
        Colleague { mirror, remote: self.remote() }
    }
}

/// A running engine.
struct Process {
    /// Live events are received here only.
    jobs: Jobs,
    drain: CancellationToken,
    task: JoinHandle<()>,
}

impl Process {
    async fn drains(self) {
        self.drain.cancel();
        self.task.await.expect("ends well");
    }

    async fn dies(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// Another person who pushes without coordinating with the job.
struct Colleague {
    mirror: Mirror,
    remote: Remote,
}

impl Colleague {
    /// Puts a commit with one file on top of a branch, as the branch was when last seen or pushed; on top of `main`
    /// when it was not there.
    fn pushes(&self, branch: &str, path: &str, text: &str) -> CommitId {
        let seen = self.mirror.find_branch(branch).expect("reads");
        let base = seen.unwrap_or_else(|| self.mirror.branch("main").expect("is there"));
        let mut overlay = self.mirror.overlay(base).expect("reads");
        overlay.write(path, text.as_bytes()).expect("writes");
        let commit = self.mirror.commit(&overlay, &by("Bob", "By hand", vec![base])).expect("commits");
        self.mirror.push(&self.remote, branch, commit, seen).expect("pushes");
        commit
    }
}

fn by(name: &str, message: &str, parents: Vec<CommitId>) -> CommitMeta {
    let email = format!("{name}@example.com");
    CommitMeta { name: name.to_owned(), email, seconds: 1_794_000_000, message: message.to_owned(), parents }
}

/// A job's message at its end.
fn message(job: &AgentJob) -> &str {
    job.message.as_deref().unwrap_or_default()
}

/// A failure that people can act on: of this kind, with these words, and in full sentences.
fn assert_failed(job: &AgentJob, halt: Halt, words: &[&str]) {
    let said = message(job);
    assert_eq!((job.status, job.halt), (JobStatus::Failed, Some(halt)), "{said}");
    for word in words {
        assert!(said.contains(word), "no `{word}` in: {said}");
    }
    assert!(said.ends_with('.') && !said.contains(".."), "no sentence: {said}");
}
