//! The pull requests of the local forge.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use docent_authoring::{ChangeSize, CommitSummary, Diff, DiffView, MergeError, PullChanges, Pulls, Updated};
use docent_forge::{FoundPulls, PullComment, PullKey, PullRecord, PullSearch, PullState};
use docent_jobs::Jobs;
use docent_search::Snapshot;
use docent_types::{ListPage, Project, Refusal, Timestamp};
use docent_web::{HttpError, Response};
use http::StatusCode;
use maud::{Markup, html};
use uuid::Uuid;

use crate::dashboard::{AuthorizedRequest, busy, page, redirect};
use crate::diff::{self, DiffFrame, Layout};
use crate::forge_links::{branch, on_forge};
use crate::icon::{Icon, Tone, badge};
use crate::layout::{Section, View, token};
use crate::line_comments::{LineComment, LineOf, ShownComment, line_comments};
use crate::pages::conflicts;
use crate::pages::jobs::local_pull;
use crate::parts::{
    Column, FormProblem, button, danger, empty, field, filters, notice, page_links, state_links, table,
};
use crate::pull_api::refusal;
use crate::route::PullAction;
use crate::text::{Untrusted, counted, grouped, in_url, relative_time, shortened};
use crate::words::{Place, first_words, folded_words, page_url, words};

/// Pull requests on a page.
const PAGE_ROWS: usize = 50;
/// The title of the page, in characters.
const MAX_TITLE_CHARS: usize = 200;
/// The longest comment, in characters.
const MAX_COMMENT_CHARS: usize = 20_000;
/// The name of a state in the address, the state, and the word that people read.
const STATES: [(&str, Option<PullState>, &str); 4] = [
    ("", None, "All"),
    ("open", Some(PullState::Open), "Open"),
    ("merged", Some(PullState::Merged), "Merged"),
    ("closed", Some(PullState::Closed), "Closed"),
];
/// Lines of a description that are shown before the rest is folded.
const MAX_LINES_OPEN: usize = 10;
/// Maximum number of files of a change on a page, and of lines and bytes of each file.
pub(super) const MAX_FILES: usize = 50;
const MAX_LINES_PER_FILE: usize = 400;
const MAX_BYTES_PER_FILE: usize = 64 << 10;
/// Maximum number of lines of a file that is shown alone.
const MAX_LINES_OF_SINGLE_FILE: usize = 2_000;
/// Maximum bytes of all changes on a page. As HTML they take up to seven times as much.
const MAX_TOTAL_BYTES: usize = 512 << 10;

/// Which pull requests a list shows, from the URL.
struct PullFilter {
    state: &'static str,
    search: PullSearch,
}

