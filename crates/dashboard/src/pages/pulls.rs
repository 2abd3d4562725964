//! The pull requests of the local forge.

use std::sync::Arc;
use std::time::Duration;

use docent_authoring::{CommitSummary, ConflictKind, Diff, DiffView, FileConflict, MergeError, PullChanges, Updated};
use docent_forge::{FoundPulls, PullKey, PullRecord, PullSearch, PullState};
use docent_jobs::Jobs;
use docent_types::{ListPage, Project, Refusal, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};
use uuid::Uuid;

use crate::dashboard::{AuthorizedRequest, busy, redirect};
use crate::diff::{self, Layout};
use crate::layout::{Section, button, danger, page_links, state_links, table, token};
use crate::pull_api::refusal;
use crate::route::PullAction;
use crate::text::{Untrusted, counted, in_url, relative_time, shortened};

/// Pull requests on a page.
const PAGE_ROWS: usize = 50;
/// The longest comment, in characters.
const MAX_COMMENT_CHARS: usize = 20_000;
const STATES: [(&str, Option<PullState>); 4] = [
    ("", None),
    ("open", Some(PullState::Open)),
    ("merged", Some(PullState::Merged)),
    ("closed", Some(PullState::Closed)),
];
/// Maximum number of files of a change on a page, and of lines and bytes of each file.
const MAX_FILES: usize = 50;
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
        let state = STATES.iter().find(|(name, _)| *name == named);
        let (state, state_filter) = *state.ok_or_else(|| Refusal::invalid("state: it is open, merged or closed"))?;
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
    let projects = request.parts().projects.projects().await.map_err(HttpError::internal)?;
    let body = html! {
        p.soft { "Pull requests of repositories on this machine. Those on GitHub, GitLab, Gitea and Forgejo are there." }
        (list(request, &projects, true).await?)
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
    Ok(rows(request, projects, &found.pulls, projects.len() > 1))
}

