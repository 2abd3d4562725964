//! The dashboard's operations on this server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_dashboard::{
    CheckFinding, CheckedProject, Findings, IndexStatus, Level, Operations, ProjectError, ProjectForm, Setting,
};
use docent_jobs::HookState;
use docent_llm::Model as _;
use docent_search::Snapshot;
use docent_types::{BoxError, Project, ProjectUid};
use parking_lot::{Mutex, MutexGuard};

use crate::cli::{ProjectAdd, ProjectSet};
use crate::commands::projects::InspectedProject;
use crate::commands::{doctor, projects};
use crate::config::HookConfig;
use crate::serve::project_form;
use crate::wiring::app::App;

/// How long findings are reused. Checks call models and forges, which may cost money.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// The operations of a running server.
pub(crate) struct ServerOperations {
    app: Arc<App>,
    findings: Arc<Mutex<FindingsCache>>,
}

#[derive(Default)]
struct FindingsCache {
    last: Findings,
    is_running: bool,
}

impl fmt::Debug for ServerOperations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOperations").finish_non_exhaustive()
    }
}

impl ServerOperations {
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self { app, findings: Arc::default() }
    }

    fn checked(&self) -> MutexGuard<'_, FindingsCache> {
        self.findings.lock()
    }

    /// Runs the checks in the background, unless they are running already.
    fn check(&self) {
        if std::mem::replace(&mut self.checked().is_running, true) {
            return;
        }
        let (app, findings) = (Arc::clone(&self.app), Arc::clone(&self.findings));
        tokio::spawn(async move {
            let found = doctor::findings(&app).await;
            let mut checked = findings.lock();
            checked.is_running = false;
            checked.last.at = Some(app.now());
            checked.last.findings = match found {
                Ok(found) => found
                    .into_iter()
                    // The page says so, and has a button for it.
                    .filter(|(check, _)| *check != "projects")
                    .map(|(check, finding)| self::finding(check, finding))
                    .collect(),
                Err(failure) => vec![CheckFinding {
                    level: Level::Bad,
                    check: "checks".to_owned(),
                    what: failure.to_string(),
                    fix: Some("run `docent doctor` on the server".to_owned()),
                    docs_roots: Vec::new(),
                }],
            };
        });
    }
}

fn finding(check: &str, finding: doctor::Finding) -> CheckFinding {
    let (level, what, fix) = match finding {
        doctor::Finding::Good(what) => (Level::Good, what, None),
        doctor::Finding::Note(what) => (Level::Note, what, None),
        doctor::Finding::Bad { what, fix } => (Level::Bad, what, Some(fix)),
    };
    CheckFinding { level, check: check.to_owned(), what, fix, docs_roots: Vec::new() }
}

/// What was found in the repository of a project.
fn inspected(InspectedProject { project, docs }: &InspectedProject) -> Vec<CheckFinding> {
    let pages = format!("{} on `{}`, read as {}", projects::found(docs), project.branch, projects::read_as(docs));
    let mut checks = vec![finding("docs", doctor::Finding::Good(pages))];
    checks.extend(projects::proposed_roots(docs).map(|proposed| CheckFinding {
        level: Level::Note,
        check: "sites".to_owned(),
        what: format!("sites are configured below it: {}", proposed.listed),
        fix: Some("to serve one of them as its generator does, give its folder as the folder of the docs".to_owned()),
        docs_roots: proposed.folders,
    }));
    checks.extend(projects::work_tree(project).map(|what| CheckFinding {
        level: Level::Note,
        check: "repository".to_owned(),
        what,
        fix: Some(projects::BARE_CLONE.to_owned()),
        docs_roots: Vec::new(),
    }));
    checks
}

#[async_trait]
impl Operations for ServerOperations {
    fn docs(&self, project: &Project) -> Option<Arc<Snapshot>> {
        self.app.indexes.snapshot(project.uid).ok().flatten()
    }

    fn index(&self, project: &Project) -> IndexStatus {
        let state = self.app.index_states.of(project.uid);
        let docs = self.docs(project);
        IndexStatus {
            pages: docs.as_ref().map_or(0, |docs| docs.page_count()),
            commit: docs.as_ref().and_then(|docs| docs.commit().map(str::to_owned)),
            skipped: docs.as_ref().map(|docs| docs.skipped()).unwrap_or_default(),
            at: state.at,
            summary: state.summary,
            running: state.running,
            failure: state.failure,
        }
    }

    fn index_progress(&self, project: &Project) -> Option<(usize, usize)> {
        self.app.index_states.progress(project.uid)
    }

    fn reindex(&self, project: &Project) {
        self.app.index_states.want(project.uid);
    }

    async fn findings(&self) -> Findings {
        let last = self.checked().last.clone();
        if last.at.is_none_or(|at| self.app.now().since(at) > FRESH) {
            self.check();
        }
        last
    }

    fn offered_tokens(&self) -> Vec<String> {
        self.app.config.tokens.now().iter().map(|token| token.name().to_owned()).collect()
    }

