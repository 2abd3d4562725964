//! The pull requests of the local forge.

use std::sync::Arc;
use std::time::Duration;

use docent_authoring::{Diff, DiffView, Updated};
use docent_forge::{PullRecord, State};
use docent_types::{Project, Refusal};
use docent_web::{HttpError, Response};
use maud::{Markup, html};
use uuid::Uuid;

use crate::dashboard::{Visit, busy, see};
use crate::diff::{self, Layout};
use crate::layout::{Section, button, danger, table};
use crate::pull_api::refusal;
use crate::route::PullAction;
use crate::text::{Foreign, moment};

/// Pull requests on a page.
const PAGE: u32 = 200;
/// Files of a change on a page, and the most lines and bytes of each.
const FILES: usize = 50;
const LINES_OF_EACH: usize = 400;
const BYTES_OF_EACH: usize = 64 << 10;
/// Of one that is looked at alone, at most.
const LINES_OF_ONE: usize = 2_000;
/// Of changes on a page, in bytes. Written as HTML they take up to seven times as much.
const BYTES: usize = 512 << 10;

pub(crate) async fn all(visit: &Visit<'_>) -> Result<Response, HttpError> {
    let projects = visit.parts().projects.projects().await.map_err(HttpError::internal)?;
    let mut pulls = Vec::new();
    for project in &projects {
        for record in visit.parts().pulls.list(&project.id, PAGE).await.map_err(HttpError::internal)? {
            pulls.push((project, record));
        }
    }
    pulls.sort_by_key(|(_, record)| std::cmp::Reverse(record.created_at));
    pulls.truncate(PAGE as usize);
    let body = html! {
        p.soft { "Pull requests of repositories on this machine. Those on GitHub, GitLab, Gitea and Forgejo are there." }
        (rows(visit, &pulls, true))
    };
    Ok(visit.page("Pull requests", Section::Pulls, None, &body))
}

pub(crate) async fn of_project(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let records = visit.parts().pulls.list(&project.id, PAGE).await.map_err(HttpError::internal)?;
    let pulls: Vec<_> = records.into_iter().map(|record| (project, record)).collect();
    let body = rows(visit, &pulls, false);
    Ok(visit.page("Pull requests", Section::Pulls, Some(project), &body))
}

/// The newest of some projects.
pub(crate) async fn latest(visit: &Visit<'_>, projects: &[Project], most: usize) -> Result<Markup, HttpError> {
    let mut pulls = Vec::new();
    for project in projects {
        let records = visit.parts().pulls.list(&project.id, u32::try_from(most).unwrap_or(PAGE)).await;
        pulls.extend(records.map_err(HttpError::internal)?.into_iter().map(|record| (project, record)));
    }
    pulls.sort_by_key(|(_, record)| std::cmp::Reverse(record.created_at));
    pulls.truncate(most);
    Ok(rows(visit, &pulls, projects.len() > 1))
}

fn rows(visit: &Visit<'_>, pulls: &[(&Project, PullRecord)], with_project: bool) -> Markup {
    let now = visit.parts().clock.now();
    let head = html! { th { "State" } th { "Pull request" } @if with_project { th { "Project" } } th { "Opened" } };
    let rows = html! {
        @for (project, record) in pulls {
            tr {
                td { (state(record)) }
                td { a href=(format_args!("/dashboard/{}/pulls/{}", project.domain, record.id)) { "#" (record.number) " " (Foreign(&record.title)) } }
                @if with_project { td { (project.domain) } }
                td { (moment(record.created_at, now)) }
            }
        }
    };
    html! { @if pulls.is_empty() { p.soft { "There are none." } } @else { (table("Pull requests", &head, &rows)) } }
}

fn state(record: &PullRecord) -> Markup {
    html! {
        span class=(format_args!("state {}", record.state.as_str())) {
            (record.state.as_str()) @if record.draft && record.state == State::Open { ", draft" }
        }
    }
}

/// The part of the changes that a request asks for.
enum Part {
    /// The beginning of each file's change, from this file on, counted from 0.
    Files { first: usize },
    /// One file's change, from this line on, counted from 0.
    File { path: String, line: usize },
}

impl Part {
    fn of(visit: &Visit<'_>) -> Result<Self, HttpError> {
        let number = |name| Ok::<_, HttpError>(visit.request.query_number(name, 1..=u32::MAX, 1)? as usize - 1);
        Ok(match visit.request.query("file") {
            Some(path) => Self::File { path: path.into_owned(), line: number("line")? },
            None => Self::Files { first: number("from")? },
        })
    }

