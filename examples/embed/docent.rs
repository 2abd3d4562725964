//! The wiring: which core gets which store, model and clock.
//!
//! This is the part to copy. Each line is a choice an embedding service may make differently; the two small adapters at
//! the end join ports that do not know each other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use docent_access::{Access, Grant, Key, KeyKind, Keys, Projects, mint, system_randomness};
use docent_assistant::{Assistant, SearchLog};
use docent_authoring::{Author, AuthorConfig, Diff, DiffView, Pulls, Repositories};
use docent_builtin::Builtin;
use docent_discovery::{Answering, Replies};
use docent_forge::{Forge, LocalForge, PullRequests};
use docent_http_v2::Api;
use docent_jobs::{Engine, EngineConfig, JobLimits, JobQuery, Jobs, ModelNames};
use docent_llm::Model;
use docent_search::Indexes;
use docent_store::SqliteStore;
use docent_types::{AgentJob, CallError, Clock, Ids, Project, ProjectId, RandomIds, StoreError, SystemClock};
use docent_workspace::Mirrors;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::BoxError;

/// The name jobs know our only model by.
const MODEL: &str = "builtin";

/// Docent, as far as this service uses it.
pub(crate) struct Docent {
    /// The HTTP endpoints of version 2, to be mounted.
    pub(crate) api: Api,
    store: Arc<SqliteStore>,
    clock: Arc<dyn Clock>,
    indexes: Arc<Indexes>,
    repositories: Repositories,
    author: Arc<Author>,
}

/// One key of each kind, in full. Outside an example the admin key stays on a server.
pub(crate) struct IssuedKeys {
    pub(crate) admin: String,
    pub(crate) assistant: String,
}

impl Docent {
    /// Opens the store in `data`, and wires the cores. Pull requests are linked to below `public_url`.
    pub(crate) fn open(data: &Path, public_url: &str) -> Result<Self, BoxError> {
        // One store implements the ports of all cores. Each could be one of its own: see the example `custom_store`.
        let store = Arc::new(SqliteStore::open(data.join("docent.db"))?);
        // Time and ids are handed in, so that a test of an embedding service can own them.
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn Ids> = Arc::new(RandomIds);
        // A model of your own goes here: see the example `custom_model`.
        let model: Arc<dyn Model> = Arc::new(Builtin);

        // Mirrors and indexes are caches: they may be deleted, and are made again from git.
        let indexes = Arc::new(Indexes::new(data.join("index")));
        let repositories = Repositories::open_to_all(Mirrors::new(data.join("mirrors")));

        let access = Access::new(Arc::clone(&store) as _, Arc::clone(&store) as _, Arc::clone(&clock));
        let limits = JobLimits { creates_per_hour: 100, messages_per_hour: 100 };
        let jobs = Jobs::new(Arc::clone(&store) as _, Arc::clone(&clock), Arc::clone(&ids), limits);
        let threads = Arc::clone(&store) as _;
        let searches = SearchLog::new(Arc::clone(&store) as _, Arc::clone(&clock));
        let assistant = Arc::new(Assistant::new(Arc::clone(&model), threads, Arc::clone(&clock), Arc::clone(&ids)));

        let (pulls, url, time) = (Arc::clone(&store), public_url.to_owned(), Arc::clone(&clock));
        let forge = move |project: &Project| -> Arc<dyn Forge> {
            let pulls = Arc::clone(&pulls) as _;
            Arc::new(LocalForge::new(pulls, project.id.clone(), url.clone(), Arc::clone(&time), Arc::clone(&ids)))
        };
        let models = BTreeMap::from([(MODEL.to_owned(), model)]);
        let registry = Arc::new(Registry(Arc::clone(&store)));
        let (forges, config) = (Arc::new(forge), AuthorConfig::default());
        let author = Arc::new(Author::new(registry, repositories.clone(), forges, models, config));

        let api = Api {
            access,
            jobs,
            models: ModelNames { offered: vec![MODEL.to_owned()], default: MODEL.to_owned() },
            answering: Answering { assistant, docs: Arc::clone(&indexes) as _, replies: Replies::default(), searches },
            events_of: docent_authoring::job_events,
            clock: Arc::clone(&clock),
        };
        Ok(Self { api, store, clock, indexes, repositories, author })
    }

    /// Registers a project, and mints its keys. Only their hashes are stored.
    pub(crate) async fn add(&self, project: Project) -> Result<IssuedKeys, BoxError> {
        let id = project.id.clone();
        self.store.add(project).await?;
        let admin = self.key(KeyKind::Admin, &id).await?.expose().to_owned();
        let assistant = self.key(KeyKind::Assistant, &id).await?.expose().to_owned();
        Ok(IssuedKeys { admin, assistant })
    }

    async fn key(&self, kind: KeyKind, project: &ProjectId) -> Result<Key, BoxError> {
        let now = self.clock.now();
        let (key, record) = mint(Grant::new(kind, project.clone(), now), now, system_randomness)?;
        self.store.insert(record).await?;
        Ok(key)
    }

    /// Fetches the repository and brings the index up to date. Reading and writing an index block, so they get a thread.
    ///
    /// A service that runs for long does this now and then, and whenever [`Repositories::changed`] completes.
    pub(crate) async fn index(&self, project: &Project) -> Result<(), BoxError> {
        let docs = self.repositories.docs(project).await?;
        let index = self.indexes.open(project.uid)?;
        tokio::task::spawn_blocking(move || index.update(&docs, &mut |_| ())).await??;
        Ok(())
    }

    /// Works on jobs until `drain` is cancelled.
    pub(crate) async fn start(&self, drain: CancellationToken) -> Result<JoinHandle<()>, BoxError> {
        // The holder names this process in leases: use something that differs between processes.
        let config = EngineConfig::new(format!("embed-{}", std::process::id()));
        let engine = Engine::new(self.api.jobs.clone(), Arc::clone(&self.author) as _, config);
        // We know that no other process works on this store, so jobs of one that died need not wait for their leases.
        engine.take_over().await?;
        Ok(tokio::spawn(engine.run(drain)))
    }

    pub(crate) async fn newest_jobs(&self, project: &ProjectId, limit: u32) -> Result<Vec<AgentJob>, CallError> {
        let query = JobQuery { project: project.clone(), status: None, after: None, skip: 0, limit };
        self.api.jobs.list(query).await
    }

    /// Merges the pull request of a branch, and tells what it changed.
    pub(crate) async fn merge(&self, project: &Project, branch: &str) -> Result<Diff, BoxError> {
        let records: Arc<dyn PullRequests> = Arc::clone(&self.store) as _;
        let found = records.by_head(&project.id, branch).await?;
        let record = found.ok_or_else(|| format!("no pull request comes from `{branch}`"))?;
        let registry = Arc::new(Registry(Arc::clone(&self.store)));
        let pulls = Pulls::new(records, registry, self.repositories.clone(), Arc::clone(&self.clock));
        let changes = pulls.changes(project, &record, DiffView::default()).await?;
        pulls.merge(project, &record).await?;
        Ok(changes.diff)
    }

    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        self.store.close().await
    }
}

/// The projects, as authoring asks for them.
#[derive(Debug)]
struct Registry(Arc<SqliteStore>);

#[async_trait]
impl docent_authoring::Projects for Registry {
    async fn project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        self.0.by_id(id).await
    }
}
