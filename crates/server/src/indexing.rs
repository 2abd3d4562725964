//! Keeps the search indexes of all projects true to their repositories.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_search::{Index, Progress, Summary};
use docent_types::{Domain, Project};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::app::App;
use crate::failure::Failure;

/// How often the projects and the indexes other processes have made are looked at.
const GLANCE: Duration = Duration::from_secs(1);
/// How often a repository is fetched when nobody says that it changed.
const FETCH: Duration = Duration::from_secs(60);

impl App {
    /// Fetches a project's repository and brings its index up to date.
    pub(crate) async fn index(
        &self,
        project: &Project,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<Summary, Failure> {
        let index = self.indexes.open(&project.domain)?;
        let docs = self.repositories.docs(project).await?;
        update(index, docs, progress).await
    }
}

async fn update(
    index: Arc<Index>,
    docs: docent_authoring::Docs,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<Summary, Failure> {
    let work = move || index.update(&docs, &mut progress);
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|error| Failure::new("indexing stopped short", error))??)
}

/// Runs until the server drains.
pub(crate) async fn keep(app: Arc<App>, drain: CancellationToken) {
    let mut fetched: HashMap<Domain, Instant> = HashMap::new();
    let mut running = JoinSet::new();
    while !drain.is_cancelled() {
        while running.try_join_next().is_some() {}
        let projects = app.store_projects().await;
        fetched.retain(|domain, _| projects.iter().any(|project| project.domain == *domain));
        for project in projects {
            glance(&app, &project);
            let due = fetched.get(&project.domain).is_none_or(|at| at.elapsed() >= FETCH);
            if due {
                fetched.insert(project.domain.clone(), Instant::now());
                let app = Arc::clone(&app);
                running.spawn(async move { refresh(&app, &project).await });
            }
        }
        tokio::select! {
            () = drain.cancelled() => {}
            () = app.repositories.changed() => fetched.clear(),
            () = tokio::time::sleep(GLANCE) => {}
        }
    }
}

/// Takes up an index that another process has made.
fn glance(app: &App, project: &Project) {
    let looked = app.indexes.open(&project.domain).and_then(|index| index.refresh());
    if let Err(error) = looked {
        debug!(domain = %project.domain, error = &error as &dyn std::error::Error, "could not look at the index");
    }
}

async fn refresh(app: &App, project: &Project) {
    let began = Instant::now();
    match app.index(project, |_| ()).await {
        Ok(summary) if !summary.published => {}
        Ok(summary) => info!(
            domain = %project.domain,
            pages = summary.pages,
            read = summary.added + summary.changed,
            millis = began.elapsed().as_millis(),
            "index is up to date"
        ),
        Err(failure) => warn!(domain = %project.domain, "the index is as old as before: {failure}"),
    }
}

impl App {
    async fn store_projects(&self) -> Vec<Project> {
        match self.projects().projects().await {
            Ok(projects) => projects,
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "could not read the projects");
                Vec::new()
            }
        }
    }
}
