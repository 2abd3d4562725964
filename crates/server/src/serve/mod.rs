//! The server: starts, serves and drains.

mod open_files;
mod operations;
mod project_form;
mod readiness;
mod refresh;
mod retention;
mod signals;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_dashboard::{Dashboard, DashboardParts};
use docent_discovery::{Answering, Replies};
use docent_jobs::{Engine, EngineConfig, Jobs, ModelNames};
use docent_llm::Model as _;
use docent_operators::Operators;
use docent_types::{Refusal, RefusalKind};
use docent_web::{ErrorShape, Handler, HttpError, Methods, Request, Response, respond};
use http::StatusCode;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::config::{Config, RunsOn};
use crate::data_folder::ServeLock;
use crate::failure::Failure;
use crate::metrics::{self, Metrics};
use crate::serve::operations::ServerOperations;
use crate::serve::readiness::Readiness;
use crate::wiring::app::App;
use crate::wiring::missing_docs::IndexedDocs;
use crate::wiring::{hooks, identity_provider};

use self::signals::Signals;
pub(crate) use self::signals::{second_signal, shutdown_signal};

/// How long a server that starts waits for a database that serves nobody yet, as when both are started at once.
const LONGEST_START: Duration = Duration::from_secs(60);
/// Maximum time for running jobs to finish their step after the server begins to drain.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that accepts connections and runs jobs.
pub(crate) struct RunningServer {
    app: Arc<App>,
    address: SocketAddr,
    url: String,
    drain: CancellationToken,
    http: JoinHandle<docent_web::Drained>,
    engine: JoinHandle<()>,
    background_tasks: Vec<JoinHandle<()>>,
    lock: ServeLock,
    signals: Signals,
}

/// Starts all services. The server accepts connections when this returns.
pub(crate) async fn start(config: Config) -> Result<RunningServer, Failure> {
    let started = Instant::now();
    // Before signals are listened to: one ends the process that waits for its database at once.
    let app = Arc::new(App::open_within(LONGEST_START, config).await?);
    let config = &app.config;
    // Whoever sees that the server listens may end it at once.
    let signals = Signals::listen()?;
    let listener = TcpListener::bind(config.listen).await.map_err(|error| {
        Failure::new(format!("cannot listen on {}; choose another address with --listen", config.listen), error)
    })?;
    let address =
        listener.local_addr().map_err(|error| Failure::new("cannot tell which address is listened on", error))?;
    let url = config.public_url.as_deref().map_or_else(|| format!("http://{address}"), str::to_owned);
    if config.public_url.is_none() && address.ip().is_unspecified() {
        warn!(
            "links to pull requests and jobs say {url}, which nobody else can open: set `public_url` to the address people \
             reach this server at"
        );
    }
    let lock = ServeLock::take(&app.config.data).await?;
    for exposed in &app.exposed {
        warn!("{exposed}");
    }
    app.models.announce(&app.config);
    refresh::read_settings(&app).await;
    let operators = operators(&app, &url)?;
    let drain = CancellationToken::new();

    let hooks = app.config.hooks.iter().map(hooks::hook).collect::<Result<_, _>>()?;
    let hooks = hooks::hooks(&app, hooks);
    while let Err(error) = hooks.register().await {
        if !error.is_unavailable() || started.elapsed() > LONGEST_START {
            return Err(error.into());
        }
        warn!(error = &error as &dyn std::error::Error, "the hooks could not be stored; trying again");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }

    let holder = format!("{}-{}", std::process::id(), app.ids.unguessable().as_simple());
    let (workers, per_project) = (app.config.agent.workers, app.config.agent.at_once_per_project);
    let engine_config = EngineConfig { workers, per_project, ..EngineConfig::new(holder) };
    let engine = Engine::new(app.jobs.clone(), Arc::new(app.author(&url)), engine_config);
    if !app.is_shared() {
        let orphans = engine.take_over().await?;
        if orphans > 0 {
            info!(jobs = orphans, "taking up the jobs of a server that stopped in the middle");
        }
    }
    let metrics = Metrics::new(app.now(), app.models.calls().clone(), Arc::clone(engine.times()))
        .with_assistant(Arc::clone(&app.assistant))
        .with_questions(app.embedder.clone())
        .with_hooks(hooks.clone());
    let disk = metrics.disk().clone().keep(app.config.data.clone(), drain.clone());
    let engine = tokio::spawn(engine.run(drain.clone()));
    let house = Router::new(&app, operators, address, drain.clone(), metrics);
    let replies = count_replies_elsewhere(Arc::clone(&app), house.v2.answering.replies.clone());
    let shutdown = drain.clone().cancelled_owned();
    let ids = Arc::clone(&app.ids);
    let limits = open_files::limits(app.config.agent.workers);
    let http = tokio::spawn(docent_web::serve(listener, house, limits, ids, shutdown));
    let mut background_tasks = spawn_background_tasks(&app, &drain);
    background_tasks.extend([tokio::spawn(hooks.run(drain.clone())), tokio::spawn(disk), tokio::spawn(replies)]);
    lock.announce(&app.config.public_url.clone().unwrap_or_else(|| local_url(address)))?;
    Ok(RunningServer { app, address, url, drain, http, engine, background_tasks, lock, signals })
}

