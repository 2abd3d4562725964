//! The first page of a docs team: what runs, what happened, what readers did not find, and what is wrong.

use docent_assistant::{AskedTurn, ExportQuery, QuestionFilter, QuestionOutcome};
use docent_jobs::JobQuery;
use docent_types::{AgentJob, JobStatus, Project, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::layout::{Section, button};
use crate::operations::{CheckFinding, IndexStatus, Level};
use crate::pages::analytics::{date, last_days};
use crate::pages::jobs;
use crate::pages::pulls;
use crate::text::{Untrusted, counted, relative_time, shortened};

/// Days whose unanswered questions are shown, today included.
const UNANSWERED_DAYS: u32 = 7;
/// Jobs and pull requests on the first page.
const MAX_LATEST: usize = 8;
/// Maximum count of active jobs and of unanswered questions of a project; larger counts are shown as `100+`.
const MAX_COUNT: u32 = 100;
const MAX_QUESTIONS: usize = 5;

pub(crate) async fn home(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let parts = request.parts();
    let projects = parts.projects.projects().await.map_err(HttpError::internal)?;
    let now = parts.clock.now();
    let findings = parts.operations.findings().await;
    let mut rows = Vec::new();
    for project in &projects {
        let active = active(request, project).await?;
        let unanswered = unanswered(request, project, now).await?;
        rows.push((project, active, unanswered, parts.operations.index(project)));
    }
    let running = sum(rows.iter().map(|(_, active, ..)| active.len()));
    let missed = sum(rows.iter().map(|(_, _, unanswered, _)| unanswered.len()));
    let bad: Vec<&CheckFinding> = findings.findings.iter().filter(|finding| finding.level == Level::Bad).collect();
    let body = html! {
        div data-live="jobs" {
            ul.tiles {
                li { b { (running) } a href="/dashboard/-/jobs?status=active" { "jobs running or waiting" } }
                li { b { (missed) } a href="#projects" { "questions without an answer in seven days" } }
                li { b { (projects.len()) } a href="/dashboard/-/projects" { @if projects.len() == 1 { "project" } @else { "projects" } } }
                li { b { (bad.len()) } a href="#findings" { "things to mend" } }
            }
            @if projects.is_empty() {
                div.box {
                    p { "There is no project yet. A project is a git repository with docs; Docent answers from it and opens pull requests on it." }
                    p { a.button href="/dashboard/-/projects/new" { "Add a project" } }
                }
            } @else {
                h2 #projects { "Projects" }
                (project_table(&rows, now))
                h2 { "Latest jobs" }
                (jobs::table_of(&jobs::latest(request, &projects, MAX_LATEST).await?, now, true))
                h2 { "Latest pull requests" }
                (pulls::latest(request, &projects, MAX_LATEST).await?)
            }
            h2 #findings { "What is wrong" }
            @match findings.at {
                None => p.soft { "Not checked yet. The checks run in the background, once they are done they stand here." },
                Some(at) => {
                    p.soft { "Checked " (relative_time(at, now)) "." }
                    (finding_list(&findings.findings))
                }
            }
        }
    };
    Ok(request.page("Home", Section::Home, None, &body))
}

/// A count that is limited to [`MAX_COUNT`], as text.
fn at_least(count: usize) -> String {
    let more = if count >= MAX_COUNT as usize { "+" } else { "" };
    format!("{count}{more}")
}

/// The sum of such limited counts.
fn sum(counts: impl Iterator<Item = usize>) -> String {
    let (mut sum, mut more) = (0, "");
    for count in counts {
        sum += count;
        if count >= MAX_COUNT as usize {
            more = "+";
        }
    }
    format!("{sum}{more}")
}

fn project_table(rows: &[(&Project, Vec<AgentJob>, Vec<AskedTurn>, IndexStatus)], now: Timestamp) -> Markup {
    let head = html! { th { "Project" } th.num { "Jobs now" } th.num { "Unanswered" } th { "Index" } };
    let body = html! {
        @for (project, active, unanswered, index) in rows {
            tr {
                td { a href=(format_args!("/dashboard/{}", project.domain)) { (project.domain) } }
                td.num { a href=(format_args!("/dashboard/{}/jobs?status=active", project.domain)) { (at_least(active.len())) } }
                td.num { a href=(unanswered_list(project, now)) { (at_least(unanswered.len())) } }
                td { (index_line(index, now)) }
            }
        }
    };
    crate::layout::table("Projects", &head, &body)
}

pub(crate) fn index_line(index: &IndexStatus, now: Timestamp) -> Markup {
    html! {
        @if let Some((_, 0)) = index.running { "being fetched" }
        @else if let Some((done, total)) = index.running {
            "being read: " (done) " of " (total) " files "
            progress value=(done) max=(total) aria-label="Files read" {}
        }
        @else if let Some(why) = &index.failure { span.state.bad { "failed" } " " (Untrusted(why)) }
        @else if index.commit.is_none() { "not read yet" }
        @else { (counted(index.pages as u64, "page")) @if let Some(at) = index.at { ", " (relative_time(at, now)) } }
    }
}

pub(crate) fn finding_list(findings: &[CheckFinding]) -> Markup {
    let mut notable: Vec<&CheckFinding> = findings.iter().filter(|finding| finding.level != Level::Good).collect();
    notable.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    html! {
        @if notable.is_empty() { p { "Nothing. " (counted(findings.len() as u64, "check")) " passed." } }
        @for finding in notable {
            div class=(format_args!("box {}", finding.level.as_str())) {
                p { strong { (finding.check) } ": " (Untrusted(&finding.what)) }
                @if let Some(fix) = &finding.fix { p { "→ " (Untrusted(fix)) } }
            }
        }
    }
}

async fn active(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Vec<AgentJob>, HttpError> {
    let status = Some(JobStatus::Active);
    let query = JobQuery { project: project.id.clone(), status, after: None, skip: 0, limit: MAX_COUNT };
    Ok(request.parts().jobs.list(query).await?)
}

/// The path of the list of questions that [`unanswered`] counts.
fn unanswered_list(project: &Project, now: Timestamp) -> String {
    format!(
        "/dashboard/{}/conversations?which=unanswered&from={}",
        project.domain,
        date(last_days(UNANSWERED_DAYS, now).0)
    )
}

async fn unanswered(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    now: Timestamp,
) -> Result<Vec<AskedTurn>, HttpError> {
    let query = ExportQuery {
        domain: project.domain.clone(),
        which: QuestionFilter::of_outcome(QuestionOutcome::Unanswered),
        from: Some(last_days(UNANSWERED_DAYS, now).0),
        to: None,
        after: None,
        limit: MAX_COUNT,
        most_bytes: 1 << 20,
    };
    Ok(request.parts().assistant.export(query).await.map_err(HttpError::internal)?.turns)
}

/// The first page of a project.
pub(crate) async fn project(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let parts = request.parts();
    let now = parts.clock.now();
    let jobs = jobs::latest(request, std::slice::from_ref(project), MAX_LATEST).await?;
    let active = active(request, project).await?;
    let unanswered = unanswered(request, project, now).await?;
    let index = parts.operations.index(project);
    let domain = &project.domain;
    let body = html! {
        div data-live="jobs" {
            p.soft { code { (docent_types::repository_url(&project.repository)) } " on " code { (project.branch) } @if !project.docs_root.is_empty() { ", below " code { (project.docs_root) } } }
            ul.tiles {
                li { b { (at_least(active.len())) } a href=(format_args!("/dashboard/{domain}/jobs?status=active")) { "jobs running or waiting" } }
                li { b { (at_least(unanswered.len())) } a href=(unanswered_list(project, now)) { "questions without an answer in seven days" } }
                li { b { (index.pages) } "pages indexed" }
            }
            p { @if request.is_editor() { a.button href=(format_args!("/dashboard/{domain}/jobs/new")) { "New job" } " " } a.button.quiet href=(format_args!("/dashboard/{domain}/playground")) { "Ask a question" } }
            h2 { "Latest jobs" }
            (jobs::table_of(&jobs, now, false))
            h2 { "Latest pull requests" }
            (pulls::latest(request, std::slice::from_ref(project), MAX_LATEST).await?)
            h2 { "Unanswered in seven days" }
            @if unanswered.is_empty() { p.soft { "None." } }
            ul {
                @for unanswered_turn in unanswered.iter().take(MAX_QUESTIONS) {
                    li { a href=(format_args!("/dashboard/{domain}/conversations/{}", unanswered_turn.thread)) { (Untrusted(&shortened(&unanswered_turn.turn.question, 200))) } " " (relative_time(unanswered_turn.turn.asked_at, now)) }
                }
            }
            h2 { "Index" }
            (index_details(request, project, &index, now))
        }
    };
    Ok(request.page(project.domain.as_str(), Section::Home, Some(project), &body))
}

fn index_details(request: &AuthorizedRequest<'_>, project: &Project, index: &IndexStatus, now: Timestamp) -> Markup {
    html! {
        p { (index_line(index, now)) @if let Some(commit) = &index.commit { ", at commit " code { (shortened(commit, 12)) } } }
        @if request.is_editor() { (button(request.signed_in, &format!("/dashboard/{}/reindex", project.domain), "Fetch and index now")) }
        @if let Some(summary) = &index.summary {
            p.soft { "Read as " (summary.generator) "." }
        }
        @if !index.skipped.is_empty() {
            h3 { "Files that are not pages readers find" }
            ul { @for skipped in &index.skipped {
                li { (counted(skipped.count as u64, "file")) ": " (skipped.reason.label()) " (" (Untrusted(&skipped.examples.join(", "))) @if skipped.count > skipped.examples.len() { ", …" } ")" }
            } }
        }
        @if let Some(summary) = index.summary.as_ref().filter(|summary| !summary.odd.is_empty()) {
            h3 { "What was odd" }
            details { summary { (counted(summary.odd_in_all as u64, "line")) }
                ul { @for odd in summary.odd.iter().take(100) { li { code { (Untrusted(&odd.file)) ":" (odd.line) } " " (Untrusted(&odd.message)) } } }
            }
        }
    }
}
