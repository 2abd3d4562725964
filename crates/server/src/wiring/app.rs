//! Constructs the services that all commands use.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_access::{Access, AddError, AssistantLimits, Keys, Projects};
use docent_assistant::{Assistant, DailyBudget, SearchLog, Threads};
use docent_authoring::{AllowCommand, Author, AuthorConfig, Pulls, Repositories, search_of};
use docent_builtin::Builtin;
use docent_embed::Questions;
use docent_jobs::{JobLimits, Jobs};
use docent_llm::Description;
use docent_operators::{LinkToken, OperatorRole, Operators};
use docent_quarantine::Quarantine;
use docent_search::{Embedder, Indexes};
use docent_types::{Clock, Ids, Project, ProjectId, RandomIds, Timestamp};
use docent_workspace::Mirrors;

use crate::config::Config;
use crate::data_folder::{self, Serving};
use crate::failure::Failure;
use crate::wiring::credentials::RepositoryCredentials;
use crate::wiring::embedders;
use crate::wiring::forges::{AllForges, Forges};
use crate::wiring::index_states::IndexStates;
use crate::wiring::missing_docs::MissingDocs;
use crate::wiring::models::Models;
use crate::wiring::privacy::{self, ReadableByOthers};
use crate::wiring::sites::Sites;
use crate::wiring::storage::{self, Storage, StoreKind};

/// How long the jobs of a removed project may take to stop, and how often they are looked at meanwhile.
const STOPPING: Duration = Duration::from_secs(30);
const STOPPED_CHECK: Duration = Duration::from_millis(50);

/// The application: its store, its services, and its configuration.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn Storage>,
    pub(crate) jobs: Jobs,
    pub(crate) access: Access,
    pub(crate) operators: Operators,
    pub(crate) assistant: Arc<Assistant>,
    pub(crate) searches: SearchLog,
    pub(crate) sites: Sites,
    pub(crate) missing_docs: MissingDocs,
    pub(crate) index_states: IndexStates,
    pub(crate) quarantine: Quarantine,
    pub(crate) indexes: Arc<Indexes>,
    pub(crate) embedder: Option<Arc<Questions>>,
    pub(crate) repositories: Repositories,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) models: Models,
    pub(crate) forges: Forges,
    /// The parts of the data folder that other users could read.
    pub(crate) exposed: Vec<ReadableByOthers>,
}

impl App {
    /// Opens the store and constructs the services. Creates the data folder if it is missing.
    pub(crate) async fn open(config: Config) -> Result<Self, Failure> {
        Self::open_within(Duration::ZERO, config).await
    }

    /// As [`open`](Self::open), and waits for this long for a database that serves nobody at the moment.
    pub(crate) async fn open_within(patience: Duration, config: Config) -> Result<Self, Failure> {
        let exposed = privacy::secure(&config.data)?;
        let store = storage::open(&config, patience).await?;
        let clock = store.clock();
        // Before anything is read that may have ended a process before.
        let quarantine = config.data.join("quarantine");
        let quarantine = Quarantine::open(&quarantine, Arc::clone(&clock))
            .map_err(|error| Failure::new(format!("cannot write to {}", quarantine.display()), error))?;
        let ids: Arc<dyn Ids> = Arc::new(RandomIds);
        let limits = JobLimits {
            creates_per_hour: config.limits.agent_jobs_per_hour,
            messages_per_hour: config.limits.agent_messages_per_hour,
        };
        let asking = AssistantLimits {
            per_project_and_hour: config.limits.assistant_requests_per_hour,
            per_address_and_day: config.limits.assistant_requests_per_address_per_day,
        };
        let embedder = embedders::open(&config.search, config.question_waits)?;
        let models = Models::new(&config)?;
        let forges = Forges::new(&config, Arc::clone(&clock));
        let threads: Arc<dyn Threads> = Arc::clone(&store) as _;
        let answering = models.named(&config.assistant.model)?;
        let sites = Sites::new(config.assistant.suggestions).with_quarantine(quarantine.clone());
        let known = sites.clone();
        let budget = DailyBudget {
            spends: Arc::clone(&store) as _,
            limits: config.assistant.limits.clone(),
            instead: Arc::new(Builtin),
        };
        let assistant = Assistant::new(answering, threads, Arc::clone(&clock), Arc::clone(&ids))
            .with_sites(move |project| known.of(project))
            .with_budget(budget, config.assistant.price);
        let credentials = RepositoryCredentials { forges: forges.clone(), git: config.git.clone() };
        let repositories = Repositories::new(Mirrors::new(config.mirrors()), credentials.token_of());
        let throttle = Arc::clone(&store).throttle();
        Ok(Self {
            jobs: Jobs::new(Arc::clone(&store) as _, Arc::clone(&clock), Arc::clone(&ids), limits),
            access: Access::new(Arc::clone(&store) as _, Arc::clone(&store) as _, Arc::clone(&clock))
                .with_limits(asking)
                .with_throttle(Arc::clone(&throttle)),
            operators: Operators::new(Arc::clone(&store) as _, Arc::clone(&clock), Arc::clone(&ids))
                .with_throttle(throttle),
            assistant: Arc::new(assistant),
            searches: SearchLog::new(Arc::clone(&store) as _, Arc::clone(&clock)),
            sites,
            missing_docs: MissingDocs::default(),
            index_states: IndexStates::default(),
            indexes: Arc::new(
                Indexes::new(config.data.join("index"))
                    .with_quarantine(quarantine.clone())
                    .with_embedder(embedder.clone().map(|embedder| embedder as Arc<dyn Embedder>)),
            ),
            embedder,
            quarantine,
            repositories,
            store,
            clock,
            ids,
            models,
            forges,
            exposed,
            config,
        })
    }