async fn list(request: &AuthorizedRequest<'_>, projects: &[Project], with_project: bool) -> Result<Markup, HttpError> {
    let filter = PullFilter::of(request, projects)?;
    let found = request.parts().pulls.search(filter.search.clone()).await.map_err(HttpError::internal)?;
    let here = filter.query(filter.state);
    let newer = found.pulls.first().map(key).filter(|_| found.has_newer);
    let older = found.pulls.last().map(key).filter(|_| found.has_older);
    Ok(html! {
        form.row method="get" {
            @if !filter.state.is_empty() { input type="hidden" name="state" value=(filter.state); }
            div { label for="text" { "Title, description or branch contains" } input #text name="text" value=(filter.search.text); }
            button.quiet type="submit" { "Show" }
            @if !here.is_empty() { a href="?" { "All" } }
        }
        (state_links(STATES.map(|(name, state)| (name, count(&found, state))), filter.state, |name| filter.query(name)))
        (rows(request, projects, &found.pulls, with_project))
        (page_links(&here, filter.search.page == ListPage::Newest, newer, older))
    })
}

fn count(found: &FoundPulls, state: Option<PullState>) -> u64 {
    let counts = PullState::ALL.iter().zip(found.counts);
    counts.filter(|(known, _)| state.is_none_or(|state| state == **known)).map(|(_, count)| count).sum()
}

fn rows(request: &AuthorizedRequest<'_>, projects: &[Project], pulls: &[PullRecord], with_project: bool) -> Markup {
    let now = request.parts().clock.now();
    let head = html! { th { "State" } th { "Pull request" } @if with_project { th { "Project" } } th { "Opened" } };
    let project = |record: &PullRecord| projects.iter().find(|project| project.id == record.project);
    let rows = html! {
        @for (record, project) in pulls.iter().filter_map(|record| Some((record, project(record)?))) {
            tr {
                td { (state(record)) }
                td { a href=(format_args!("/dashboard/{}/pulls/{}", project.domain, record.id)) { "#" (record.number) " " (Untrusted(&record.title)) } }
                @if with_project { td { (project.domain) } }
                td { (relative_time(record.created_at, now)) }
            }
        }
    };
    html! { @if pulls.is_empty() { p.soft { "There are none." } } @else { (table("Pull requests", &head, &rows)) } }
}

fn state(record: &PullRecord) -> Markup {
    html! {
        span class=(format_args!("state {}", record.state.as_str())) {
            (record.state.as_str()) @if record.draft && record.state == PullState::Open { ", draft" }
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

async fn found(request: &AuthorizedRequest<'_>, project: &Project, id: &str) -> Result<PullRecord, HttpError> {
    let missing = || HttpError::from(Refusal::not_found("This project has no such pull request; check the link."));
    let id = Uuid::try_parse(id).map_err(|_| missing())?;
    request.parts().pulls.record(&project.id, id).await.map_err(HttpError::internal)?.ok_or_else(missing)
}

pub(crate) async fn pull(request: &AuthorizedRequest<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let record = found(request, project, id).await?;
    let diff_request = DiffRequest::of(request)?;
    let _place = Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?;
    let found = request.parts().pulls.changes(project, &record, diff_request.part.view()).await;
    let here = format!("/dashboard/{}/pulls/{}", project.domain, record.id);
    let now = request.parts().clock.now();
    let (commits, changes) = compared(project, found, diff_request, &here, now).await?;
    let comments = request.parts().pulls.comments(&record).await.map_err(HttpError::internal)?;
    let body = html! {
        p {
            (state(&record)) " " code { (Untrusted(&record.head)) } " → " code { (Untrusted(&record.base)) } ", opened " (relative_time(record.created_at, now))
            @if let Some(at) = record.ended_at { ", " (record.state.as_str()) " " (relative_time(at, now)) }
        }
        @if !record.body.trim().is_empty() { div.box { p.said { (Untrusted(&record.body)) } } }
        @if request.is_editor() { (actions(request, &record, &here)) }
        h2 { "Comments" }
        @for comment in &comments {
            article.event {
                header { (Untrusted(&comment.author)) ", " (relative_time(comment.at, now)) }
                p.text { (Untrusted(&comment.text)) }
            }
        }
        @if request.is_editor() {
            form.fields method="post" action=(format_args!("{here}/comment")) {
                (token(request.signed_in))
                div { label for="comment" { "Comment" } textarea #comment name="comment" rows="3" required maxlength=(MAX_COMMENT_CHARS) {} }
                div { button.quiet type="submit" { "Add the comment" } }
            }
        }
        (commits)
        h2 { "Changes" }
        (changes)
    };
    let title = format!("#{} {}", record.number, docent_types::printable(&record.title));
    Ok(request.page(&title, Section::Pulls, Some(project), &body))
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
    let found = request.parts().pulls.branch_changes(project, base, head, diff_request.part.view()).await;
    let here = format!("/dashboard/{}/jobs/{id}", project.domain);
    let (commits, changes) =
        compared(project, found, diff_request, &format!("{here}/changes"), request.parts().clock.now()).await?;
    let body = html! {
        p { code { (Untrusted(head)) } " → " code { (Untrusted(base)) } ", made by " a href=(here) { "a job" } "." }
        p.soft { "Nothing is shown before the job has pushed its branch, and once the branch is merged or deleted." }
        (commits)
        h2 { "Changes" }
        (changes)
    };
    Ok(request.page("Changes of a job", Section::Jobs, Some(project), &body))
}

/// The commits and the changes that were found; `here` is the address of the page.
async fn compared(
    project: &Project,
    found: Result<PullChanges, impl std::error::Error + 'static>,
    diff_request: DiffRequest,
    here: &str,
    now: Timestamp,
) -> Result<(Markup, Markup), HttpError> {
    match found {
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(project = %project.id, error, "cannot show the changes");
            let sentence = "The repository cannot be read at the moment. Look again later; the server's log says why.";
            Ok((html! {}, html! { p { (sentence) } }))
        }
        Ok(PullChanges { commits, diff }) => {
            // Rendering megabytes of markup would block other requests, so it runs on another thread.
            let here = here.to_owned();
            let writes = tokio::task::spawn_blocking(move || changes(&diff, &diff_request, &here));
            Ok((commit_list(&commits, now), writes.await.map_err(HttpError::internal)?))
        }
    }
}

fn actions(request: &AuthorizedRequest<'_>, record: &PullRecord, here: &str) -> Markup {
    html! {
        @match record.state {
            PullState::Open => {
                div.actions {
                    (button(request.signed_in, &format!("{here}/merge"), "Merge"))
                    (button(request.signed_in, &format!("{here}/squash"), "Squash and merge"))
                    (button(request.signed_in, &format!("{here}/update"), "Update branch"))
                    a href=(format_args!("{here}/conflicts")) { "Look for conflicts" }
                }
                (danger(request.signed_in, &format!("{here}/close"), "Close without merging", &html! { "The branch stays in the repository." }))
            },
            PullState::Closed => (button(request.signed_in, &format!("{here}/reopen"), "Reopen")),
            PullState::Merged => {},
        }
    }
}

fn commit_list(commits: &[CommitSummary], now: Timestamp) -> Markup {
    let head = html! { th { "Commit" } th { "Message" } th { "Author" } th { "Made" } };
    let rows = html! {
        @for commit in commits {
            @let (first, rest) = commit.message.trim().split_once('\n').unwrap_or((commit.message.trim(), ""));
            tr {
                td { code { (shortened(&commit.id.to_string(), 10)) } }
                td {
                    (Untrusted(&shortened(first, 200)))
                    @if !rest.trim().is_empty() { details { summary { "More" } pre { (Untrusted(&shortened(rest.trim(), 4_000))) } } }
                }
                td { (Untrusted(&shortened(&commit.author, 100))) }
                td { (relative_time(Timestamp::from_millis(commit.seconds.saturating_mul(1_000)), now)) }
            }
        }
    };
    html! { @if !commits.is_empty() { h2 { "Commits" } (table("Commits", &head, &rows)) } }
}

fn changes(diff: &Diff, diff_request: &DiffRequest, here: &str) -> Markup {
    let layout = diff_request.layout;
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
        @match &diff_request.part {
            Part::Files { first } => (diff::files(diff, *first, layout)),
            Part::File { line, .. } => { @for file in &diff.files { (diff::file_of(file, *line, layout)) } p { a href=(here) { "All files" } } },
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
        PullAction::Comment => pulls.comment(&record, by, comment(request)?).await.map(|()| "commented"),
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
    Ok(redirect(&format!("{here}?done={done}")))
}

fn comment<'v>(request: &'v AuthorizedRequest<'_>) -> Result<&'v str, Refusal> {
    let text = request.form.text("comment");
    if text.is_empty() {
        return Err(Refusal::invalid("Write the comment."));
    }
    if text.chars().count() > MAX_COMMENT_CHARS {
        return Err(Refusal::invalid(format!(
            "The comment is longer than {MAX_COMMENT_CHARS} characters. Shorten it."
        )));
    }
    Ok(text)
}

/// What keeps a pull request from being merged, and how to resolve it.
pub(crate) async fn conflicts(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let record = found(request, project, id).await?;
    let _place = Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?;
    let files = request.parts().pulls.conflicts(project, &record).await.map_err(refusal)?;
    let body = html! {
        p { a href=(format_args!("/dashboard/{}/pulls/{}", project.domain, record.id)) { "Back to the pull request" } }
        @if files.is_empty() {
            div.box.good { p { "Nothing conflicts: it can be merged." } }
        } @else {
            div.box.bad role="alert" {
                p {
                    "It was not merged: " code { (Untrusted(&record.base)) } " and " code { (Untrusted(&record.head)) } " changed "
                    (counted(files.len() as u64, "file")) " in ways that do not fit together."
                }
            }
            @for file in files.iter().take(MAX_FILES) { (conflict(file, &record)) }
            @if files.len() > MAX_FILES { p { "And " (counted((files.len() - MAX_FILES) as u64, "other file")) "." } }
            h2 { "To resolve them" }
            p { "Merge the base into the branch, say for each file what is right, and push. Then merge here." }
            pre { "git fetch origin\ngit switch " (Untrusted(&record.head)) "\ngit merge origin/" (Untrusted(&record.base)) "\n# edit the files, git add them\ngit commit\ngit push" }
        }
    };
    Ok(request.page(&format!("Conflicts of #{}", record.number), Section::Pulls, Some(project), &body))
}

fn conflict(file: &FileConflict, record: &PullRecord) -> Markup {
    let (base, head) = (html! { code { (Untrusted(&record.base)) } }, html! { code { (Untrusted(&record.head)) } });
    html! {
        h3 { code { (Untrusted(&file.path)) } }
        @match &file.kind {
            ConflictKind::Lines(lines) => {
                p { "Both changed the same lines." }
                @for lines in lines {
                    p.soft { "From line " (lines.line) " on " (base) ":" }
                    (side(&html! { "Before" }, &lines.base))
                    (side(&html! { "On " (base) }, &lines.target))
                    (side(&html! { "On " (head) }, &lines.source))
                }
            },
            ConflictKind::Structure => p { "Both changed the same entries of the navigation." },
            ConflictKind::AddedInBoth => p { "Both added this file, each with another content." },
            ConflictKind::DeletedInTarget => p { "Deleted on " (base) " and changed on " (head) "." },
            ConflictKind::DeletedInSource => p { "Changed on " (base) " and deleted on " (head) "." },
            ConflictKind::FileAndFolder => p { "One made a file here where the other made a folder." },
            ConflictKind::NoText => p { "Both changed it, and it is no text or too large to be merged by lines." },
        }
    }
}

fn side(label: &Markup, lines: &str) -> Markup {
    html! {
        p { (label) ":" @if lines.is_empty() { " these lines are gone." } }
        @if !lines.is_empty() { pre { (Untrusted(lines)) } }
    }
}
