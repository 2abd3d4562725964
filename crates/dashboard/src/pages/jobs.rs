//! Lists of jobs, and the form of a new one.

use docent_authoring::job_events;
use docent_jobs::{JobQuery, NewJob, requested_branch};
use docent_types::{AgentJob, JobEvent, JobId, JobStatus, Message, Project, Refusal, Role, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{Visit, see};
use crate::layout::{Section, table, token};
use crate::text::{Foreign, in_url, moment, shortened};

const PAGE: u32 = 50;
/// The longest instruction, in characters.
const LONGEST_PROMPT: usize = 100_000;
const STATES: [(&str, Option<JobStatus>); 5] = [
    ("", None),
    ("active", Some(JobStatus::Active)),
    ("completed", Some(JobStatus::Completed)),
    ("failed", Some(JobStatus::Failed)),
    ("archived", Some(JobStatus::Archived)),
];

/// Which jobs a list shows, as the URL says it.
struct Filter {
    status: Option<JobStatus>,
    after: Option<JobId>,
}

impl Filter {
    fn of(visit: &Visit<'_>) -> Result<Self, HttpError> {
        let given = visit.request.query("status").unwrap_or_default();
        let status = STATES.iter().find(|(name, _)| *name == given).map(|(_, status)| *status);
        let status = status.ok_or_else(|| Refusal::invalid("status: it is active, completed, failed or archived"))?;
        let after = visit.request.query("after").and_then(|after| JobId::parse(&after));
        Ok(Self { status, after })
    }

    fn query(&self) -> String {
        self.status.map_or_else(String::new, |status| format!("status={}&", status.as_str()))
    }
}

/// The jobs of all projects.
pub(crate) async fn all(visit: &Visit<'_>) -> Result<Response, HttpError> {
    let projects = visit.parts().projects.projects().await.map_err(HttpError::internal)?;
    let filter = Filter::of(visit)?;
    let mut jobs = Vec::new();
    for project in &projects {
        jobs.extend(page_of(visit, project, &filter).await?);
    }
    jobs.sort_by_key(|job| std::cmp::Reverse(job.id));
    let listed = Listed::of(visit, jobs).await?;
    let body = list(&listed, &filter, visit.parts().clock.now(), true);
    Ok(visit.page("Jobs", Section::Jobs, None, &body))
}

pub(crate) async fn of_project(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let filter = Filter::of(visit)?;
    let listed = Listed::of(visit, page_of(visit, project, &filter).await?).await?;
    let body = html! {
        p { a.button href=(format_args!("/dashboard/{}/jobs/new", project.domain)) { "New job" } }
        (list(&listed, &filter, visit.parts().clock.now(), false))
    };
    Ok(visit.page("Jobs", Section::Jobs, Some(project), &body))
}

/// One more than a page has, to know whether there are more.
async fn page_of(visit: &Visit<'_>, project: &Project, filter: &Filter) -> Result<Vec<AgentJob>, HttpError> {
    let query =
        JobQuery { project: project.id.clone(), status: filter.status, after: filter.after, skip: 0, limit: PAGE + 1 };
    Ok(visit.parts().jobs.list(query).await?)
}

/// A job in a list, with what it was made for.
pub(crate) struct Listed {
    job: AgentJob,
    /// The beginning of its first instruction; `None` once its journal is deleted.
    prompt: Option<String>,
}

impl Listed {
    pub(crate) async fn of(visit: &Visit<'_>, jobs: Vec<AgentJob>) -> Result<Vec<Self>, HttpError> {
        let mut listed = Vec::with_capacity(jobs.len());
        for job in jobs {
            let prompt = prompt(visit, &job).await?;
            listed.push(Self { job, prompt });
        }
        Ok(listed)
    }
}

/// The first instruction of a job, which is among the first entries of its journal.
pub(crate) async fn prompt(visit: &Visit<'_>, job: &AgentJob) -> Result<Option<String>, HttpError> {
    const FIRST: u32 = 3;
    let entries = visit.parts().jobs.journal(&job.project, job.id, 0, FIRST).await?;
    Ok(entries.iter().flat_map(job_events).find_map(|event| match event {
        JobEvent::Asked { text } => Some(text),
        _ => None,
    }))
}

fn list(jobs: &[Listed], filter: &Filter, now: Timestamp, with_project: bool) -> Markup {
    let page = &jobs[..jobs.len().min(PAGE as usize)];
    let is_more = jobs.len() > page.len();
    html! {
        form.row method="get" {
            div {
                label for="status" { "State" }
                select #status name="status" {
                    @for (name, status) in STATES {
                        option value=(name) selected[status == filter.status] { @if name.is_empty() { "all" } @else { (name) } }
                    }
                }
            }
            button.quiet type="submit" { "Show" }
        }
        div data-live="jobs" {
            (table_of(page, now, with_project))
            nav.pages aria-label="Pages" {
                @if filter.after.is_some() { a href=(format_args!("?{}", filter.query())) { "Newest" } }
                @if let Some(last) = page.last().map(|listed| &listed.job).filter(|_| is_more) {
                    a href=(format_args!("?{}after={}", filter.query(), last.id)) rel="next" { "Older" }
                }
            }
        }
    }
}

