//! Keeps the search indexes of all projects up to date with their repositories.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_authoring::Docs;
use docent_search::{EmbedSummary, Index, Progress, Summary};
use docent_types::{Project, ProjectUid};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::failure::Failure;
use crate::wiring::app::App;
use crate::wiring::sites::Sites;

/// Interval for checking the list of projects, and the indexes that other processes write.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval for fetching a repository without a notification of a change: what is pushed can be found within a minute.
const FETCH: Duration = Duration::from_secs(45);

impl App {
    /// Fetches a project's repository and updates its index.
    pub(crate) async fn index(
        &self,
        project: &Project,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<Summary, Failure> {
        let docs = self.repositories.docs(project).await?;
        self.index_docs(project, docs, progress).await
    }

    async fn index_docs(
        &self,
        project: &Project,
        docs: Docs,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<Summary, Failure> {
        let index = self.indexes.open(project.uid)?;
        update(index, docs, self.sites.clone(), project.clone(), progress).await
    }

    /// Embeds the sections that have no vector, if there is an embedder. Search by words works meanwhile.
    pub(crate) async fn embed(
        &self,
        project: &Project,
        drain: CancellationToken,
        mut progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<EmbedSummary, Failure> {
        if self.embedder.is_none() {
            return Ok(EmbedSummary::default());
        }
        let index = self.indexes.open(project.uid)?;
        let done = tokio::task::spawn_blocking(move || index.embed(&|| !drain.is_cancelled(), &mut progress)).await;
        Ok(done.map_err(|error| Failure::new("embedding stopped short", error))??)
    }

    async fn readable_projects(&self) -> Option<Vec<Project>> {
        match self.projects().projects().await {
            Ok(projects) => Some(projects),
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "could not read the projects");
                None
            }
        }
    }
}

async fn update(
    index: Arc<Index>,
    docs: Docs,
    sites: Sites,
    project: Project,
    mut progress: impl FnMut(Progress) + Send + 'static,
) -> Result<Summary, Failure> {
    let work = move || {
        sites.refresh(&project, &docs);
        index.update(&docs, &mut progress)
    };
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|error| Failure::new("indexing stopped short", error))??)
}

/// Reads the settings of all sites as they were last fetched, before the first request: whether a site is public is
/// among them.
pub(crate) async fn read_settings(app: &Arc<App>) {
    let projects = app.readable_projects().await.unwrap_or_default();
    let app = Arc::clone(app);
    let work = move || {
        for project in &projects {
            read_fetched_settings(&app, project);
        }
    };
    if let Err(error) = tokio::task::spawn_blocking(work).await {
        warn!(error = &error as &dyn std::error::Error, "could not read the settings of all sites");
    }
}

fn read_fetched_settings(app: &App, project: &Project) {
    if let Some(docs) = app.repositories.fetched_docs(project) {
        app.sites.refresh(project, &docs);
    }
}

