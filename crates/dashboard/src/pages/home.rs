//! The first page of a docs team: what runs, what happened, what readers did not find, and what is wrong.

use docent_assistant::{AskedTurn, Days, ExportQuery, QuestionFilter, QuestionOutcome};
use docent_jobs::JobQuery;
use docent_types::{AgentJob, JobStatus, Project, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::forge_links::{branch, repository};
use crate::icon::{Icon, Tone, badge};
use crate::layout::{Section, View};
use crate::operations::{CheckFinding, Findings, IndexStatus, Level};
use crate::pages::analytics::{date, last_days, sparkline};
use crate::pages::jobs;
use crate::pages::pulls;
use crate::parts::{Column, button, empty, notice, table};
use crate::text::{Sentence, Untrusted, counted, grouped, relative_time, shortened};
use crate::words::{Place, file_name, first_words};

/// Days whose questions are drawn, today included.
const DRAWN_DAYS: u32 = 30;
/// Days whose unanswered questions are shown, today included.
const UNANSWERED_DAYS: u32 = 7;
/// Jobs and pull requests on the first page.
const MAX_LATEST: usize = 8;
/// Maximum count of active jobs and of unanswered questions of a project; larger counts are shown as `100+`.
const MAX_COUNT: u32 = 100;
const MAX_QUESTIONS: usize = 5;

pub(crate) async fn home(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let parts = request.parts();
    let projects = &request.frame.projects;
    let now = parts.clock.now();
    let findings = parts.operations.findings().await;
    let mut rows = Vec::new();
    for project in projects {
        let active = active(request, project).await?;
        let unanswered = unanswered(request, project, now).await?;
        rows.push((project, active, unanswered, parts.operations.index(project)));
    }
    let is_owner = request.is_owner();
    let is_wrong = count_wrong(&findings) > 0;
    let body = html! {
        div data-live="jobs" {
            @if projects.is_empty() {
                (empty(
                    Icon::Projects,
                    "There is no project yet",
                    "A project is a git repository with docs. Docent answers readers' questions from it, and opens pull requests on it.",
                    is_owner.then_some(("/dashboard/-/projects/new", "Add a project")),
                ))
            } @else {
                (tiles(&rows, &findings))
                @if is_wrong { (checks(&findings, now)) }
                (project_table(&rows, now))
                h2 { "Latest jobs" }
                @match (jobs::latest(request, projects, MAX_LATEST).await?, projects.first()) {
                    (jobs, Some(project)) if jobs.is_empty() => (jobs::none_yet(request, project)),
                    (jobs, _) => (jobs::table_of(request, &jobs, now, true).await),
                }
                h2 { "Latest pull requests" }
                (pulls::latest(request, projects, MAX_LATEST).await?)
            }
            @if !is_wrong || projects.is_empty() { (checks(&findings, now)) }
        }
    };
    let actions = html! { @if is_owner && !projects.is_empty() { a.button.secondary href="/dashboard/-/projects/new" { (Icon::Add) "Add a project" } } };
    Ok(request.show(View::new("Home", Section::Home, None).with(actions), &body))
}

fn count_wrong(findings: &Findings) -> usize {
    findings.findings.iter().filter(|finding| finding.level == Level::Bad).count()
}

type ProjectRow<'p> = (&'p Project, Vec<AgentJob>, Vec<AskedTurn>, IndexStatus);