    /// Whether other servers may work on the same store.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self.store.kind(), StoreKind::Sqlite(_))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn keys(&self) -> &dyn Keys {
        self.store.as_ref()
    }

    pub(crate) fn projects(&self) -> &dyn Projects {
        self.store.as_ref()
    }

    /// A sign-in link for the first operator of this server; `None` if there is an operator already. `url` is the URL
    /// of the server. Each call creates another link.
    pub(crate) async fn first_run_link(&self, url: &str) -> Result<Option<String>, Failure> {
        if self.operators.has_any().await? {
            return Ok(None);
        }
        let token = self.operators.invite(None, OperatorRole::Owner).await?;
        Ok(Some(join_url(url, &token)))
    }

    /// The model of jobs that name none.
    pub(crate) fn agent_model(&self) -> Result<Description, Failure> {
        Ok(self.models.named(&self.config.agent.model)?.describe())
    }

    pub(crate) async fn known_project(&self, id: &str) -> Result<Project, Failure> {
        let id = ProjectId::parse(id).map_err(|error| Failure::usage(error.to_string()))?;
        let found = self.projects().by_id(&id).await?;
        found.ok_or_else(|| Failure::plain(format!("there is no project `{id}`; see `docent project list`")))
    }

    /// Refuses a project whose id or domain is taken.
    pub(crate) async fn is_free(&self, project: &Project) -> Result<(), AddError> {
        if self.projects().by_id(&project.id).await?.is_some() {
            return Err(AddError::IdTaken(project.id.clone()));
        }
        match self.projects().by_domain(&project.domain).await? {
            Some(other) => Err(AddError::DomainTaken { domain: project.domain.clone(), project: other.id }),
            None => Ok(()),
        }
    }

    /// Removes a project, and waits until the server on this data folder has stopped its jobs.
    pub(crate) async fn remove_project(&self, project: &Project) -> Result<(), Failure> {
        self.projects().remove(&project.id, self.now()).await?;
        let (uid, id) = (project.uid.to_string(), project.id.as_str());
        self.quarantine
            .clear(|record| record.subject.scope == uid || record.subject.scope == id)
            .map_err(|error| Failure::new("cannot change what is set aside", error))?;
        self.indexes.remove(project.uid)?;
        let deadline = Instant::now() + STOPPING;
        loop {
            let left = self.store.jobs_not_stopped(project.uid).await?;
            // Without a server on the data folder the leases are those of a dead one; a shared store tells by their time.
            let is_dead = || !self.is_shared() && data_folder::serving(&self.config.data) == Serving::No;
            if left.is_empty() || is_dead() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let ids = left.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                return Err(Failure::plain(format!(
                    "`{}` is removed, but the server has not stopped its jobs within {} seconds: {ids}; one that is \
                     pushing comes to the end of that. Restart the server to stop them now",
                    project.id,
                    STOPPING.as_secs()
                )));
            }
            tokio::time::sleep(STOPPED_CHECK).await;
        }
    }

    /// The pull requests of the local forge, for display and merging.
    pub(crate) fn pulls(&self) -> Pulls {
        Pulls::new(
            Arc::clone(&self.store) as _,
            Arc::new(Registry(Arc::clone(&self.store) as _)),
            self.repositories.clone(),
            Arc::clone(&self.clock),
        )
    }

    /// How the command line begins that allows a project's agents more. `docent run` has no project to set.
    fn allow_command(&self) -> AllowCommand {
        let run = self.config.rerun.clone();
        let is_default = self.config.data == Path::new("./docent-data");
        let data = std::path::absolute(&self.config.data).ok().filter(|_| !is_default);
        let data = data.map_or_else(String::new, |data| format!(" --data {}", quoted(&data.to_string_lossy())));
        Arc::new(move |project: &Project| {
            run.clone().unwrap_or_else(|| format!("docent project set {}{data}", project.id))
        })
    }

    /// The author that runs jobs. `public_url` is the URL at which pull requests of the local forge are shown; empty if
    /// there is none.
    pub(crate) fn author(&self, public_url: &str) -> Author {
        let forges = AllForges {
            remote: self.forges.clone(),
            pulls: Arc::clone(&self.store) as _,
            ids: Arc::clone(&self.ids),
            public_url: public_url.to_owned(),
        };
        Author::new(
            Arc::new(Registry(Arc::clone(&self.store) as _)),
            self.repositories.clone(),
            Arc::new(move |project: &Project| forges.of(project)),
            self.models.offered().clone(),
            AuthorConfig {
                limits: self.config.agent.limits,
                labels: self.config.agent.labels.clone(),
                search: Some(search_of(Arc::clone(&self.indexes))),
                allow_command: Some(self.allow_command()),
                quarantine: self.quarantine.clone(),
            },
        )
    }
}

/// The project port of authoring, on the stored projects.
#[derive(Debug)]
struct Registry(Arc<dyn Projects>);

#[async_trait::async_trait]
impl docent_authoring::Projects for Registry {
    async fn project(&self, id: &ProjectId) -> Result<Option<Project>, docent_types::StoreError> {
        self.0.by_id(id).await
    }
}

/// A word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The URL of the dashboard's page on which an operator's sign-in link is used.
pub(crate) fn join_url(server: &str, token: &LinkToken) -> String {
    format!("{}/dashboard/-/join/{}", server.trim_end_matches('/'), token.expose())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_the_server_that_people_know() {
        let token = LinkToken::parse(&"0a".repeat(32)).expect("a token");
        for server in ["https://docs.example.com", "https://docs.example.com/"] {
            let expected = format!("https://docs.example.com/dashboard/-/join/{}", "0a".repeat(32));
            assert_eq!(join_url(server, &token), expected);
        }
    }
}