/// Runs until the server drains.
pub(crate) async fn keep(app: Arc<App>, drain: CancellationToken) {
    // When each project was last fetched, and its properties then.
    let mut fetched: HashMap<ProjectUid, (Instant, Project)> = HashMap::new();
    // One refresh per project at a time, so that a later one cannot overtake a slow one.
    let mut running = JoinSet::new();
    let mut busy: HashSet<ProjectUid> = HashSet::new();
    while !drain.is_cancelled() {
        if let Err(error) = app.quarantine.tick() {
            warn!(error = &error as &dyn std::error::Error, "could not look at what is set aside");
        }
        while let Some(done) = running.try_join_next() {
            match done {
                Ok(project) => drop(busy.remove(&project)),
                // A panicked task does not tell its project, so all may be refreshed again, at worst one of them twice.
                Err(_) => busy.clear(),
            }
        }
        // If the store cannot be read, the projects are unknown, and nothing is changed.
        let projects = app.readable_projects().await;
        if let Some(projects) = &projects {
            let known: HashSet<ProjectUid> = projects.iter().map(|project| project.uid).collect();
            fetched.retain(|project, _| known.contains(project));
            app.indexes.keep_open(&known);
            app.sites.keep(&known);
            app.index_states.keep(&known);
        }
        for project in projects.unwrap_or_default() {
            load_external_index(&app, &project);
            let is_due = |(at, before): &(Instant, Project)| at.elapsed() >= FETCH || *before != project;
            let is_due = fetched.get(&project.uid).is_none_or(is_due);
            // A refresh that is requested during a refresh of the same project runs afterwards.
            if !busy.contains(&project.uid) && (app.index_states.take(project.uid) || is_due) {
                busy.insert(project.uid);
                fetched.insert(project.uid, (Instant::now(), project.clone()));
                let (app, drain) = (Arc::clone(&app), drain.clone());
                running.spawn(async move {
                    refresh(&app, &project).await;
                    let uid = project.uid;
                    // Embedding may take minutes, and the next refresh need not wait for it.
                    tokio::spawn(embed(app, project, drain));
                    uid
                });
            }
        }
        tokio::select! {
            () = drain.cancelled() => {}
            () = app.repositories.changed() => fetched.clear(),
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
    }
}

/// Loads an index that another process has written, with the site's settings for its assistant; of a new project also
/// the settings as last fetched, because fetching may not be possible now.
fn load_external_index(app: &App, project: &Project) {
    let is_new = match app.indexes.open(project.uid).and_then(|index| index.refresh()) {
        Ok(is_new) => is_new,
        Err(error) => {
            debug!(domain = %project.domain, error = &error as &dyn std::error::Error, "could not look at the index");
            return;
        }
    };
    if is_new || !app.sites.has_read(project.uid) {
        read_fetched_settings(app, project);
    }
}

async fn refresh(app: &App, project: &Project) {
    let began = Instant::now();
    app.index_states.begun(project.uid);
    let ended = |ended| app.index_states.ended(project.uid, app.now(), ended);
    let docs = match app.repositories.docs(project).await {
        Ok(docs) => docs,
        Err(error) => {
            // The next round reads the docs there.
            if !error.is_transient() && follow_default(app, project).await {
                return ended(Err("the default branch of the repository has another name".to_owned()));
            }
            app.missing_docs.note(project.uid, !error.is_transient());
            let failure = Failure::from(error);
            warn!(domain = %project.domain, "the docs cannot be read; `docent doctor` says what to change: {failure}");
            ended(Err(failure.to_string()));
            return;
        }
    };
    app.missing_docs.note(project.uid, false);
    let (states, uid) = (app.index_states.clone(), project.uid);
    let indexed = app.index_docs(project, docs, move |progress| states.went_on(uid, &progress)).await;
    ended(indexed.as_ref().map(Clone::clone).map_err(ToString::to_string));
    match indexed {
        Ok(summary) if !summary.published => {}
        Ok(summary) => info!(
            domain = %project.domain,
            pages = summary.pages,
            read = summary.added + summary.changed,
            skipped = summary.skipped.iter().map(|skipped| skipped.count).sum::<usize>(),
            millis = began.elapsed().as_millis(),
            "index is up to date"
        ),
        Err(failure) => warn!(domain = %project.domain, "the index was not updated: {failure}"),
    }
}

/// Moves a project to the branch that its repository calls its default, if that is what it follows and its own branch is
/// gone. Returns whether it was moved.
async fn follow_default(app: &App, project: &Project) -> bool {
    if !project.settings.follows_default {
        return false;
    }
    let Ok(mirror) = app.repositories.fetch(project).await else { return false };
    let is_gone = matches!(mirror.find_branch(&project.branch), Ok(None));
    let is_there = |branch: &String| matches!(mirror.find_branch(branch), Ok(Some(_)));
    let Some(branch) = mirror.default_branch().filter(|branch| is_gone && is_there(branch)) else { return false };
    // The owner may have changed it meanwhile.
    let now = app.projects().by_id(&project.id).await.ok().flatten();
    let Some(now) = now.filter(|now| now.branch == project.branch && now.settings.follows_default) else {
        return false;
    };
    let moved = Project { branch, ..now };
    let replaced = app.projects().replace(moved.clone()).await;
    if matches!(replaced, Ok(Some(_))) {
        info!(domain = %project.domain, from = project.branch, to = moved.branch, "the default branch has another name");
        return true;
    }
    false
}

/// Embeds the sections that have no vector. While this runs for a domain, another call for the domain does nothing.
async fn embed(app: Arc<App>, project: Project, drain: CancellationToken) {
    match app.embed(&project, drain, |_| ()).await {
        Ok(summary) if summary.embedded == 0 => {}
        Ok(summary) => info!(domain = %project.domain, embedded = summary.embedded, "sections have vectors"),
        Err(failure) => warn!(domain = %project.domain, "some sections have no vectors yet: {failure}"),
    }
}