/// The URL of the server on its own machine.
fn local_url(address: SocketAddr) -> String {
    format!("http://{}", local_address(address))
}

/// Where a server that listens there is reached on its own machine: one that listens on all addresses is reached by loopback.
pub(crate) fn local_address(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// Starts the background tasks, after the server began to answer requests.
fn spawn_background_tasks(app: &Arc<App>, drain: &CancellationToken) -> Vec<JoinHandle<()>> {
    let mut background_tasks = vec![
        tokio::spawn(refresh::keep(Arc::clone(app), drain.clone())),
        tokio::spawn(follow_other_servers(app.jobs.clone())),
        tokio::spawn(retention::keep_jobs(app.jobs.clone(), app.config.retention, drain.clone())),
        tokio::spawn(retention::keep_operators(app.operators.clone(), drain.clone())),
    ];
    if let Some(untouched) = app.config.assistant.keep_threads {
        background_tasks.push(tokio::spawn(retention::keep_threads(
            Arc::clone(&app.assistant),
            untouched,
            drain.clone(),
        )));
        background_tasks.push(tokio::spawn(retention::keep_searches(app.searches.clone(), untouched, drain.clone())));
    }
    background_tasks
}

/// Passes on what other servers on the same store write to jobs.
async fn follow_other_servers(jobs: Jobs) {
    jobs.follow_other_processes().await;
}

/// Counts the replies of other servers on the same store towards the limits of their sites, while any run on this one.
async fn count_replies_elsewhere(app: Arc<App>, replies: Replies) {
    if !app.is_shared() {
        return;
    }
    let mut is_known_to_run = false;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let running = replies.running();
        if running.is_empty() && !is_known_to_run {
            continue;
        }
        is_known_to_run = !running.is_empty();
        // Without the database a node answers no questions; what it knew of others is soon wrong.
        let elsewhere = app.store.share_running_replies(running).await.unwrap_or_default();
        // A node that makes no reply does not ask again, so what it was told would stay.
        replies.count_elsewhere(if is_known_to_run { elsewhere } else { BTreeMap::new() });
    }
}

impl RunningServer {
    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL by which people reach the server, without a trailing slash.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Runs until SIGINT, SIGTERM or SIGHUP, then drains. A second SIGINT or SIGTERM ends the process immediately:
    /// everything accepted is in the store, and is resumed at the next start.
    pub(crate) async fn until_shutdown(mut self) -> Result<(), Failure> {
        self.signals.first().await;
        info!("draining; a second signal stops at once");
        let quarantine = self.app.quarantine.clone();
        let second = tokio::spawn(async move {
            if second_signal().await.is_ok() {
                quarantine.close();
                std::process::exit(1);
            }
        });
        let stopped = self.stop().await;
        second.abort();
        stopped
    }