    fn view(&self) -> DiffView {
        let view =
            DiffView { compared_bytes: 16 << 20, bytes: BYTES, time: Duration::from_secs(2), ..DiffView::default() };
        match self {
            Self::Files { first } => {
                DiffView { first_file: *first, files: FILES, lines: LINES_OF_EACH, file_bytes: BYTES_OF_EACH, ..view }
            }
            Self::File { path, line } => {
                DiffView { only: Some(path.clone()), first_line: *line, lines: LINES_OF_ONE, file_bytes: BYTES, ..view }
            }
        }
    }
}

async fn found(visit: &Visit<'_>, project: &Project, id: &str) -> Result<PullRecord, HttpError> {
    let missing = || HttpError::from(Refusal::not_found("This project has no such pull request; check the link."));
    let id = Uuid::try_parse(id).map_err(|_| missing())?;
    visit.parts().pulls.record(&project.id, id).await.map_err(HttpError::internal)?.ok_or_else(missing)
}

pub(crate) async fn pull(visit: &Visit<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let record = found(visit, project, id).await?;
    let part = Part::of(visit)?;
    let layout =
        if visit.request.query("layout").as_deref() == Some("split") { Layout::Split } else { Layout::Unified };
    let _place = Arc::clone(&visit.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?;
    let diff = visit.parts().pulls.changes(project, &record, part.view()).await;
    if let Err(error) = &diff {
        tracing::warn!(project = %project.id, error = error as &dyn std::error::Error, "cannot show the changes");
    }
    let here = format!("/dashboard/{}/pulls/{}", project.domain, record.id);
    let changes = match diff {
        Err(_) => None,
        // Megabytes of markup: not written where others wait.
        Ok(diff) => {
            let here = here.clone();
            let writes = tokio::task::spawn_blocking(move || changes(&diff, &part, layout, &here));
            Some(writes.await.map_err(HttpError::internal)?)
        }
    };
    let now = visit.parts().clock.now();
    let body = html! {
        p {
            (state(&record)) " " code { (Foreign(&record.head)) } " → " code { (Foreign(&record.base)) } ", opened " (moment(record.created_at, now))
            @if let Some(at) = record.ended_at { ", " (record.state.as_str()) " " (moment(at, now)) }
        }
        @if !record.body.trim().is_empty() { div.box { p.said { (Foreign(&record.body)) } } }
        @if record.state == State::Open {
            (button(visit.signed_in, &format!("{here}/merge"), "Merge"))
            (button(visit.signed_in, &format!("{here}/update"), "Update branch"))
            (danger(visit.signed_in, &format!("{here}/close"), "Close without merging",
                &html! { "The branch stays in the repository." }))
        }
        h2 { "Changes" }
        @match &changes {
            None => p { "The repository cannot be read at the moment. Look again later; the server's log says why." },
            Some(changes) => (changes),
        }
    };
    let title = format!("#{} {}", record.number, docent_types::printable(&record.title));
    Ok(visit.page(&title, Section::Pulls, Some(project), &body))
}

fn changes(diff: &Diff, part: &Part, layout: Layout, here: &str) -> Markup {
    if diff.files.is_empty() {
        return html! { p { "There are no changes." } };
    }
    html! {
        p {
            (diff::counts(diff)) " "
            @match layout {
                Layout::Unified => a href="?layout=split" { "Side by side" },
                Layout::Split => a href="?" { "One below the other" },
            }
        }
        @match part {
            Part::Files { first } => (diff::files(diff, *first, layout)),
            Part::File { line, .. } => { @for file in &diff.files { (diff::file_of(file, *line, layout)) } p { a href=(here) { "All files" } } },
        }
    }
}

pub(crate) async fn act(
    visit: &Visit<'_>,
    project: &Project,
    id: &str,
    action: PullAction,
) -> Result<Response, HttpError> {
    let record = found(visit, project, id).await?;
    let pulls = &visit.parts().pulls;
    let done = match action {
        PullAction::Merge => pulls.merge(project, &record).await.map(|_| "merged"),
        PullAction::Close => pulls.close(project, &record).await.map(|_| "closed"),
        PullAction::Update => pulls.update(project, &record).await.map(|updated| match updated {
            Updated::Merged => "updated",
            Updated::UpToDate => "up-to-date",
        }),
    };
    let done = done.map_err(refusal)?;
    let subject = format!("#{} {}", record.number, record.title);
    visit.audit(&format!("pull.{done}"), Some(&project.id), subject, None).await?;
    Ok(see(&format!("/dashboard/{}/pulls/{}?done={done}", project.domain, record.id)))
}