impl PullFilter {
    fn of(request: &AuthorizedRequest<'_>, projects: &[Project]) -> Result<Self, HttpError> {
        let given = |name| request.http.query(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        let named = given("state");
        let state = STATES.iter().find(|(name, ..)| *name == named);
        let (state, state_filter, _) = *state.ok_or_else(|| Refusal::invalid("state: it is open, merged or closed"))?;
        let page = match (parsed_key(&given("after")), parsed_key(&given("before"))) {
            (Some(key), _) => ListPage::OlderThan(key),
            (None, Some(key)) => ListPage::NewerThan(key),
            (None, None) => ListPage::Newest,
        };
        let projects = projects.iter().map(|project| project.id.clone()).collect();
        Ok(Self {
            state,
            search: PullSearch { projects, state: state_filter, text: given("text"), page, limit: PAGE_ROWS },
        })
    }

    /// The filter as a query string, with another state.
    fn query(&self, state: &str) -> String {
        let given = [("state", state), ("text", &self.search.text)].into_iter().filter(|(_, text)| !text.is_empty());
        given.map(|(name, text)| format!("{name}={}&", in_url(text))).collect()
    }
}

/// A position in the list, for a URL.
fn key(record: &PullRecord) -> String {
    format!("{}_{}", record.created_at.millis(), record.id)
}

fn parsed_key(text: &str) -> Option<PullKey> {
    let (millis, id) = text.split_once('_')?;
    Some(PullKey { created_at: Timestamp::from_millis(millis.parse().ok()?), id: Uuid::try_parse(id).ok()? })
}

pub(crate) async fn all(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let projects = &request.frame.projects;
    let body = html! {
        p.soft { "Pull requests of repositories on this machine. Those on GitHub, GitLab, Gitea and Forgejo are there." }
        (list(request, projects, true).await?)
    };
    Ok(request.page("Pull requests", Section::Pulls, None, &body))
}

pub(crate) async fn of_project(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let body = list(request, std::slice::from_ref(project), false).await?;
    Ok(request.page("Pull requests", Section::Pulls, Some(project), &body))
}

/// The newest pull requests of some projects.
pub(crate) async fn latest(
    request: &AuthorizedRequest<'_>,
    projects: &[Project],
    limit: usize,
) -> Result<Markup, HttpError> {
    let ids = projects.iter().map(|project| project.id.clone()).collect();
    let search = PullSearch { projects: ids, limit, ..PullSearch::default() };
    let found = request.parts().pulls.search(search).await.map_err(HttpError::internal)?;
    Ok(rows(request, projects, &found.pulls, projects.len() > 1).await)
}

async fn list(request: &AuthorizedRequest<'_>, projects: &[Project], with_project: bool) -> Result<Markup, HttpError> {
    let filter = PullFilter::of(request, projects)?;
    let found = request.parts().pulls.search(filter.search.clone()).await.map_err(HttpError::internal)?;
    let here = filter.query(filter.state);
    let newer = found.pulls.first().map(key).filter(|_| found.has_newer);
    let older = found.pulls.last().map(key).filter(|_| found.has_older);
    Ok(html! {
        (filters(!filter.search.text.is_empty(), &html! { form.row method="get" {
            @if !filter.state.is_empty() { input type="hidden" name="state" value=(filter.state); }
            div { label for="text" { "Contains" } input #text name="text" size="26" placeholder="title, description or branch" value=(filter.search.text); }
            button.secondary type="submit" { "Show" }
            @if !here.is_empty() { a.button.quiet href="?" { "Clear" } }
        } }))
        (state_links(STATES.map(|(name, state, word)| (name, word, count(&found, state))), filter.state, |name| filter.query(name)))
        @if found.pulls.is_empty() && !here.is_empty() { p.soft { "No pull request is like this. " a href="?" { "All of them" } } }
        @else { (rows(request, projects, &found.pulls, with_project).await) }
        (page_links(&here, filter.search.page == ListPage::Newest, newer, older))
    })
}

fn count(found: &FoundPulls, state: Option<PullState>) -> u64 {
    let counts = PullState::ALL.iter().zip(found.counts);
    counts.filter(|(known, _)| state.is_none_or(|state| state == **known)).map(|(_, count)| count).sum()
}

/// How much each pull request of a list changes, by its id.
async fn sizes(
    request: &AuthorizedRequest<'_>,
    projects: &[Project],
    pulls: &[PullRecord],
) -> HashMap<Uuid, ChangeSize> {
    let mut sizes = HashMap::new();
    for project in projects {
        let own: Vec<PullRecord> = pulls.iter().filter(|record| record.project == project.id).cloned().collect();
        if own.is_empty() {
            continue;
        }
        let ids: Vec<Uuid> = own.iter().map(|record| record.id).collect();
        let counted = request.parts().pulls.sizes(project, own).await;
        sizes.extend(ids.into_iter().zip(counted).filter_map(|(id, size)| Some((id, size?))));
    }
    sizes
}

async fn rows(
    request: &AuthorizedRequest<'_>,
    projects: &[Project],
    pulls: &[PullRecord],
    with_project: bool,
) -> Markup {
    let now = request.parts().clock.now();
    let sizes = sizes(request, projects, pulls).await;
    let mut columns = vec![Column::Title("Title"), Column::Text("State")];
    columns.extend(with_project.then_some(Column::Text("Project")));
    columns.extend([Column::Text("Changes"), Column::Text("Opened")]);
    let rows = pulls.iter().filter_map(|record| {
        let project = projects.iter().find(|project| project.id == record.project)?;
        let mut row = vec![
            html! { a.title href=(format_args!("/dashboard/{}/pulls/{}", project.domain, record.id)) { bdi { (first_words(&record.title, 140)) } } " " span.soft { "#" (record.number) } },
            state(record),
        ];
        row.extend(with_project.then(|| html! { a href=(format_args!("/dashboard/{}", project.domain)) { (project.domain) } }));
        row.push(html! { @if let Some(ChangeSize { added_lines, removed_lines, files }) = sizes.get(&record.id) {
            span.count title=(counted(*files as u64, "file")) { ins { "+" (grouped(*added_lines as u64)) } " " del { "−" (grouped(*removed_lines as u64)) } }
        } });
        row.push(relative_time(record.created_at, now));
        Some(row)
    });
    let new = projects.first().map(|project| format!("/dashboard/{}/jobs/new", project.domain));
    let begin = match new.as_deref() {
        _ if !request.is_editor() => None,
        Some(new) if !with_project => Some((new, "New job")),
        _ => Some(("/dashboard/-/projects", "Choose a project")),
    };
    html! {
        @if pulls.is_empty() {
            (empty(Icon::Pull, "No pull request here", "A job that changed something opens one. Those on GitHub, GitLab, Gitea and Forgejo are there.", begin))
        } @else { (table("Pull requests", &columns, rows)) }
    }
}

/// The state of a pull request. Merged is not open, and closed is neither.
pub(crate) fn state(record: &PullRecord) -> Markup {
    match record.state {
        PullState::Open if record.draft => badge(Tone::Draft, "draft"),
        PullState::Open => badge(Tone::Open, "open"),
        PullState::Merged => badge(Tone::Merged, "merged"),
        PullState::Closed => badge(Tone::Closed, "closed"),
    }
}

/// The part of the changes that a request asks for.
enum Part {
    /// The beginning of each file's change, from this file on, counted from 0.
    Files { first: usize },
    /// One file's change, from this line on, counted from 0.
    File { path: String, line: usize },
}

/// Which part of the changes a request asks for, and how.
struct DiffRequest {
    part: Part,
    layout: Layout,
}

impl DiffRequest {
    fn of(request: &AuthorizedRequest<'_>) -> Result<Self, HttpError> {
        let is_split = request.http.query("layout").as_deref() == Some("split");
        Ok(Self { part: Part::of(request)?, layout: if is_split { Layout::Split } else { Layout::Unified } })
    }
}

impl Part {
    fn of(request: &AuthorizedRequest<'_>) -> Result<Self, HttpError> {
        let number = |name| Ok::<_, HttpError>(request.http.query_number(name, 1..=u32::MAX, 1)? as usize - 1);
        Ok(match request.http.query("file") {
            Some(path) => Self::File { path: path.into_owned(), line: number("line")? },
            None => Self::Files { first: number("from")? },
        })
    }

    fn view(&self) -> DiffView {
        let view = DiffView {
            compared_bytes: 16 << 20,
            bytes: MAX_TOTAL_BYTES,
            time: Duration::from_secs(2),
            ..DiffView::default()
        };
        match self {
            Self::Files { first } => DiffView {
                first_file: *first,
                files: MAX_FILES,
                lines: MAX_LINES_PER_FILE,
                file_bytes: MAX_BYTES_PER_FILE,
                ..view
            },
            Self::File { path, line } => DiffView {
                only: Some(path.clone()),
                first_line: *line,
                lines: MAX_LINES_OF_SINGLE_FILE,
                file_bytes: MAX_TOTAL_BYTES,
                ..view
            },
        }
    }
}

pub(super) async fn found(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<PullRecord, HttpError> {
    let missing = || HttpError::from(Refusal::not_found("This project has no such pull request; check the link."));
    let id = Uuid::try_parse(id).map_err(|_| missing())?;
    request.parts().pulls.record(&project.id, id).await.map_err(HttpError::internal)?.ok_or_else(missing)
}

pub(crate) async fn pull(request: &AuthorizedRequest<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let record = found(request, project, id).await?;
    let diff_request = DiffRequest::of(request)?;
    let _place = Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?;
    let found = request.parts().pulls.changes(project, &record, diff_request.part.view()).await;
    pull_page(request, project, &record, found, diff_request, ("", None)).await
}

async fn pull_page(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    record: &PullRecord,
    found: Result<PullChanges, impl std::error::Error + 'static>,
    diff_request: DiffRequest,
    (typed, problem): (&str, Option<&FormProblem>),
) -> Result<Response, HttpError> {
    let here = format!("/dashboard/{}/pulls/{}", project.domain, record.id);
    let now = request.parts().clock.now();
    let docs = request.read_docs(project);
    let place = Place::of(project, docs.as_deref());
    let author = found.as_ref().ok().and_then(|found| found.commits.last()).map(|commit| commit.author.clone());
    let comments = request.parts().pulls.comments(record).await.map_err(HttpError::internal)?;
    let can_comment = request.is_editor();
    let commented = Commented::of(request, found.as_ref().ok().map(|found| &found.diff), &diff_request.part);
    let shown = Shown {
        project: project.clone(),
        head: record.head.clone(),
        docs: docs.clone(),
        here: here.clone(),
        comments: line_comments(&comments, now, &here, place),
        can_comment,
    };
    let job = match Pulls::job_of(record) {
        Some(id) => request.parts().jobs.job(&project.id, id).await.ok(),
        None => None,
    };
    let (commits, changes) = compared(found, diff_request, now, shown).await?;
    let body = html! {
        p.facts {
            (state(record))
            span { (Icon::Branch) (branch(project, &record.head, Some("#changes"))) " into " (branch(project, &record.base, None)) }
            @if let Some(author) = author { span { (Icon::Person) (Untrusted(&shortened(&author, 80))) } }
            span { "opened " (relative_time(record.created_at, now)) }
            @if let Some(job) = job { span { (Icon::Jobs) a href=(format_args!("/dashboard/{}/jobs/{}", project.domain, job.id)) { "its job" } } }
            @if let Some(at) = record.ended_at { span { (record.state.as_str()) " " (relative_time(at, now)) } }
        }
        @if !record.body.trim().is_empty() { div.card { (folded_words(&record.body, place, MAX_LINES_OPEN)) } }
        @if record.state == PullState::Open {
            div.card {
                section #merge-state data-load=(format_args!("{here}/conflicts?part")) { p { a href=(format_args!("{here}/conflicts")) { "Look for conflicts" } } }
                @if request.is_editor() { (actions(request, record, &here)) }
            }
        } @else if request.is_editor() { (actions(request, record, &here)) }
        h2 #changes { "Changes" }
        (changes)
        (commits)
        h2 #comments { "Comments" }
        @if comments.is_empty() { p.soft { "Nobody said anything yet." @if can_comment { " A line of the changes above can be commented on by its number." } } }
        @for comment in &comments { (comment_of(comment, place, now, &here)) }
        @if can_comment { (comment_form(request, &here, commented.as_ref(), typed, problem)) }
    };
    let title = format!("#{} {}", record.number, first_words(&record.title, MAX_TITLE_CHARS));
    let above = format!("/dashboard/{}/pulls", project.domain);
    Ok(request.show(View::new(&title, Section::Pulls, Some(project)).below(above, "Pull requests"), &body))
}

fn comment_of(comment: &PullComment, place: Place<'_>, now: Timestamp, here: &str) -> Markup {
    let at_line = LineComment::parse(&comment.text);
    html! {
        article.comment {
            header { strong { (Untrusted(&comment.author)) } " " (relative_time(comment.at, now)) @if let Some(LineComment { line, .. }) = &at_line { " at " a href=(format_args!("{here}?file={}", in_url(&line.path))) { (line.html()) } } }
            @if let Some(LineComment { quoted, .. }) = &at_line { (quote(quoted)) }
            (words(at_line.as_ref().map_or(comment.text.as_str(), |at_line| at_line.text), place))
        }
    }
}

/// What a line says that a comment is about.
fn quote(line: &str) -> Markup {
    html! { @if !line.is_empty() { blockquote { code { (Untrusted(line)) } } } }
}

/// The line that a comment is written on.
struct Commented {
    line: LineOf,
    /// What it says; empty where it is not shown.
    quoted: String,
}

impl Commented {
    /// From the address, with what the line says in the change; or from a form that was sent.
    fn of(request: &AuthorizedRequest<'_>, diff: Option<&Diff>, part: &Part) -> Option<Self> {
        let Some(at) = request.http.query("comment") else {
            let line = LineOf::read(request.form.text("at"))?;
            return Some(Self { line, quoted: request.form.text("line").to_owned() });
        };
        let line = LineOf::read(&at)?;
        let is_rest = matches!(part, Part::File { line: 1.., .. });
        let quoted = diff.and_then(|diff| diff::quoted_line(diff, &line, is_rest)).unwrap_or_default();
        Some(Self { line, quoted })
    }
}

fn comment_form(
    request: &AuthorizedRequest<'_>,
    here: &str,
    commented: Option<&Commented>,
    typed: &str,
    problem: Option<&FormProblem>,
) -> Markup {
    html! {
        form.fields #comment-form method="post" action=(format_args!("{here}/comment")) {
            (token(request.signed_in))
            @if let Some(Commented { line, quoted }) = commented {
                input type="hidden" name="at" value=(line);
                input type="hidden" name="line" value=(quoted);
                p { "On " (line.html()) " " a href=(format_args!("{here}#comment-form")) { "On the whole instead" } }
                (quote(quoted))
            }
            (field("comment", "Comment", "", problem, |tie| html! {
                textarea #comment aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] name="comment" rows="3" required autofocus[commented.is_some() || tie.is_wrong] maxlength=(MAX_COMMENT_CHARS) { (typed) }
            }))
            div.actions { button.secondary type="submit" { "Add the comment" } span.soft.small { kbd { "Ctrl" } " " kbd { "Enter" } } }
        }
    }
}

/// The changes on the branch of a job, on whichever forge its pull request is.
pub(crate) async fn of_job(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let id = Jobs::id(&project.id, id)?;
    let job = request.parts().jobs.job(&project.id, id).await?;
    let diff_request = DiffRequest::of(request)?;
    let _place = Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?;
    let (base, head) = (&project.branch, &job.source.branch);
    let view = diff_request.part.view();
    let pulls = &request.parts().pulls;
    // A merged branch has nothing that its base lacks; its pull request knows what it changed.
    let found = match local_pull(request, &job).await {
        Some(record) => pulls.changes(project, &record, view).await,
        None => pulls.branch_changes(project, base, head, view).await,
    };
    let here = format!("/dashboard/{}/jobs/{id}", project.domain);
    let is_part = request.http.query("part").is_some();
    let counted =
        found.as_ref().ok().filter(|found| !found.diff.files.is_empty()).map(|found| diff::counts(&found.diff));
    let now = request.parts().clock.now();
    let shown = Shown {
        project: project.clone(),
        head: head.clone(),
        docs: request.read_docs(project),
        here: format!("{here}/changes"),
        comments: Vec::new(),
        can_comment: false,
    };
    let (commits, changes) = compared(found, diff_request, now, shown).await?;
    if is_part {
        // The part of the job's page that a script fetches.
        let html = html! {
            section { h2 { "What it changed" } @match counted { Some(_) => (changes), None => p.soft { "Nothing that is not on " code { (base) } " already: the branch is merged, deleted, or not pushed yet." } } }
        };
        return Ok(page(StatusCode::OK, html));
    }
    let body = html! {
        p.facts { span { (Icon::Branch) (branch(project, head, None)) " into " (branch(project, base, None)) } @if let Some(counted) = counted { (counted) } }
        p.soft { "Nothing is shown before the job has pushed its branch, and once the branch is merged or deleted." }
        (changes)
        (commits)
    };
    Ok(request.show(View::new("Changes of a job", Section::Jobs, Some(project)).below(here, "The job"), &body))
}

/// Where changes are shown, and with what.
struct Shown {
    project: Project,
    /// The branch with the changes.
    head: String,
    docs: Option<Arc<Snapshot>>,
    /// The address of the page.
    here: String,
    comments: Vec<ShownComment>,
    can_comment: bool,
}

/// The commits and the changes that were found.
async fn compared(
    found: Result<PullChanges, impl std::error::Error + 'static>,
    diff_request: DiffRequest,
    now: Timestamp,
    shown: Shown,
) -> Result<(Markup, Markup), HttpError> {
    match found {
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(project = %shown.project.id, error, "cannot show the changes");
            let sentence = "The repository cannot be read at the moment. Look again later; the server's log says why.";
            Ok((html! {}, notice("bad", &html! { p { (sentence) } })))
        }
        Ok(PullChanges { commits, diff }) => {
            // Rendering megabytes of markup would block other requests, so it runs on another thread.
            let writes = tokio::task::spawn_blocking(move || changes(&diff, &diff_request, &shown));
            Ok((commit_list(&commits, now), writes.await.map_err(HttpError::internal)?))
        }
    }
}

fn actions(request: &AuthorizedRequest<'_>, record: &PullRecord, here: &str) -> Markup {
    html! {
        @match record.state {
            PullState::Open => {
                div.actions {
                    // Not shown below a sentence that says that it cannot be merged.
                    span.merges {
                        (button(request.signed_in, &format!("{here}/merge"), "Merge", ""))
                        (button(request.signed_in, &format!("{here}/squash"), "Squash and merge", "secondary"))
                    }
                    (button(request.signed_in, &format!("{here}/update"), "Update branch", "secondary"))
                }
                (danger(request.signed_in, &format!("{here}/close"), "Close without merging", &html! { "The branch stays in the repository." }))
            },
            PullState::Closed => div.actions { (button(request.signed_in, &format!("{here}/reopen"), "Reopen", "secondary")) },
            PullState::Merged => {},
        }
    }
}

fn commit_list(commits: &[CommitSummary], now: Timestamp) -> Markup {
    let rows = commits.iter().map(|commit| {
        let (first, rest) = commit.message.trim().split_once('\n').unwrap_or((commit.message.trim(), ""));
        vec![
            html! {
                (Untrusted(&shortened(first, 200)))
                @if !rest.trim().is_empty() { details { summary { "More" } pre { (Untrusted(&shortened(rest.trim(), 4_000))) } } }
            },
            html! { code { (shortened(&commit.id.to_string(), 10)) } },
            html! { (Untrusted(&shortened(&commit.author, 100))) },
            relative_time(Timestamp::from_millis(commit.seconds.saturating_mul(1_000)), now),
        ]
    });
    let columns = [Column::Title("Message"), Column::Text("Commit"), Column::Text("Author"), Column::Text("Made")];
    html! { @if !commits.is_empty() { h2 { "Commits" } (table("Commits", &columns, rows)) } }
}

fn changes(diff: &Diff, diff_request: &DiffRequest, shown: &Shown) -> Markup {
    let Shown { project, head, docs, here, comments, can_comment } = shown;
    let layout = diff_request.layout;
    if diff.files.is_empty() {
        return html! { p { "There are no changes." } };
    }
    let place = Place::of(project, docs.as_deref());
    let url_of = |file: &str| on_forge(project, head, Some(file)).or_else(|| page_url(file, place));
    let frame = DiffFrame { here, url_of: &url_of, comments, can_comment: *can_comment };
    html! {
        p.actions {
            (diff::counts(diff)) " "
            @match layout {
                Layout::Unified => a.button.quiet.wide href=(format_args!("{here}?layout=split#changes")) { "Side by side" },
                Layout::Split => a.button.quiet href=(format_args!("{here}#changes")) { "In one column" },
            }
        }
        @match &diff_request.part {
            Part::Files { first } => (diff::files(diff, *first, layout, &frame)),
            Part::File { line, .. } => { @for file in &diff.files { (diff::file_of(file, *line, layout, &frame)) } p { a href=(here) { "All files" } } },
        }
    }
}

pub(crate) async fn act(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
    action: PullAction,
) -> Result<Response, HttpError> {
    let record = found(request, project, id).await?;
    let pulls = &request.parts().pulls;
    let by = request.signed_in.operator.name.as_str();
    let done = match action {
        PullAction::Merge => pulls.merge(project, &record).await.map(|_| "merged"),
        PullAction::Squash => pulls.squash(project, &record, by).await.map(|_| "squashed"),
        PullAction::Close => pulls.close(project, &record).await.map(|_| "closed"),
        PullAction::Reopen => pulls.reopen(project, &record).await.map(|_| "reopened"),
        PullAction::Comment => match comment(request) {
            Ok(text) => pulls.comment(&record, by, &text).await.map(|()| "commented"),
            Err(sentence) => return refused_comment(request, project, &record, sentence).await,
        },
        PullAction::Solve => return conflicts::solve(request, project, &record).await,
        PullAction::Update => pulls.update(project, &record).await.map(|updated| match updated {
            Updated::Merged => "updated",
            Updated::UpToDate => "up-to-date",
        }),
    };
    let here = format!("/dashboard/{}/pulls/{}", project.domain, record.id);
    let done = match done {
        Err(MergeError::Conflict(_)) => return Ok(redirect(&format!("{here}/conflicts"))),
        done => done.map_err(refusal)?,
    };
    let subject = format!("#{} {}", record.number, record.title);
    request.audit(&format!("pull.{done}"), Some(&project.id), subject, None).await;
    let there = if action == PullAction::Comment { format!("{here}#comments") } else { here };
    Ok(request.redirect_done(&there, done))
}

/// The comment that was sent, with the line that it is about; or what is wrong with it.
fn comment(request: &AuthorizedRequest<'_>) -> Result<String, String> {
    let text = request.form.text("comment");
    if text.is_empty() {
        return Err("Write the comment.".to_owned());
    }
    if text.chars().count() > MAX_COMMENT_CHARS {
        return Err(format!("The comment is longer than {MAX_COMMENT_CHARS} characters. Shorten it."));
    }
    let commented = Commented::of(request, None, &Part::Files { first: 0 });
    Ok(commented.map_or_else(|| text.to_owned(), |Commented { line, quoted }| line.written(&quoted, text)))
}

async fn refused_comment(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    record: &PullRecord,
    sentence: String,
) -> Result<Response, HttpError> {
    let diff_request = DiffRequest::of(request)?;
    let found = request.parts().pulls.changes(project, record, diff_request.part.view()).await;
    let problem = FormProblem::of("comment", sentence);
    let typed = request.form.text("comment");
    let mut response = pull_page(request, project, record, found, diff_request, (typed, Some(&problem))).await?;
    *response.status_mut() = StatusCode::BAD_REQUEST;
    Ok(response)
}