    /// Stops accepting, lets responses and steps finish, and closes.
    pub(crate) async fn stop(self) -> Result<(), Failure> {
        self.drain.cancel();
        if let Ok(drained) = self.http.await
            && drained.cut > 0
        {
            warn!(connections = drained.cut, "cut connections that did not end in time");
        }
        let mut engine = self.engine;
        if tokio::time::timeout(PATIENCE, &mut engine).await.is_err() {
            warn!("jobs that did not stop in time are taken up at the next start");
            engine.abort();
        }
        for task in self.background_tasks {
            task.abort();
        }
        self.app.quarantine.close();
        self.app.searches.flush().await;
        self.app.store.close().await?;
        drop(self.lock);
        Ok(())
    }
}

/// The operators, with sign-in at an identity provider if one is configured.
fn operators(app: &App, url: &str) -> Result<Operators, Failure> {
    let Some(sign_in) = app.config.openid.clone() else { return Ok(app.operators.clone()) };
    let roles = sign_in.roles.clone();
    let url = format!("{url}/dashboard/-/sign-in/openid/return");
    let provider = identity_provider::set_up(sign_in, url, Arc::clone(&app.clock))?;
    Ok(app.operators.clone().with_provider(provider, roles))
}

/// Routes each request to the API, the dashboard or the files of the chat, by its path.
struct Router {
    v1: docent_http_v1::Api,
    v2: docent_http_v2::Api,
    mcp: docent_mcp::ToolServer,
    dashboard: Dashboard,
    metrics: Metrics,
    app: Arc<App>,
    drain: CancellationToken,
    readiness: Readiness,
}

impl Handler for Router {
    async fn handle(&self, mut request: Request) -> Response {
        let begun = Instant::now();
        let mut unknown_client = None;
        if let Some(proxies) = &self.app.config.proxies {
            let values = request.header_values(proxies.header.as_str());
            match proxies.client(request.peer().ip(), values) {
                Ok(client) => request.comes_from(client),
                Err(refusal) => unknown_client = Some(refusal),
            }
        }
        let metered = metrics::route_of(&request);
        let response = if let Some(refusal) = unknown_client {
            self.refused(&request, refusal)
        } else if !request.method().is_safe() && self.drain.is_cancelled() {
            self.refused(&request, draining())
        } else if let Some(route) = docent_http_v2::Route::parse(&request) {
            self.v2.answer(Some(route), request).await
        } else {
            // Most requests are not for these routes, so their future is boxed to keep this one small.
            Box::pin(self.answer_others(request)).await
        };
        self.metrics.answered(metered, begun.elapsed(), response)
    }
}

impl Router {
    /// Refuses a request before it is parsed.
    fn refused(&self, request: &Request, refusal: Refusal) -> Response {
        if docent_http_v1::Route::parse(request).is_some() {
            return self.v1.refused(request, refusal);
        }
        if docent_mcp::Audience::parse(request).is_some() {
            return self.mcp.refused(request, refusal);
        }
        self.v2.refused(request, refusal)
    }

    async fn answer_others(&self, mut request: Request) -> Response {
        if let Some(route) = docent_http_v1::Route::parse(&request) {
            return self.v1.answer(route, request).await;
        }
        if let Some(audience) = docent_mcp::Audience::parse(&request) {
            return self.mcp.answer(audience, request).await;
        }
        if let Some(response) = docent_api_docs::answer(&request) {
            return response;
        }
        if let Some(response) = self.dashboard.answer(&mut request).await {
            return response;
        }
        if let Some(answer) = docent_widget::answer(&request) {
            return answer.unwrap_or_else(|error| error.response(request.id(), ErrorShape::Error));
        }
        let answer = match request.segments().as_slice() {
            ["healthz"] => self.probe(&request, async || Ok(healthy())).await,
            ["readyz"] => self.probe(&request, async || self.ready().await.map(|()| healthy())).await,
            ["metrics"] => self.probe(&request, async || Ok(self.metrics.exposed(&self.app).await)).await,
            // Unknown paths are refused by the API, with the headers that its callers expect.
            _ => return self.v2.handle(request).await,
        };
        answer.unwrap_or_else(|error| error.response(request.id(), ErrorShape::Error))
    }
}

fn healthy() -> Response {
    respond::json(StatusCode::OK, &json!({ "status": "ok" }))
}

fn draining() -> Refusal {
    let kind = RefusalKind::Unavailable(Duration::from_secs(5));
    Refusal::new(kind, "the server is draining; send the request again to another node, or to this one in a moment")
}

