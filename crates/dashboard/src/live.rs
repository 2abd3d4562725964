//! The event stream of live pages.
//!
//! One stream serves all tabs of a browser: the tab that reads it forwards events to the others. An event says only
//! that something is new (and carries the text an agent is writing, which is stored nowhere else); the page then
//! fetches what it lacks. So a lost event, or a restart of the server, leaves nothing missing and nothing duplicated.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docent_jobs::{JobUpdate, Jobs, Watch};
use docent_search::Snapshot;
use docent_types::{JobEvent, JobId, JobStatus, Project, ProjectId};
use docent_web::{HttpError, Response, framed, respond, with_keep_alive};
use futures::stream;
use futures::stream::{BoxStream, SelectAll, StreamExt};
use maud::Markup;
use serde_json::{Value, json};

use crate::dashboard::{AuthorizedRequest, DashboardParts};
use crate::words::{GrowingWords, Place};

/// Maximum number of topics of a stream: a browser has no more tabs in view.
const MAX_TOPICS: usize = 16;
/// Polling interval of lists, and of a job that has ended.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Maximum duration of a stream. The browser then reconnects by itself, which counts as a request of its session.
const MAX_STREAM_DURATION: Duration = Duration::from_secs(600);

pub(crate) async fn stream(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let parts = request.parts();
    let query = request.http.raw_query().unwrap_or_default();
    let mut topics: Vec<String> = form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| name == "topic")
        .map(|(_, topic)| topic.into_owned())
        .take(MAX_TOPICS)
        .collect();
    topics.sort();
    topics.dedup();
    let mut topic_events: SelectAll<BoxStream<'static, Value>> = SelectAll::new();
    for topic in topics {
        match topic.split(':').collect::<Vec<_>>().as_slice() {
            ["jobs"] => topic_events.push(list_changes(parts.clone()).boxed()),
            ["job", domain, id] => {
                // A topic of an unknown project or job has no events.
                let Ok(project) = request.dashboard.project(domain).await else { continue };
                let Some(id) = JobId::parse(id) else { continue };
                topic_events.push(job_changes(request, project, id, topic.clone()).boxed());
            }
            _ => {}
        }
    }
    let draining = request.http.draining().clone();
    let session_ended = request.session_ended();
    let end = async move {
        tokio::select! {
            () = tokio::time::sleep(MAX_STREAM_DURATION) => {}
            () = draining.begun() => {}
            () = session_ended => {}
        }
    };
    // Keeps the stream open when there is no topic.
    topic_events.push(stream::pending().boxed());
    let events = topic_events.take_until(Box::pin(end));
    let mut has_begun = false;
    let bytes = framed(events, move |event, out| {
        if !std::mem::replace(&mut has_begun, true) {
            out.extend_from_slice(b"retry: 1000\n\n");
        }
        if let Some(event) = event {
            out.extend_from_slice(format!("data: {event}\n\n").as_bytes());
        }
        ControlFlow::Continue(())
    });
    let body = with_keep_alive(bytes, Bytes::from_static(b": keep-alive\n\n"), KEEP_ALIVE_INTERVAL);
    Ok(respond::stream("text/event-stream; charset=utf-8", body))
}

/// Emits an event when a job of any project was written, or the progress of an index changed; at most once a second.
fn list_changes(parts: DashboardParts) -> impl stream::Stream<Item = Value> + Send {
    stream::unfold((parts, None), |(parts, mut before)| async move {
        loop {
            let now = progress(&parts).await;
            let is_new = before.as_ref().is_some_and(|before| *before != now);
            before = Some(now);
            tokio::time::sleep(POLL_INTERVAL).await;
            if is_new {
                return Some((json!({ "topic": "jobs" }), (parts, before)));
            }
        }
    })
}

/// The state that lists depend on: the number of writes to jobs, and the progress of each index.
async fn progress(parts: &DashboardParts) -> (Option<u64>, Vec<Option<(usize, usize)>>) {
    let projects = parts.projects.projects().await.unwrap_or_default();
    let indexes = projects.iter().map(|project| parts.operations.index_progress(project)).collect();
    (parts.jobs.changes(), indexes)
}

/// Emits an event when a job's journal grew, and with the text that its agent is writing, rendered.
fn job_changes(
    request: &AuthorizedRequest<'_>,
    project: Project,
    id: JobId,
    topic: String,
) -> impl stream::Stream<Item = Value> + Send + use<> {
    let (jobs, prefix) = (request.parts().jobs.clone(), request.dashboard.prefix.clone());
    let docs = request.read_docs(&project);
    let changes = JobChanges { jobs, project, docs, id, watch: None, words: GrowingWords::default() };
    stream::unfold(changes, move |mut changes| {
        let (topic, prefix) = (topic.clone(), prefix.clone());
        async move {
            let event = match changes.next().await? {
                JobChange::Journal => json!({ "topic": topic }),
                JobChange::Words(html) => json!({ "topic": topic, "words": prefix.in_html(&html.into_string()) }),
            };
            Some((event, changes))
        }
    })
}

enum JobChange {
    Journal,
    /// What the agent has written of its next entry.
    Words(Markup),
}

struct JobChanges {
    jobs: Jobs,
    project: Project,
    /// Names of their files become links.
    docs: Option<Arc<Snapshot>>,
    id: JobId,
    watch: Option<Watch>,
    words: GrowingWords,
}

impl JobChanges {
    async fn next(&mut self) -> Option<JobChange> {
        let Self { jobs, project, docs, id, watch, words } = self;
        let Some(watching) = watch else {
            // Entries that were written since the page was rendered are not announced; this event makes the page
            // fetch them.
            *watch = Some(watch_new_entries(jobs, &project.id, *id).await?);
            return Some(JobChange::Journal);
        };
        loop {
            match watching.next().await {
                Ok(Some(JobUpdate::Entry(_))) => {
                    *words = GrowingWords::default();
                    return Some(JobChange::Journal);
                }
                Ok(Some(JobUpdate::Live(JobEvent::Delta { at, text }))) => {
                    if at == 0 {
                        *words = GrowingWords::default();
                    }
                    let place = Place::of(project, docs.as_deref());
                    if let Some(html) = words.push(&text, place) {
                        return Some(JobChange::Words(html));
                    }
                }
                Ok(Some(JobUpdate::Live(_))) => {}
                Ok(None) => {
                    // The job has ended, until it gets a further instruction.
                    *watch = None;
                    wait_for_more(jobs, &project.id, *id).await?;
                    return Some(JobChange::Journal);
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, job = %id, "a live page lost its job");
                    return None;
                }
            }
        }
    }
}

async fn watch_new_entries(jobs: &Jobs, project: &ProjectId, id: JobId) -> Option<Watch> {
    let last = jobs.last_entry(project, id).await.ok()?;
    jobs.watch(project, id, last).await.ok()
}

async fn wait_for_more(jobs: &Jobs, project: &ProjectId, id: JobId) -> Option<()> {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        if jobs.job(project, id).await.ok()?.status == JobStatus::Active {
            return Some(());
        }
    }
}