fn tiles(rows: &[ProjectRow<'_>], findings: &Findings) -> Markup {
    let running = sum(rows.iter().map(|(_, active, ..)| active.len()));
    let missed = sum(rows.iter().map(|(_, _, unanswered, _)| unanswered.len()));
    let bad = count_wrong(findings);
    html! {
        ul.tiles {
            li { b { (running) } a href="/dashboard/-/jobs?status=active" { @if running == "1" { "job runs or waits" } @else { "jobs run or wait" } } }
            li { b { (missed) } a href="#projects" { @if missed == "1" { "question" } @else { "questions" } " without an answer in seven days" } }
            li { b { (rows.len()) } a href="/dashboard/-/projects" { @if rows.len() == 1 { "project" } @else { "projects" } } }
            @if bad > 0 { li { b.down { (bad) } a href="#findings" { @if bad == 1 { "thing to mend" } @else { "things to mend" } } } }
        }
    }
}

/// What the checks found. Without a fault it is one line, at the end of the page.
fn checks(findings: &Findings, now: Timestamp) -> Markup {
    let bad = count_wrong(findings);
    html! {
        h2 #findings { @if bad > 0 { "What is wrong" } @else { "Checks" } }
        @match findings.at {
            None => p.soft { "The checks run in the background; what they find stands here in a moment." },
            Some(at) => {
                (finding_list(&findings.findings))
                p.soft.small { "Checked " (relative_time(at, now)) "." }
            }
        }
    }
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

fn project_table(rows: &[ProjectRow<'_>], now: Timestamp) -> Markup {
    let rows = rows.iter().map(|(project, active, unanswered, index)| {
        vec![
            html! { a.title href=(format_args!("/dashboard/{}", project.domain)) { (project.domain) } },
            html! { a href=(format_args!("/dashboard/{}/jobs?status=active", project.domain)) { (at_least(active.len())) } },
            html! { a href=(unanswered_list(project, now)) { (at_least(unanswered.len())) } },
            index_line(index, now),
        ]
    });
    let columns =
        [Column::Title("Project"), Column::Number("Jobs now"), Column::Number("Unanswered"), Column::Text("Index")];
    html! { h2 #projects { "Projects" } (table("Projects", &columns, rows)) }
}

pub(crate) fn index_line(index: &IndexStatus, now: Timestamp) -> Markup {
    html! {
        @if let Some((_, 0)) = index.running { (badge(Tone::Running, "fetching")) }
        @else if let Some((done, total)) = index.running {
            (badge(Tone::Running, "reading")) " " (grouped(done as u64)) " of " (grouped(total as u64)) " files "
            progress value=(done) max=(total) aria-label="Files read" {}
        }
        @else if let Some(why) = &index.failure { (badge(Tone::Failed, "failed")) " " (Sentence(why)) }
        @else if index.commit.is_none() { (badge(Tone::Waiting, "waiting")) }
        @else { (counted(index.pages as u64, "page")) @if let Some(at) = index.at { ", " (relative_time(at, now)) } }
    }
}

pub(crate) fn finding_list(findings: &[CheckFinding]) -> Markup {
    let mut notable: Vec<&CheckFinding> = findings.iter().filter(|finding| finding.level != Level::Good).collect();
    notable.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    html! {
        @if notable.is_empty() { p { (badge(Tone::Done, "all is well")) " " (counted(findings.len() as u64, "check")) " passed." } }
        @for finding in notable {
            (notice(if finding.level == Level::Bad { "bad" } else { "plain" }, &html! {
                p { strong { (finding.check) } ": " (Sentence(&finding.what)) }
                @if let Some(fix) = &finding.fix { p { "What to do: " (Sentence(fix)) } }
            }))
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
    let (from, to) = last_days(DRAWN_DAYS, now);
    let days = Days::touched(Some(from), Some(to));
    let by_day = parts.assistant.counts_by_day(&project.domain, days).await.map_err(HttpError::internal)?;
    let asked: u64 = by_day.iter().map(|day| day.counts.questions).sum();
    let domain = &project.domain;
    let (running, missed) = (at_least(active.len()), at_least(unanswered.len()));
    let body = html! {
        div data-live="jobs" {
            p.facts {
                span { (Icon::Projects) (repository(project)) }
                span { (Icon::Branch) (branch(project, &project.branch, None)) }
                @if !project.docs_root.is_empty() { span { (Icon::File) "below " code { (project.docs_root) } } }
            }
            ul.tiles {
                li { b { (running) } a href=(format_args!("/dashboard/{domain}/jobs?status=active")) { @if running == "1" { "job runs or waits" } @else { "jobs run or wait" } } }
                li { b { (missed) } a href=(unanswered_list(project, now)) { @if missed == "1" { "question" } @else { "questions" } " without an answer in seven days" } }
                li.broad { b { (grouped(asked)) } a href=(format_args!("/dashboard/{domain}/analytics")) { @if asked == 1 { "question" } @else { "questions" } " of readers in 30 days" } (sparkline(&by_day, from, DRAWN_DAYS)) }
                li { b { (grouped(index.pages as u64)) } a href=(format_args!("/dashboard/{domain}/docs")) { @if index.pages == 1 { "page" } @else { "pages" } " in the index" } }
            }
            h2 { "Latest jobs" }
            @if jobs.is_empty() { (jobs::none_yet(request, project)) } @else { (jobs::table_of(request, &jobs, now, false).await) }
            h2 { "Latest pull requests" }
            (pulls::latest(request, std::slice::from_ref(project), MAX_LATEST).await?)
            @if !unanswered.is_empty() {
                h2 { "Without an answer in seven days" }
                ul.plain {
                    @for unanswered_turn in unanswered.iter().take(MAX_QUESTIONS) {
                        li { a href=(format_args!("/dashboard/{domain}/conversations/{}", unanswered_turn.thread)) { bdi { (first_words(&unanswered_turn.turn.question, 200)) } } " " (relative_time(unanswered_turn.turn.asked_at, now)) }
                    }
                }
            }
            h2 { "Index" }
            (index_details(request, project, &index, now))
        }
    };
    let actions = html! {
        a.button.secondary href=(format_args!("/dashboard/{domain}/playground")) { (Icon::Playground) @if request.is_editor() { "Ask a question" } @else { "Search the docs" } }
        @if request.is_editor() { a.button href=(format_args!("/dashboard/{domain}/jobs/new")) { (Icon::Add) "New job" } }
    };
    Ok(request.show(View::new(project.domain.as_str(), Section::Home, Some(project)).with(actions), &body))
}

fn index_details(request: &AuthorizedRequest<'_>, project: &Project, index: &IndexStatus, now: Timestamp) -> Markup {
    let docs = request.read_docs(project);
    let place = Place::of(project, docs.as_deref());
    html! {
        p { (index_line(index, now)) @if let Some(commit) = &index.commit { ", at commit " code { (shortened(commit, 12)) } } }
        @if request.is_editor() { (button(request.signed_in, &format!("/dashboard/{}/reindex", project.domain), "Fetch and index now", "secondary")) }
        @if let Some(summary) = &index.summary {
            p.soft { "Read as " @if summary.generator == "no generator" { "plain files" } @else { (summary.generator) } "." }
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
                ul { @for odd in summary.odd.iter().take(100) { li { (file_name(&odd.file, place)) ":" (odd.line) " " (Untrusted(&odd.message)) } } }
            }
        }
    }
}
