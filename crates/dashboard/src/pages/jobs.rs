//! Lists of jobs, and the form of a new one.

use docent_authoring::job_events;
use docent_forge::PullRecord;
use docent_jobs::{FoundJob, FoundJobs, JobSearch, JobWork, NewJob, requested_branch};
use docent_types::{
    AgentJob, JobEvent, JobId, JobStatus, ListPage, Message, Project, Refusal, Role, Timestamp, Todo, TodoStatus,
};
use docent_web::{HttpError, Response};
use maud::{Markup, html};
use uuid::Uuid;

use crate::dashboard::{AuthorizedRequest, DAY, redirect};
use crate::icon::{Icon, Tone, badge};
use crate::layout::{Section, View, token};
use crate::pages::pulls;
use crate::parts::{Column, FormProblem, empty, field, filters, form_problem, notice, page_links, state_links, table};
use crate::text::{Untrusted, in_url, long_name, relative_time, shortened};
use crate::words::first_words;

const PAGE_ROWS: usize = 50;
/// The longest instruction, in characters.
const MAX_PROMPT_CHARS: usize = 100_000;
/// The name of a state in the address, the state, and the word that people read.
const STATES: [(&str, Option<JobStatus>, &str); 5] = [
    ("", None, "All"),
    ("active", Some(JobStatus::Active), "Active"),
    ("completed", Some(JobStatus::Completed), "Done"),
    ("failed", Some(JobStatus::Failed), "Failed"),
    ("archived", Some(JobStatus::Archived), "Archived"),
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
        let status = STATES.iter().find(|(name, ..)| *name == named);
        let (status, status_filter, _) =
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
    let filter = Filter::of(request, &request.frame.projects)?;
    let found = request.parts().jobs.search(filter.search.clone()).await?;
    let body = list(request, &found, &filter, None).await;
    Ok(request.page("Jobs", Section::Jobs, None, &body))
}

pub(crate) async fn of_project(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let filter = Filter::of(request, std::slice::from_ref(project))?;
    let found = request.parts().jobs.search(filter.search.clone()).await?;
    let body = list(request, &found, &filter, Some(project)).await;
    let actions = html! { @if request.is_editor() { a.button href=(format_args!("/dashboard/{}/jobs/new", project.domain)) { (Icon::Add) "New job" } } };
    Ok(request.show(View::new("Jobs", Section::Jobs, Some(project)).with(actions), &body))
}

