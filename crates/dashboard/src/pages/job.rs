//! One job: its plan and its journal, newest first and live while it runs; the next instruction; its journal as a file.

use bytes::Bytes;
use docent_authoring::job_events;
use docent_jobs::{Entry, Jobs};
use docent_types::{AgentJob, JobEvent, JobId, JobStatus, Project, Timestamp, Todo, TodoStatus};
use docent_web::{HttpError, Response, respond};
use futures::stream;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use maud::{Markup, html};

use crate::dashboard::{Visit, page, see};
use crate::layout::{Section, danger, token};
use crate::pages::jobs::{instruction, prompt, pull_link, state};
use crate::text::{Foreign, counted, in_url, moment, shortened};

/// Entries of a journal on a page, and in an answer to a live page.
const ENTRIES: u64 = 300;
/// Entries read at a time while a journal is sent as a file or searched.
const BATCH: u32 = 500;
/// The most entries that are looked through for a filter.
const SEARCHED: u64 = 50_000;
/// The longest piece of a tool's input or output that is shown, in characters. The file has the rest.
const LONGEST_SHOWN: usize = 4_000;
/// The longest instruction that goes into an address, in bytes.
const LONGEST_IN_URL: usize = 2_000;

/// Which entries are shown.
#[derive(Default)]
struct Filter {
    only_failed: bool,
    text: String,
    /// Entries before this one.
    before: Option<u64>,
}