    async fn check_project(&self, form: ProjectForm) -> Result<CheckedProject, ProjectError> {
        let app = &self.app;
        let offered = app.config.tokens.now();
        let options = project_form::options(&form, &offered)?;
        let branch = form.branch.clone();
        let branch = Some(branch.as_str()).filter(|branch| !branch.is_empty());
        let (project, looks) = match &form.of {
            None => {
                let uid = ProjectUid::new(app.ids.unguessable());
                let args = ProjectAdd { id: form.id.clone(), repo: form.repository.clone(), options };
                (projects::added(&args, uid, app.now())?, true)
            }
            Some(before) => {
                let args = ProjectSet { id: form.id.clone(), repo: Some(form.repository.clone()), options };
                let after = projects::changed(before, &args)?;
                let looks = projects::is_elsewhere(before, &after);
                (after, looks)
            }
        };
        project_form::keeps_secrets(&form, &project, &offered, app.config.github_app.is_some())?;
        if form.of.is_none() {
            app.is_free(&project).await?;
        }
        let (project, mut checks) = if looks {
            let found = projects::inspect(app, project, branch).await?;
            let checks = inspected(&found);
            (found.project, checks)
        } else {
            (project, Vec::new())
        };
        let of_project = doctor::of_project(app, &project).await;
        checks.extend(of_project.into_iter().map(|(check, finding)| self::finding(check, finding)));
        Ok(CheckedProject { project, checks })
    }

    async fn add(&self, project: Project) -> Result<(), ProjectError> {
        Ok(self.app.projects().add(project).await?)
    }

    async fn change(&self, project: Project) -> Result<(), ProjectError> {
        let gone = || ProjectError::Form { field: None, sentence: "the project was removed meanwhile".to_owned() };
        self.app.projects().replace(project).await?.map(drop).ok_or_else(gone)
    }

    async fn remove(&self, project: &Project) -> Result<(), BoxError> {
        self.app.remove_project(project).await.map_err(|failure| failure.to_string().into())
    }

    fn settings(&self) -> Vec<Setting> {
        let config = &self.app.config;
        let days = |kept: Option<Duration>| {
            kept.map_or_else(|| "for ever".to_owned(), |kept| format!("{} days", kept.as_secs() / 86_400))
        };
        let limits = &config.limits;
        let mut settings = vec![
            ("listen", config.listen.to_string()),
            ("public_url", config.public_url.clone().unwrap_or_else(|| "not given".to_owned())),
            ("data", config.data.display().to_string()),
            ("store", config.store.to_string()),
            ("agent.model", config.agent.model.clone()),
            ("agent.workers", config.agent.workers.to_string()),
            ("agent.jobs_at_once_per_project", config.agent.at_once_per_project.to_string()),
            ("assistant.model", config.assistant.model.clone()),
            ("assistant.thread_days", days(config.assistant.keep_threads)),
            ("assistant.resume_seconds", config.assistant.resumable.as_secs().to_string()),
            ("limits.agent_jobs_per_hour", limits.agent_jobs_per_hour.to_string()),
            ("limits.agent_messages_per_hour", limits.agent_messages_per_hour.to_string()),
            ("limits.assistant_requests_per_hour", limits.assistant_requests_per_hour.to_string()),
            (
                "limits.assistant_requests_per_address_per_day",
                limits.assistant_requests_per_address_per_day.to_string(),
            ),
            ("limits.assistant_replies_at_once", limits.assistant_replies_at_once.to_string()),
            ("retention.journal_days", days(config.retention.journals)),
            ("retention.job_days", days(config.retention.jobs)),
        ];
        settings.extend(config.github_app.as_ref().map(|app| ("github_app.id", app.id.clone())));
        settings.extend(config.openid.as_ref().map(|openid| ("openid.issuer", openid.issuer.clone())));
        let source = |key: &str| config.sources.get(key).cloned().unwrap_or_else(|| "default".to_owned());
        let settings =
            settings.into_iter().map(|(key, value)| Setting { key: key.to_owned(), source: source(key), value });
        let models = self.app.models.configured().map(|(name, model)| Setting {
            key: format!("models.{name}"),
            value: model.describe().to_string(),
            source: source(&format!("models.{name}.provider")),
        });
        let hooks = config.hooks.iter().flat_map(|hook| {
            let (url, secret) = (format!("{}.url", hook.key), format!("{}.secret_env", hook.key));
            [
                Setting { value: hook.url.to_string(), source: source(&url), key: url },
                Setting { value: hook.secret.to_string(), source: source(&secret), key: secret },
            ]
        });
        settings.chain(models).chain(hooks).collect()
    }

    async fn hooks(&self) -> Result<Vec<HookState>, BoxError> {
        let states = self.app.store.hook_states().await?;
        let of = |hook: &HookConfig| {
            let state = states.iter().find(|state| state.hook == hook.url.uri().to_string())?;
            Some(HookState { hook: hook.key.clone(), ..state.clone() })
        };
        Ok(self.app.config.hooks.iter().filter_map(of).collect())
    }
}
