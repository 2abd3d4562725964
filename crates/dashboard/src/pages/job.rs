//! One job: its plan and its journal, newest first and live while it runs; the next instruction; its journal as a file.

use std::sync::Arc;

use bytes::Bytes;
use docent_jobs::Jobs;
use docent_types::{AgentJob, JobId, JobStatus, Project, Todo, TodoStatus, printable};
use docent_web::{HttpError, Response, respond};
use futures::stream;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, busy, page, redirect};
use crate::layout::{Section, danger, token};
use crate::pages::jobs::{instruction, prompt, pull_link, state};
use crate::pages::journal::{self, BATCH, JournalFilter, JournalPage};
use crate::text::{Untrusted, in_url, relative_time, shortened};
use crate::turns::Turns;

/// Maximum length of an instruction in a URL, in bytes.
const MAX_PROMPT_BYTES_IN_URL: usize = 2_000;

async fn found(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<(JobId, Arc<AgentJob>), HttpError> {
    let id = Jobs::id(&project.id, id)?;
    Ok((id, request.parts().jobs.job(&project.id, id).await?))
}

pub(crate) async fn job(request: &AuthorizedRequest<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let (id, job) = found(request, project, id).await?;
    let filter = JournalFilter::of(request);
    let journal_page = JournalPage::of(request);
    // A filter may have to read the whole journal.
    let _place = match filter.is_open() {
        true => None,
        false => Some(Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?),
    };
    let rows = journal::page(request, project, id, &filter, journal_page).await?;
    let turns = request.dashboard.turns.of(&request.parts().jobs, project, id).await?;
    let here = format!("/dashboard/{}/jobs/{id}", project.domain);
    let is_live = filter.is_open() && journal_page == JournalPage::Newest;
    let topic = is_live.then(|| format!("job:{}:{id}", project.domain));
    let prompt = prompt(request, &job).await?;
    let query = filter.query();
    let body = html! {
        (head(request, &job, &turns, &here))
        (controls(request, &job, &here, prompt.as_deref()))
        h2 { "What happened" }
        form.row method="get" {
            div { label for="text" { "Contains" } input #text name="text" value=(filter.text()); }
            div {
                label for="tool" { "Tool" }
                select #tool name="tool" {
                    option value="" { "any" }
                    @for name in filter.tools() { option selected[name == filter.tool()] { (name) } }
                }
            }
            label.tick { input type="checkbox" name="only" value="failed" checked[filter.is_only_failed()]; "only what failed" }
            button.quiet type="submit" { "Filter" }
            @if !is_live { a href=(here) { "All, newest first" } }
            a href=(format_args!("{here}/journal.ndjson")) { "Journal as NDJSON" }
        }
        pre.said #saying aria-hidden="true" {}
        @if rows.rows.is_empty() { p.soft { "Nothing here." } }
        div data-live=[topic] data-rows data-last=(rows.last) data-events=(format_args!("{here}/events")) {
            @for row in &rows.rows { (row) }
        }
        nav.pages aria-label="Pages" {
            @if let Some(newer) = rows.newer { a rel="prev" href=(format_args!("?{query}after={newer}")) { "Newer" } }
            // Hidden without older rows, but there: the script of a live page shows it when it removes rows.
            a rel="next" href=(format_args!("?{query}before={}", rows.older.unwrap_or(1))) hidden[rows.older.is_none()] { "Older" }
        }
    };
    let title =
        prompt.map_or_else(|| job.source.branch.clone(), |prompt| shortened(&printable(&prompt), 100).into_owned());
    Ok(request.page(&title, Section::Jobs, Some(project), &body))
}

/// What a live page lacks: the head, and the rows after the last one it has.
pub(crate) async fn events(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let (id, job) = found(request, project, id).await?;
    let after = request.http.query("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let rows = journal::new(request, project, id, after).await?;
    let turns = request.dashboard.turns.of(&request.parts().jobs, project, id).await?;
    let here = format!("/dashboard/{}/jobs/{id}", project.domain);
    let html = html! {
        (head(request, &job, &turns, &here))
        div data-rows data-last=(rows.last) data-more[rows.newer.is_some()] { @for row in &rows.rows { (row) } }
    };
    Ok(page(StatusCode::OK, html))
}

/// The head of a job's page: everything but the journal.
fn head(request: &AuthorizedRequest<'_>, job: &AgentJob, turns: &Turns, here: &str) -> Markup {
    let now = request.parts().clock.now();
    let cost = |usage| request.parts().prices.cost(&job.model, usage);
    let is_active = job.status == JobStatus::Active;
    html! {
        section #job-head {
            p {
                (state(job.status)) " " @if is_active { span.live { "running or waiting" } " " }
                "made " (relative_time(job.created_at, now)) " on " code { (job.source.branch) } ", model " (job.model) @if job.as_draft { ", as a draft" } " "
                (pull_link(job))
                @if job.pr_link.is_some() { " " a href=(format_args!("{here}/changes")) { "Changes" } }
            }
            @if let Some(message) = &job.message {
                div class=(if job.status == JobStatus::Failed { "box bad" } else { "box" }) { p.said { (Untrusted(message)) } }
            }
            @if !job.todos.is_empty() { (plan(&job.todos)) }
            (turns.table(here, now, cost))
        }
    }
}

fn plan(todos: &[Todo]) -> Markup {
    html! {
        h2 { "Plan" }
        ol.plan {
            @for todo in todos {
                li class=(status(todo.status)) { (Untrusted(&todo.content)) span.soft { " " (status(todo.status).replace('_', " ")) } }
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

fn controls(request: &AuthorizedRequest<'_>, job: &AgentJob, here: &str, prompt: Option<&str>) -> Markup {
    if !request.is_editor() {
        return Markup::default();
    }
    // Longer addresses are refused by some proxies.
    let prompt = prompt.filter(|prompt| prompt.len() <= MAX_PROMPT_BYTES_IN_URL);
    html! {
        @if job.status == JobStatus::Archived { p.soft { "An archived job takes no more instructions." } }
        @else {
            form.fields method="post" action=(format_args!("{here}/message")) {
                (token(request.signed_in))
                div { label for="message" { "What next?" } small.hint #message-hint { "The agent goes on on the same branch and the same pull request." } textarea #message aria-describedby="message-hint" name="message" rows="3" required {} }
                div { button type="submit" { "Send" } }
            }
            @if let Some(prompt) = prompt { p { a href=(format_args!("/dashboard/{}/jobs/new?prompt={}", job.domain, in_url(prompt))) { "Do it again" } } }
            (danger(request.signed_in, &format!("{here}/archive"), "Archive",
                &html! { @if job.status == JobStatus::Active { "The job is stopped. " } "It takes no more instructions; its branch and pull request stay." }))
        }
    }
}

pub(crate) async fn message(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let (id, _) = found(request, project, id).await?;
    let messages = instruction(request.form.text("message"))?;
    request.parts().jobs.follow_up(&project.id, id, messages, None).await?;
    request.audit("job.message", Some(&project.id), id.to_string(), None).await;
    Ok(redirect(&format!("/dashboard/{}/jobs/{id}?done=sent", project.domain)))
}

pub(crate) async fn archive(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let (id, _) = found(request, project, id).await?;
    request.parts().jobs.archive(&project.id, id).await?;
    request.audit("job.archive", Some(&project.id), id.to_string(), None).await;
    Ok(redirect(&format!("/dashboard/{}/jobs/{id}?done=archived", project.domain)))
}

/// The whole journal, one entry per line, read while it is sent.
pub(crate) async fn journal(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let (id, _) = found(request, project, id).await?;
    let (jobs, project) = (request.parts().jobs.clone(), project.id.clone());
    let lines = stream::unfold(Some(0), move |after| {
        let (jobs, project) = (jobs.clone(), project.clone());
        async move {
            let entries = jobs.journal(&project, id, after?, BATCH as u32).await.unwrap_or_else(|error| {
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