/// What stands behind the name of each model: the provider's name for it, or `builtin`.
fn models_behind(app: &App) -> BTreeMap<String, String> {
    let models: BTreeMap<&str, String> =
        app.models.configured().map(|(name, model)| (name, model.describe().model)).collect();
    let provided = |name: &str| models.get(name).cloned().unwrap_or_else(|| name.to_owned());
    let name_of = |name: &String, runs_on: &RunsOn| match runs_on {
        RunsOn::Other(other) => provided(other),
        RunsOn::Itself => provided(name),
        RunsOn::Builtin => "builtin".to_owned(),
    };
    app.config.offered.iter().map(|(name, runs_on)| (name.clone(), name_of(name, runs_on))).collect()
}

impl Router {
    /// The server listens on `address`.
    fn new(
        app: &Arc<App>,
        operators: Operators,
        address: SocketAddr,
        drain: CancellationToken,
        metrics: Metrics,
    ) -> Self {
        let models = ModelNames {
            offered: app.config.offered.keys().cloned().collect(),
            default: app.config.agent.model.clone(),
        };
        let answering = Answering {
            assistant: Arc::clone(&app.assistant),
            docs: Arc::new(IndexedDocs {
                indexes: Arc::clone(&app.indexes),
                states: app.index_states.clone(),
                missing: app.missing_docs.clone(),
            }),
            replies: Replies::at_once(app.config.limits.assistant_replies_at_once.get())
                .resumable_for(app.config.assistant.resumable),
            searches: app.searches.clone(),
        };
        let metrics = metrics.with_replies(answering.replies.clone());
        let v1 = docent_http_v1::Api {
            access: app.access.clone(),
            jobs: app.jobs.clone(),
            models: models.clone(),
            answering: answering.clone(),
            events_of: docent_authoring::job_events,
        };
        let v2 = docent_http_v2::Api {
            access: app.access.clone(),
            jobs: app.jobs.clone(),
            models: models.clone(),
            answering: answering.clone(),
            events_of: docent_authoring::job_events,
            clock: Arc::clone(&app.clock),
        };
        let mcp = docent_mcp::ToolServer {
            access: app.access.clone(),
            jobs: app.jobs.clone(),
            models: models.clone(),
            answering,
            job_json: docent_http_v2::job_json,
            public_url: app.config.public_url.clone(),
        };
        let dashboard = Dashboard::new(DashboardParts {
            operators,
            access: app.access.clone(),
            projects: Arc::clone(&app.store) as _,
            keys: Arc::clone(&app.store) as _,
            jobs: app.jobs.clone(),
            models: models.clone(),
            models_behind: models_behind(app),
            has_language_model: app.models.configured().any(|(_, model)| !model.describe().is_builtin()),
            assistant: Arc::clone(&app.assistant),
            searches: app.searches.clone(),
            assistants: app
                .models
                .callable()
                .map(|(name, model)| {
                    let price = app.config.prices.models.get(&name).copied();
                    (name, Arc::new(app.assistant.on(model, price)))
                })
                .collect(),
            pulls: app.pulls(),
            operations: Arc::new(ServerOperations::new(Arc::clone(app))),
            clock: Arc::clone(&app.clock),
            prices: app.config.prices.clone(),
            public_url: app.config.public_url.clone(),
            local_url: local_url(address),
        });
        let readiness = Readiness::new(app.config.data.clone(), Arc::clone(&app.store));
        Self { v1, v2, mcp, dashboard, metrics, app: Arc::clone(app), drain, readiness }
    }

    async fn probe(
        &self,
        request: &Request,
        check: impl AsyncFnOnce() -> Result<Response, HttpError>,
    ) -> Result<Response, HttpError> {
        if request.method() == http::Method::OPTIONS {
            return Ok(Methods::GET.options());
        }
        Methods::GET.check(request.method())?;
        check().await
    }

    async fn ready(&self) -> Result<(), HttpError> {
        if self.drain.is_cancelled() {
            return Err(draining().into());
        }
        let kind = RefusalKind::Unavailable(Duration::from_secs(5));
        self.readiness.check().await.map_err(|sentence| Refusal::new(kind, sentence).into())
    }
}