impl Filter {
    fn of(visit: &Visit<'_>) -> Self {
        let query = |name| visit.request.query(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        Self {
            only_failed: query("only") == "failed",
            text: query("text").to_lowercase(),
            before: query("before").parse().ok(),
        }
    }

    fn is_open(&self) -> bool {
        !self.only_failed && self.text.is_empty()
    }

    fn has(&self, events: &[JobEvent]) -> bool {
        let is_failed = |event: &JobEvent| match event {
            JobEvent::Answered { is_error, .. } => *is_error,
            JobEvent::StartedOver { .. } | JobEvent::Waiting { .. } => true,
            JobEvent::Status { status, .. } => *status == JobStatus::Failed,
            _ => false,
        };
        let says = |event: &JobEvent| self.text.is_empty() || words(event).to_lowercase().contains(&self.text);
        events.iter().any(|event| (!self.only_failed || is_failed(event)) && says(event))
    }
}

/// Rows of a journal, newest first.
struct Rows {
    rows: Vec<(Entry, Vec<JobEvent>)>,
    /// The number of the newest entry that was looked at.
    last: u64,
    /// Where the next page begins, if the journal goes on.
    before: Option<u64>,
}

async fn found(visit: &Visit<'_>, project: &Project, id: &str) -> Result<(JobId, std::sync::Arc<AgentJob>), HttpError> {
    let id = Jobs::id(&project.id, id)?;
    Ok((id, visit.parts().jobs.job(&project.id, id).await?))
}

pub(crate) async fn job(visit: &Visit<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let (id, job) = found(visit, project, id).await?;
    let now = visit.parts().clock.now();
    let filter = Filter::of(visit);
    let rows = newest(visit, project, id, &filter).await?;
    let here = format!("/dashboard/{}/jobs/{id}", project.domain);
    let is_live = filter.is_open() && filter.before.is_none();
    let topic = is_live.then(|| format!("job:{}:{id}", project.domain));
    let prompt = prompt(visit, &job).await?;
    let body = html! {
        (head(&job, now))
        (controls(visit, &job, &here, prompt.as_deref()))
        h2 { "What happened" }
        form.row method="get" {
            div { label for="text" { "Contains" } input #text name="text" value=(filter.text); }
            label.tick { input type="checkbox" name="only" value="failed" checked[filter.only_failed]; "only what failed" }
            button.quiet type="submit" { "Filter" }
            @if !is_live { a href=(here) { "All, newest first" } }
            a href=(format_args!("{here}/journal.ndjson")) { "Journal as NDJSON" }
        }
        pre.said #saying aria-hidden="true" {}
        @if rows.rows.is_empty() { p.soft { "Nothing here." } }
        div data-live=[topic] data-last=(rows.last) data-events=(format_args!("{here}/events")) {
            @for (entry, events) in &rows.rows { (row(entry, events, now)) }
        }
        @if let Some(before) = rows.before {
            nav.pages aria-label="Pages" { a rel="next" href=(format_args!("?before={before}&text={}{}", in_url(&filter.text), if filter.only_failed { "&only=failed" } else { "" })) { "Older" } }
        }
    };
    Ok(visit.page(&format!("Job on {}", job.source.branch), Section::Jobs, Some(project), &body))
}

/// What a live page lacks: the head, and the rows after the last one it has.
pub(crate) async fn events(visit: &Visit<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let (id, job) = found(visit, project, id).await?;
    let now = visit.parts().clock.now();
    let after = visit.request.query("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let entries = visit.parts().jobs.journal(&project.id, id, after, ENTRIES as u32).await?;
    let last = entries.last().map_or(after, |entry| entry.seq);
    let is_more = entries.len() as u64 == ENTRIES;
    let html = html! {
        (head(&job, now))
        div data-rows data-last=(last) data-more[is_more] {
            @for entry in entries.iter().rev() {
                @let events = job_events(entry);
                @if !events.is_empty() { (row(entry, &events, now)) }
            }
        }
    };
    Ok(page(StatusCode::OK, html))
}

/// The newest entries that a filter has, read backwards.
async fn newest(visit: &Visit<'_>, project: &Project, id: JobId, filter: &Filter) -> Result<Rows, HttpError> {
    let jobs = &visit.parts().jobs;
    let last = jobs.last_entry(&project.id, id).await?;
    let mut before = filter.before.unwrap_or(last + 1).min(last + 1);
    let (mut rows, mut looked) = (Vec::new(), 0);
    while before > 1 && (rows.len() as u64) < ENTRIES && looked < SEARCHED {
        let after = before.saturating_sub(u64::from(BATCH) + 1);
        let limit = u32::try_from(before - 1 - after).unwrap_or(BATCH);
        let batch = jobs.journal(&project.id, id, after, limit).await?;
        looked += u64::from(limit);
        before = after + 1;
        for entry in batch.into_iter().rev() {
            let events = job_events(&entry);
            if events.is_empty() || !filter.has(&events) {
                continue;
            }
            if rows.len() as u64 == ENTRIES {
                before = entry.seq + 1;
                return Ok(Rows { rows, last, before: Some(before) });
            }
            rows.push((entry, events));
        }
    }
    Ok(Rows { rows, last, before: (before > 1).then_some(before) })
}

/// What a job is, without its journal.
fn head(job: &AgentJob, now: Timestamp) -> Markup {
    let is_active = job.status == JobStatus::Active;
    html! {
        section #job-head {
            p {
                (state(job.status)) " " @if is_active { span.live { "running or waiting" } " " }
                "made " (moment(job.created_at, now)) ", model " (job.model) @if job.as_draft { ", as a draft" } " "
                (pull_link(job))
            }
            @if let Some(message) = &job.message {
                div class=(if job.status == JobStatus::Failed { "box bad" } else { "box" }) { p.said { (Foreign(message)) } }
            }
            @if !job.todos.is_empty() { (plan(&job.todos)) }
        }
    }
}

fn plan(todos: &[Todo]) -> Markup {
    html! {
        h2 { "Plan" }
        ol.plan {
            @for todo in todos {
                li class=(status(todo.status)) { (Foreign(&todo.content)) span.soft { " " (status(todo.status).replace('_', " ")) } }
            }
        }
    }
}

const fn status(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
        TodoStatus::Cancelled => "cancelled",
    }
}

fn controls(visit: &Visit<'_>, job: &AgentJob, here: &str, prompt: Option<&str>) -> Markup {
    // Longer addresses are refused by some proxies.
    let prompt = prompt.filter(|prompt| prompt.len() <= LONGEST_IN_URL);
    html! {
        @if job.status == JobStatus::Archived { p.soft { "An archived job takes no more instructions." } }
        @else {
            form.fields method="post" action=(format_args!("{here}/message")) {
                (token(visit.signed_in))
                div { label for="message" { "What next?" } small.hint #message-hint { "The agent goes on on the same branch and the same pull request." } textarea #message aria-describedby="message-hint" name="message" rows="3" required {} }
                div { button type="submit" { "Send" } }
            }
            @if let Some(prompt) = prompt { p { a href=(format_args!("/dashboard/{}/jobs/new?prompt={}", job.domain, in_url(prompt))) { "Do it again" } } }
            (danger(visit.signed_in, &format!("{here}/archive"), "Archive",
                &html! { @if job.status == JobStatus::Active { "The job is stopped. " } "It takes no more instructions; its branch and pull request stay." }))
        }
    }
}

/// One entry of a journal.
fn row(entry: &Entry, events: &[JobEvent], now: Timestamp) -> Markup {
    let failed = events.iter().any(|event| matches!(event, JobEvent::Answered { is_error: true, .. }));
    html! {
        article class=(if failed { "event failed" } else { "event" }) id=(format_args!("e{}", entry.seq)) {
            header { a href=(format_args!("#e{}", entry.seq)) { "#" (entry.seq) } " " (moment(entry.at, now)) }
            @for event in events { (shown(event)) }
        }
    }
}

fn shown(event: &JobEvent) -> Markup {
    html! {
        @match event {
            JobEvent::Asked { text } => { strong { "Instruction" } p.text { (Foreign(text)) } },
            JobEvent::Said { text } | JobEvent::Delta { text, .. } => p.text { (Foreign(text)) },
            JobEvent::Called { name, input, .. } => (folded(&format!("Calls {name}"), &serde_json::to_string_pretty(input).unwrap_or_default(), true)),
            JobEvent::Answered { output, is_error, .. } => (folded(if *is_error { "Failed" } else { "Result" }, output, *is_error)),
            JobEvent::Replied { usage, .. } => p.soft { (counted(usage.input_tokens, "token")) " in, " (counted(usage.output_tokens, "token")) " out" },
            JobEvent::Planned { todos } => p.soft { "The plan has " (counted(todos.len() as u64, "step")) "." },
            JobEvent::StartedOver { why } => p { "Started over: " (Foreign(why)) },
            JobEvent::Waiting { why, until } => p { "Waits until " time datetime=(until) { (until) } ": " (Foreign(why)) },
            JobEvent::Pushed { commit } => p { "Pushed commit " code { (shortened(commit, 12)) } },
            JobEvent::PullRequest { url } => p { "Pull request: " (Foreign(url)) },
            JobEvent::Status { status, .. } => p { (state(*status)) },
        }
    }
}

fn folded(title: &str, text: &str, is_open: bool) -> Markup {
    let is_long = text.chars().nth(LONGEST_SHOWN).is_some();
    html! {
        details open[is_open && text.len() < 400] {
            summary { (Foreign(title)) }
            pre { (Foreign(&shortened(text, LONGEST_SHOWN))) }
            @if is_long { p.soft { "Shortened; the journal as NDJSON has all of it." } }
        }
    }
}

/// What a filter looks for text in.
fn words(event: &JobEvent) -> String {
    match event {
        JobEvent::Asked { text } | JobEvent::Said { text } | JobEvent::Delta { text, .. } => text.clone(),
        JobEvent::Called { name, input, .. } => format!("{name} {input}"),
        JobEvent::Answered { output, .. } => output.clone(),
        JobEvent::StartedOver { why } | JobEvent::Waiting { why, .. } => why.clone(),
        JobEvent::Pushed { commit } => commit.clone(),
        JobEvent::PullRequest { url } => url.clone(),
        JobEvent::Status { message, status, .. } => format!("{} {}", status.as_str(), message.as_deref().unwrap_or("")),
        JobEvent::Planned { todos } => todos.iter().map(|todo| todo.content.as_str()).collect::<Vec<_>>().join(" "),
        JobEvent::Replied { .. } => String::new(),
    }
}

pub(crate) async fn message(visit: &Visit<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let (id, _) = found(visit, project, id).await?;
    let messages = instruction(visit.form.text("message"))?;
    visit.parts().jobs.follow_up(&project.id, id, messages, None).await?;
    visit.audit("job.message", Some(&project.id), id.to_string(), None).await?;
    Ok(see(&format!("/dashboard/{}/jobs/{id}?done=sent", project.domain)))
}

pub(crate) async fn archive(visit: &Visit<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let (id, _) = found(visit, project, id).await?;
    visit.parts().jobs.archive(&project.id, id).await?;
    visit.audit("job.archive", Some(&project.id), id.to_string(), None).await?;
    Ok(see(&format!("/dashboard/{}/jobs/{id}?done=archived", project.domain)))
}

/// The whole journal, an entry a line, read while it is sent.
pub(crate) async fn journal(visit: &Visit<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let (id, _) = found(visit, project, id).await?;
    let (jobs, project) = (visit.parts().jobs.clone(), project.id.clone());
    let lines = stream::unfold(Some(0), move |after| {
        let (jobs, project) = (jobs.clone(), project.clone());
        async move {
            let entries = jobs.journal(&project, id, after?, BATCH).await.unwrap_or_else(|error| {
                tracing::warn!(error = &error as &dyn std::error::Error, job = %id, "a journal was cut off");
                Vec::new()
            });
            let last = entries.last()?.seq;
            let mut text = Vec::new();
            for entry in &entries {
                if serde_json::to_writer(&mut text, entry).is_ok() {
                    text.push(b'\n');
                }
            }
            Some((Bytes::from(text), Some(last)))
        }
    });
    let mut response = respond::stream("application/x-ndjson", lines);
    let name = format!("attachment; filename=\"job-{id}.ndjson\"");
    if let Ok(name) = HeaderValue::try_from(name) {
        response.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    Ok(response)
}
