//! The event stream of live pages.
//!
//! One stream serves all tabs of a browser: the tab that reads it forwards events to the others. An event says only
//! that something is new (and carries the text an agent is writing, which is stored nowhere else); the page then
//! fetches what it lacks. So a lost event, or a restart of the server, leaves nothing missing and nothing duplicated.

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use docent_jobs::{JobUpdate, Jobs, Watch};
use docent_types::{JobEvent, JobId, JobStatus, Project, ProjectId};
use docent_web::{HttpError, Response, framed, respond, with_keep_alive};
use futures::stream::{BoxStream, SelectAll, StreamExt};
use futures::{future, stream};
use serde_json::{Value, json};

use crate::dashboard::{DashboardParts, Visit};

/// Maximum number of topics of a stream: a browser has no more tabs in view.
const MOST_TOPICS: usize = 16;
/// Polling interval of lists, and of a job that has ended.
const GLANCE: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(15);
/// Maximum duration of a stream. The browser then reconnects by itself, and its session is checked again.
const LIFE: Duration = Duration::from_secs(600);

pub(crate) async fn stream(visit: &Visit<'_>) -> Result<Response, HttpError> {
    let parts = visit.parts();
    let query = visit.request.raw_query().unwrap_or_default();
    let mut topics: Vec<String> = form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| name == "topic")
        .map(|(_, topic)| topic.into_owned())
        .take(MOST_TOPICS)
        .collect();
    topics.sort();
    topics.dedup();
    let mut all: SelectAll<BoxStream<'static, Value>> = SelectAll::new();
    for topic in topics {
        match topic.split(':').collect::<Vec<_>>().as_slice() {
            ["jobs"] => all.push(lists(parts.clone()).boxed()),
            ["job", domain, id] => {
                // A topic of an unknown project or job has no events.
                let Ok(project) = visit.dashboard.project(domain).await else { continue };
                let Some(id) = JobId::parse(id) else { continue };
                all.push(job(parts.jobs.clone(), project, id, topic.clone()).boxed());
            }
            _ => {}
        }
    }
    let draining = visit.request.draining().clone();
    let end = async move {
        future::select(Box::pin(tokio::time::sleep(LIFE)), Box::pin(async move { draining.begun().await })).await;
    };
    // Keeps the stream open when there is no topic.
    all.push(stream::pending().boxed());
    let events = all.take_until(Box::pin(end));
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
    let alive = with_keep_alive(bytes, Bytes::from_static(b": keep-alive\n\n"), SILENCE);
    Ok(respond::stream("text/event-stream", alive))
}

/// Emits an event when a job of any project was written, or the progress of an index changed; at most once a second.
fn lists(parts: DashboardParts) -> impl stream::Stream<Item = Value> + Send {
    stream::unfold((parts, None), |(parts, mut before)| async move {
        loop {
            let now = progress(&parts).await;
            let is_new = before.as_ref().is_some_and(|before| *before != now);
            before = Some(now);
            tokio::time::sleep(GLANCE).await;
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

/// Emits an event when a job's journal grew, and with the text that its agent is writing.
fn job(jobs: Jobs, project: Project, id: JobId, topic: String) -> impl stream::Stream<Item = Value> + Send {
    stream::unfold((jobs, project.id, None::<Watch>), move |(jobs, project, watch)| {
        let topic = topic.clone();
        async move {
            let Some(mut watch) = watch else {
                // Entries that were written since the page was rendered are not announced; this event makes the page
                // fetch them.
                let watch = begun(&jobs, &project, id).await?;
                return Some((json!({ "topic": topic }), (jobs, project, Some(watch))));
            };
            loop {
                match watch.next().await {
                    Ok(Some(JobUpdate::Entry(entry))) => {
                        return Some((json!({ "topic": topic, "seq": entry.seq }), (jobs, project, Some(watch))));
                    }
                    Ok(Some(JobUpdate::Live(JobEvent::Delta { at, text }))) => {
                        let event = json!({ "topic": topic, "at": at, "delta": text });
                        return Some((event, (jobs, project, Some(watch))));
                    }
                    Ok(Some(JobUpdate::Live(_))) => {}
                    Ok(None) => {
                        // The job has ended, until it gets a further instruction.
                        drop(watch);
                        wait_for_more(&jobs, &project, id).await?;
                        return Some((json!({ "topic": topic }), (jobs, project, None)));
                    }
                    Err(error) => {
                        tracing::warn!(error = &error as &dyn std::error::Error, job = %id, "a live page lost its job");
                        return None;
                    }
                }
            }
        }
    })
}

async fn begun(jobs: &Jobs, project: &ProjectId, id: JobId) -> Option<Watch> {
    let last = jobs.last_entry(project, id).await.ok()?;
    jobs.watch(project, id, last).await.ok()
}

async fn wait_for_more(jobs: &Jobs, project: &ProjectId, id: JobId) -> Option<()> {
    loop {
        tokio::time::sleep(GLANCE).await;
        if jobs.job(project, id).await.ok()?.status == JobStatus::Active {
            return Some(());
        }
    }
}
