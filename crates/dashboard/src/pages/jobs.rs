//! Lists of jobs, and the form of a new one.

use docent_authoring::job_events;
use docent_jobs::{FoundJob, FoundJobs, JobSearch, NewJob, requested_branch};
use docent_types::{AgentJob, JobEvent, JobId, JobStatus, ListPage, Message, Project, Refusal, Role, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, DAY, redirect};
use crate::layout::{Section, page_links, state_links, table, token};
use crate::text::{Untrusted, in_url, relative_time, shortened};

const PAGE_ROWS: usize = 50;
/// The longest instruction, in characters.
const MAX_PROMPT_CHARS: usize = 100_000;
const STATES: [(&str, Option<JobStatus>); 5] = [
    ("", None),
    ("active", Some(JobStatus::Active)),
    ("completed", Some(JobStatus::Completed)),
    ("failed", Some(JobStatus::Failed)),
    ("archived", Some(JobStatus::Archived)),
];

/// Which jobs a list shows, from the URL.
struct Filter {
    status: &'static str,
    /// Days, verbatim from the URL.
    from: String,
    to: String,
    search: JobSearch,
}

impl Filter {
    fn of(request: &AuthorizedRequest<'_>, projects: &[Project]) -> Result<Self, HttpError> {
        let given = |name| request.http.query(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        let named = given("status");
        let status = STATES.iter().find(|(name, _)| *name == named);
        let (status, status_filter) =
            *status.ok_or_else(|| Refusal::invalid("status: it is active, completed, failed or archived"))?;
        let cursor = |name| JobId::parse(&given(name));
        let page = match (cursor("after"), cursor("before")) {
            (Some(job), _) => ListPage::OlderThan(job),
            (None, Some(job)) => ListPage::NewerThan(job),
            (None, None) => ListPage::Newest,
        };
        let search = JobSearch {
            projects: projects.iter().map(|project| project.id.clone()).collect(),
            status: status_filter,
            text: given("text"),
            from: request.day("from")?.map(JobId::first_at),
            to: request.day("to")?.map(|day| JobId::first_at(day.plus(DAY))),
            page,
            limit: PAGE_ROWS,
        };
        Ok(Self { status, from: given("from"), to: given("to"), search })
    }

    /// The filter as a query string, with another state.
    fn query(&self, status: &str) -> String {
        let pairs = [("status", status), ("text", &self.search.text), ("from", &self.from), ("to", &self.to)];
        let given = pairs.iter().filter(|(_, text)| !text.is_empty());
        given.map(|(name, text)| format!("{name}={}&", in_url(text))).collect()
    }
}

/// The jobs of all projects.
pub(crate) async fn all(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let projects = request.parts().projects.projects().await.map_err(HttpError::internal)?;
    let filter = Filter::of(request, &projects)?;
    let found = request.parts().jobs.search(filter.search.clone()).await?;
    let body = list(&found, &filter, request.parts().clock.now(), true);
    Ok(request.page("Jobs", Section::Jobs, None, &body))
}

pub(crate) async fn of_project(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let filter = Filter::of(request, std::slice::from_ref(project))?;
    let found = request.parts().jobs.search(filter.search.clone()).await?;
    let body = html! {
        @if request.is_editor() { p { a.button href=(format_args!("/dashboard/{}/jobs/new", project.domain)) { "New job" } } }
        (list(&found, &filter, request.parts().clock.now(), false))
    };
    Ok(request.page("Jobs", Section::Jobs, Some(project), &body))
}

/// The newest jobs of some projects.
pub(crate) async fn latest(
    request: &AuthorizedRequest<'_>,
    projects: &[Project],
    limit: usize,
) -> Result<Vec<FoundJob>, HttpError> {
    let projects = projects.iter().map(|project| project.id.clone()).collect();
    let search = JobSearch { projects, limit, ..JobSearch::default() };
    Ok(request.parts().jobs.search(search).await?.jobs)
}

/// The first instruction of a job, which is among the first entries of its journal.
pub(crate) async fn prompt(request: &AuthorizedRequest<'_>, job: &AgentJob) -> Result<Option<String>, HttpError> {
    const FIRST: u32 = 3;
    let entries = request.parts().jobs.journal(&job.project, job.id, 0, FIRST).await?;
    Ok(entries.iter().flat_map(job_events).find_map(|event| match event {
        JobEvent::Asked { text } => Some(text),
        _ => None,
    }))
}

fn list(found: &FoundJobs, filter: &Filter, now: Timestamp, with_project: bool) -> Markup {
    let here = filter.query(filter.status);
    let key = |found: Option<&FoundJob>| found.map(|found| found.job.id.to_string());
    let newer = key(found.jobs.first()).filter(|_| found.has_newer);
    let older = key(found.jobs.last()).filter(|_| found.has_older);
    html! {
        form.row method="get" {
            @if !filter.status.is_empty() { input type="hidden" name="status" value=(filter.status); }
            div { label for="text" { "Instruction contains" } input #text name="text" value=(filter.search.text); }
            div { label for="from" { "From" } input #from type="date" name="from" value=(filter.from); }
            div { label for="to" { "To" } input #to type="date" name="to" value=(filter.to); }
            button.quiet type="submit" { "Show" }
            @if !here.is_empty() { a href="?" { "All" } }
        }
        div data-live="jobs" {
            (state_links(STATES.map(|(name, status)| (name, count(found, status))), filter.status, |name| filter.query(name)))
            (table_of(&found.jobs, now, with_project))
            (page_links(&here, filter.search.page == ListPage::Newest, newer, older))
        }
    }
}

fn count(found: &FoundJobs, status: Option<JobStatus>) -> u64 {
    let counts = JobStatus::ALL.iter().zip(found.counts);
    counts.filter(|(known, _)| status.is_none_or(|status| status == **known)).map(|(_, count)| count).sum()
}

/// Jobs as rows.
pub(crate) fn table_of(jobs: &[FoundJob], now: Timestamp, with_project: bool) -> Markup {
    let head =
        html! { th { "State" } th { "Job" } @if with_project { th { "Project" } } th { "Made" } th { "Pull request" } };
    let rows = html! {
        @for FoundJob { job, prompt } in jobs {
            tr {
                td { (state(job.status)) }
                td {
                    a href=(format_args!("/dashboard/{}/jobs/{}", job.domain, job.id)) {
                        @match prompt { Some(prompt) => (Untrusted(&shortened(prompt, 160))), None => code { (job.source.branch) } }
                    }
                    @if job.status == JobStatus::Failed { @if let Some(message) = &job.message { br; span.soft { (Untrusted(&shortened(message, 160))) } } }
                }
                @if with_project { td { a href=(format_args!("/dashboard/{}", job.domain)) { (job.domain) } } }
                td { (relative_time(job.created_at, now)) }
                td { (pull_link(job)) }
            }
        }
    };
    html! { @if jobs.is_empty() { p.soft { "There are no jobs here." } } @else { (table("Jobs", &head, &rows)) } }
}

pub(crate) fn state(status: JobStatus) -> Markup {
    html! { span class=(format_args!("state {}", status.as_str())) { (status.as_str()) } }
}

/// The pull request of a job: a link only where the address is one a browser may be sent to.
pub(crate) fn pull_link(job: &AgentJob) -> Markup {
    html! {
        @if let Some(link) = &job.pr_link {
            @if link.starts_with("https://") || link.starts_with("http://") { a href=(link) rel="noopener" { "Open" } }
            @else { (Untrusted(link)) }
        }
    }
}

/// The form of a new job with an instruction that quotes readers.
pub(crate) fn reader_job_link(project: &Project, instruction: &str) -> String {
    format!("/dashboard/{}/jobs/new?prompt={}&words=readers", project.domain, in_url(instruction))
}

/// The form of a new job, with values from the URL if it has any.
pub(crate) fn new(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let given = |name| request.http.query(name).map(|text| text.into_owned()).unwrap_or_default();
    let has_reader_words = given("words") == "readers";
    let body = html! {
        @if has_reader_words {
            div.box role="note" { p { "What stands in quotation marks below was written by readers. Read it before you start: an agent is told to take it as a quotation, and takes everything else as your instruction." } }
        }
        (form(request, &given("prompt"), &given("branch")))
    };
    Ok(request.page("New job", Section::Jobs, Some(project), &body))
}

fn form(request: &AuthorizedRequest<'_>, prompt: &str, branch: &str) -> Markup {
    let models = &request.parts().models;
    html! {
        form.fields method="post" {
            (token(request.signed_in))
            div {
                label for="prompt" { "What should be done?" } small.hint #prompt-hint { "For example: Document the new retry option, with an example for each language." }
                textarea #prompt aria-describedby="prompt-hint" name="prompt" rows="8" required maxlength=(MAX_PROMPT_CHARS) { (prompt) }
            }
            div { label for="branch" { "Branch" } small.hint #branch-hint { "Empty for a new one. A branch that exists is continued." } input #branch aria-describedby="branch-hint" name="branch" value=(branch) autocomplete="off"; }
            div {
                label for="model" { "Model" }
                select #model name="model" {
                    @for name in &models.offered { option value=(name) selected[*name == models.default] { (name) } }
                }
            }
            label.tick { input type="checkbox" name="draft"; "Open the pull request as a draft" }
            div { button type="submit" { "Start" } }
        }
        @if !request.parts().has_language_model {
            h2 { "Without a language model" }
            p { "No model is configured, so the builtin one carries out chores in these forms:" }
            ul {
                @for example in EXAMPLES { li { a href=(format_args!("?prompt={}", in_url(example))) { (example) } } }
            }
        }
    }
}

/// Instructions that the builtin model understands, from its documentation.
const EXAMPLES: [&str; 8] = [
    "Fix broken links",
    "Add missing descriptions",
    "Add missing titles",
    "Replace \"sign in\" with \"log in\"",
    "Move page guides/setup to getting-started/setup",
    "Delete page guides/old",
    "Add a page guides/retries titled \"Retries\"",
    "Set sidebarTitle to \"Start\" in index.mdx",
];

pub(crate) async fn create(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let form = request.form;
    let new = NewJob {
        project,
        messages: instruction(form.text("prompt"))?,
        branch: requested_branch(form.given("branch"))?,
        as_draft: form.is_ticked("draft"),
        model: request.parts().models.choose(form.given("model").map(str::to_owned))?,
    };
    let written = request.parts().jobs.submit(new, None).await?;
    let job = &written.job;
    request.audit("job.create", Some(&project.id), job.id.to_string(), None).await;
    Ok(redirect(&format!("/dashboard/{}/jobs/{}", project.domain, job.id)))
}

/// An instruction as messages.
///
/// # Errors
/// 400 when it is empty or longer than 100,000 characters.
pub(crate) fn instruction(text: &str) -> Result<Vec<Message>, Refusal> {
    if text.is_empty() {
        return Err(Refusal::invalid("Say what should be done."));
    }
    if text.chars().count() > MAX_PROMPT_CHARS {
        return Err(Refusal::invalid(format!(
            "The instruction is longer than {MAX_PROMPT_CHARS} characters. Shorten it."
        )));
    }
    Ok(vec![Message::text(Role::User, text)])
}