/// Jobs as rows.
pub(crate) fn table_of(jobs: &[Listed], now: Timestamp, with_project: bool) -> Markup {
    let head =
        html! { th { "State" } th { "Job" } @if with_project { th { "Project" } } th { "Made" } th { "Pull request" } };
    let rows = html! {
        @for Listed { job, prompt } in jobs {
            tr {
                td { (state(job.status)) }
                td {
                    a href=(format_args!("/dashboard/{}/jobs/{}", job.domain, job.id)) {
                        @match prompt { Some(prompt) => (Foreign(&shortened(prompt, 160))), None => code { (job.source.branch) } }
                    }
                    @if job.status == JobStatus::Failed { @if let Some(message) = &job.message { br; span.soft { (Foreign(&shortened(message, 160))) } } }
                }
                @if with_project { td { a href=(format_args!("/dashboard/{}", job.domain)) { (job.domain) } } }
                td { (moment(job.created_at, now)) }
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
            @else { (Foreign(link)) }
        }
    }
}

/// The form of a new job, filled in from the URL where it says something.
pub(crate) fn new(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let given = |name| visit.request.query(name).map(|text| text.into_owned()).unwrap_or_default();
    let body = form(visit, &given("prompt"), &given("branch"));
    Ok(visit.page("New job", Section::Jobs, Some(project), &body))
}

fn form(visit: &Visit<'_>, prompt: &str, branch: &str) -> Markup {
    let models = &visit.parts().models;
    html! {
        form.fields method="post" {
            (token(visit.signed_in))
            div {
                label for="prompt" { "What should be done?" } small.hint #prompt-hint { "For example: Document the new retry option, with an example for each language." }
                textarea #prompt aria-describedby="prompt-hint" name="prompt" rows="8" required maxlength=(LONGEST_PROMPT) { (prompt) }
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
        @if !visit.parts().has_language_model {
            h2 { "Without a language model" }
            p { "No model is configured, so the builtin one carries out chores in these forms:" }
            ul {
                @for example in EXAMPLES { li { a href=(format_args!("?prompt={}", in_url(example))) { (example) } } }
            }
        }
    }
}

/// What the builtin model understands, as its own documentation has it.
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

pub(crate) async fn create(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let form = visit.form;
    let new = NewJob {
        project,
        messages: instruction(form.text("prompt"))?,
        branch: requested_branch(form.given("branch"))?,
        as_draft: form.is_ticked("draft"),
        model: visit.parts().models.choose(form.given("model").map(str::to_owned))?,
    };
    let written = visit.parts().jobs.submit(new, None).await?;
    let job = &written.job;
    visit.audit("job.create", Some(&project.id), job.id.to_string(), None).await?;
    Ok(see(&format!("/dashboard/{}/jobs/{}", project.domain, job.id)))
}

/// An instruction as messages.
///
/// # Errors
/// 400 when it is empty or longer than 100,000 characters.
pub(crate) fn instruction(text: &str) -> Result<Vec<Message>, Refusal> {
    if text.is_empty() {
        return Err(Refusal::invalid("Say what should be done."));
    }
    if text.chars().count() > LONGEST_PROMPT {
        return Err(Refusal::invalid(format!(
            "The instruction is longer than {LONGEST_PROMPT} characters. Shorten it."
        )));
    }
    Ok(vec![Message::text(Role::User, text)])
}