/// What stands where a project has no job.
pub(crate) fn none_yet(request: &AuthorizedRequest<'_>, project: &Project) -> Markup {
    let new = format!("/dashboard/{}/jobs/new", project.domain);
    empty(
        Icon::Jobs,
        "No job yet",
        "A job carries out one instruction: the agent edits the docs on a branch and opens a pull request.",
        request.is_editor().then_some((new.as_str(), "Start the first job")),
    )
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

async fn list(
    request: &AuthorizedRequest<'_>,
    found: &FoundJobs,
    filter: &Filter,
    project: Option<&Project>,
) -> Markup {
    let here = filter.query(filter.status);
    let key = |found: Option<&FoundJob>| found.map(|found| found.job.id.to_string());
    let newer = key(found.jobs.first()).filter(|_| found.has_newer);
    let older = key(found.jobs.last()).filter(|_| found.has_older);
    let rows = table_of(request, &found.jobs, request.parts().clock.now(), project.is_none()).await;
    let is_untouched = here.is_empty() && filter.search.page == ListPage::Newest;
    html! {
        (filters(!filter.query("").is_empty(), &html! { form.row method="get" {
            @if !filter.status.is_empty() { input type="hidden" name="status" value=(filter.status); }
            div { label for="text" { "Instruction contains" } input #text name="text" value=(filter.search.text); }
            div { label for="from" { "From" } input #from type="date" name="from" value=(filter.from); }
            div { label for="to" { "To" } input #to type="date" name="to" value=(filter.to); }
            button.secondary type="submit" { "Show" }
            @if !here.is_empty() { a.button.quiet href="?" { "Clear" } }
        } }))
        div data-live="jobs" {
            (state_links(STATES.map(|(name, status, word)| (name, word, count(found, status))), filter.status, |name| filter.query(name)))
            @match project {
                Some(project) if is_untouched && found.jobs.is_empty() => (none_yet(request, project)),
                None if is_untouched && found.jobs.is_empty() => (empty(Icon::Jobs, "No job yet", "A job carries out one instruction in the docs of a project.", Some(("/dashboard/-/projects", "Choose a project")))),
                _ => (rows),
            }
            (page_links(&here, filter.search.page == ListPage::Newest, newer, older))
        }
    }
}

fn count(found: &FoundJobs, status: Option<JobStatus>) -> u64 {
    let counts = JobStatus::ALL.iter().zip(found.counts);
    counts.filter(|(known, _)| status.is_none_or(|status| status == **known)).map(|(_, count)| count).sum()
}

/// Jobs as rows.
pub(crate) async fn table_of(
    request: &AuthorizedRequest<'_>,
    jobs: &[FoundJob],
    now: Timestamp,
    with_project: bool,
) -> Markup {
    let mut columns = vec![Column::Title("Job"), Column::Text("State")];
    columns.extend(with_project.then_some(Column::Text("Project")));
    columns.extend([Column::Text("Made"), Column::Text("Pull request")]);
    let mut rows = Vec::new();
    for FoundJob { job, prompt } in jobs {
        let title = prompt.as_deref().map(|prompt| first_words(prompt, 140)).filter(|title| !title.is_empty());
        let mut row = vec![
            html! {
                a.title href=(format_args!("/dashboard/{}/jobs/{}", job.domain, job.id)) {
                    @match &title { Some(title) => bdi { (title) }, None => (long_name(&job.source.branch)) }
                }
                @if let Some(step) = plan_step(job) { span.sub { (step) } }
                @if job.status == JobStatus::Failed { @if let Some(message) = &job.message { span.sub { bdi { (first_words(message, 160)) } } } }
            },
            current_state(request, job, now).await,
        ];
        row.extend(with_project.then(|| html! { a href=(format_args!("/dashboard/{}", job.domain)) { (job.domain) } }));
        let pull = match job.status {
            JobStatus::Completed if job.pr_link.is_none() => html! { span.soft.count { "changed nothing" } },
            _ => pull_link(request, job).await,
        };
        row.extend([relative_time(job.created_at, now), pull]);
        rows.push(row);
    }
    html! { @if jobs.is_empty() { p.soft { "No job is like this." } } @else { (table("Jobs", &columns, rows)) } }
}

/// Which step of its plan an active job is at.
fn plan_step(job: &AgentJob) -> Option<Markup> {
    let is_at = |todo: &Todo| todo.status == TodoStatus::InProgress;
    let at = job.todos.iter().position(is_at).filter(|_| job.status == JobStatus::Active)?;
    let todo = job.todos.get(at)?;
    Some(html! { "Step " (at + 1) " of " (job.todos.len()) ": " bdi { (first_words(&todo.content, 120)) } })
}

pub(crate) fn state(status: JobStatus) -> Markup {
    match status {
        JobStatus::Active => badge(Tone::Running, "running"),
        JobStatus::Completed => badge(Tone::Done, "done"),
        JobStatus::Failed => badge(Tone::Failed, "failed"),
        JobStatus::Archived => badge(Tone::Archived, "archived"),
    }
}

/// The state of a job, and what an active one waits for.
pub(crate) async fn current_state(request: &AuthorizedRequest<'_>, job: &AgentJob, now: Timestamp) -> Markup {
    let work = match job.status {
        JobStatus::Active => request.parts().jobs.work(&job.project, job.id).await.ok(),
        _ => None,
    };
    match work {
        Some(JobWork::Waits { until }) => html! {
            (badge(Tone::Waiting, "waiting"))
            span.sub { @match until { Some(until) => { "goes on " (relative_time(until, now)) }, None => "for its turn" } }
        },
        Some(JobWork::Runs) | None => state(job.status),
    }
}

/// The pull request of a job on the local forge.
pub(crate) async fn local_pull(request: &AuthorizedRequest<'_>, job: &AgentJob) -> Option<PullRecord> {
    let link = job.pr_link.as_deref()?;
    let (rest, id) = link.rsplit_once('/')?;
    let id = Uuid::try_parse(id).ok().filter(|_| rest.ends_with(&format!("/pulls/{}", job.project)))?;
    request.parts().pulls.record(&job.project, id).await.ok().flatten()
}

/// The pull request of a job by its number: with its state where this server knows it, and else a link only where the
/// address is one a browser may be sent to.
pub(crate) async fn pull_link(request: &AuthorizedRequest<'_>, job: &AgentJob) -> Markup {
    let Some(link) = &job.pr_link else { return Markup::default() };
    if let Some(record) = local_pull(request, job).await {
        return html! { span.count { a href=(format_args!("/dashboard/{}/pulls/{}", job.domain, record.id)) { "#" (record.number) } " " (pulls::state(&record)) } };
    }
    let number = link.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_number = !number.is_empty() && number.len() < 10 && number.bytes().all(|byte| byte.is_ascii_digit());
    html! {
        @if link.starts_with("https://") || link.starts_with("http://") {
            a href=(link) rel="noopener noreferrer" { @if is_number { "#" (number) } @else { "Pull request" } " " (Icon::Outside) }
        }
        @else { (Untrusted(link)) }
    }
}

/// A job with an instruction that quotes readers, where a language model can read it.
pub(crate) fn reader_job(request: &AuthorizedRequest<'_>, project: &Project, instruction: &str) -> Markup {
    html! { @if request.is_editor() && request.parts().has_language_model { a.button.secondary href=(reader_job_link(project, instruction)) { "Make a job of it" } } }
}

/// What a search finds for words of a reader.
pub(crate) fn found_now(project: &Project, words: &str) -> Markup {
    let found = format!("/dashboard/{}/playground?q={}", project.domain, in_url(&shortened(words, 500)));
    html! { a.button.quiet href=(found) { "See what is found now" } }
}

/// The form of a new job with an instruction that quotes readers.
pub(crate) fn reader_job_link(project: &Project, instruction: &str) -> String {
    format!("/dashboard/{}/jobs/new?prompt={}&words=readers", project.domain, in_url(instruction))
}

/// What was typed into the form of a new job.
struct Typed {
    prompt: String,
    branch: String,
    model: String,
    as_draft: bool,
}

/// The form of a new job, with values from the URL if it has any.
pub(crate) fn new(request: &AuthorizedRequest<'_>, project: &Project) -> Response {
    let given = |name| request.http.query(name).map(|text| text.into_owned()).unwrap_or_default();
    let model = request.parts().models.default.clone();
    let typed = Typed { prompt: given("prompt"), branch: given("branch"), model, as_draft: false };
    form_page(request, project, &typed, None)
}

fn form_page(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    typed: &Typed,
    problem: Option<&FormProblem>,
) -> Response {
    let body = html! {
        @if request.http.query("words").as_deref() == Some("readers") {
            (notice("note", &html! { p { "What stands in quotation marks below was written by readers. Read it before you start: an agent is told to take it as a quotation, and takes everything else as your instruction." } }))
        }
        (form(request, typed, problem))
    };
    let view =
        View::new("New job", Section::Jobs, Some(project)).below(format!("/dashboard/{}/jobs", project.domain), "Jobs");
    request.show(view, &body)
}

fn form(request: &AuthorizedRequest<'_>, typed: &Typed, problem: Option<&FormProblem>) -> Markup {
    let models = &request.parts().models;
    html! {
        (form_problem(problem))
        form.fields method="post" {
            (token(request.signed_in))
            (field("prompt", "What should be done?", "For example: Document the new retry option, with an example for each language.", problem, |tie| html! {
                textarea #prompt aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autofocus[tie.is_wrong] name="prompt" rows="8" required maxlength=(MAX_PROMPT_CHARS) { (typed.prompt) }
            }))
            (field("branch", "Branch", "Empty for a new one. A branch that exists is continued.", problem, |tie| html! {
                input #branch aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] name="branch" value=(typed.branch) autocomplete="off" spellcheck="false";
            }))
            (field("model", "Model", "", problem, |tie| html! {
                select #model name="model" aria-describedby=[tie.described.as_deref()] {
                    @for name in &models.offered { option value=(name) selected[*name == typed.model] { (request.model_name(name)) } }
                }
            }))
            label.tick { input type="checkbox" name="draft" checked[typed.as_draft]; "Open the pull request as a draft" }
            div.actions { button type="submit" { "Start" } span.soft.small { kbd { "Ctrl" } " " kbd { "Enter" } } }
        }
        @if !request.parts().has_language_model {
            h2 { "Without a language model" }
            p { "No model is configured, so the builtin one carries out chores in these forms:" }
            ul.plain {
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
    let typed = Typed {
        prompt: form.text("prompt").to_owned(),
        branch: form.text("branch").to_owned(),
        model: form.given("model").unwrap_or(&request.parts().models.default).to_owned(),
        as_draft: form.is_ticked("draft"),
    };
    match submitted(request, project, &typed).await {
        Ok(job) => Ok(redirect(&format!("/dashboard/{}/jobs/{job}", project.domain))),
        Err((field, HttpError::Refused(refusal))) => {
            let problem = FormProblem { field, sentence: refusal.to_string() };
            let mut response = form_page(request, project, &typed, Some(&problem));
            *response.status_mut() = HttpError::Refused(refusal).status();
            Ok(response)
        }
        Err((_, error)) => Err(error),
    }
}

/// The id of the new job; or the field that is wrong, and why.
async fn submitted(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    typed: &Typed,
) -> Result<JobId, (Option<&'static str>, HttpError)> {
    let new = NewJob {
        project,
        messages: instruction(&typed.prompt).map_err(|refusal| (Some("prompt"), refusal.into()))?,
        branch: requested_branch(Some(typed.branch.as_str()).filter(|name| !name.is_empty()))
            .map_err(|refusal| (Some("branch"), refusal.into()))?,
        as_draft: typed.as_draft,
        model: request
            .parts()
            .models
            .choose(Some(typed.model.clone()))
            .map_err(|refusal| (Some("model"), refusal.into()))?,
    };
    let written = request.parts().jobs.submit(new, None).await.map_err(|error| (None, HttpError::from(error)))?;
    request.audit("job.create", Some(&project.id), written.job.id.to_string(), None).await;
    Ok(written.job.id)
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
