//! One job: its plan and its journal, newest first and live while it runs; the next instruction; its journal as a file.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docent_authoring::job_events;
use docent_jobs::{Entry, EntryBody, Jobs};
use docent_search::Snapshot;
use docent_types::{AgentJob, JobEvent, JobId, JobStatus, Project, Timestamp, Todo, TodoStatus};
use docent_web::{HttpError, Response, respond};
use futures::stream;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, busy, page};
use crate::forge_links::branch;
use crate::icon::Icon;
use crate::layout::{Section, View, now, token};
use crate::pages::jobs::{current_state, instruction, local_pull, prompt, pull_link};
use crate::pages::journal::{self, BATCH, JournalFilter, JournalPage};
use crate::pages::pulls;
use crate::parts::{FormProblem, danger, field, filters, notice};
use crate::text::{Sentence, counted, in_url, precise_duration, relative_time, shortened};
use crate::timeline::{Lane, timeline};
use crate::turns::{JobTurn, Turns};
use crate::words::{Place, first_words, folded_words, words};

/// The title of the page, in characters.
const MAX_TITLE_CHARS: usize = 100;
/// The longest step of a plan, in characters.
const MAX_STEP_CHARS: usize = 300;
/// Instructions and messages of earlier turns on the page, the newest.
const MAX_TALK: usize = 12;
/// Lines of an instruction and of a message that are shown before the rest is folded.
const MAX_LINES_OPEN: usize = 10;
const MAX_MESSAGE_LINES_OPEN: usize = 40;
/// Entries at the end of a journal in which the words of a running turn are looked for, and how many are shown.
const MAX_READ_FOR_WORDS: u32 = 60;
const MAX_WORDS_SHOWN: usize = 6;
/// A shorter wait for a place to run is not told.
const TOLD_WAIT: Duration = Duration::from_secs(1);
/// Maximum length of the reason why a job waits, in characters.
const MAX_REASON_CHARS: usize = 400;
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

/// What the parts of a job's page are made from.
struct JobView<'v> {
    request: &'v AuthorizedRequest<'v>,
    project: &'v Project,
    job: &'v AgentJob,
    turns: Turns,
    docs: Option<Arc<Snapshot>>,
    here: String,
}

impl<'v> JobView<'v> {
    async fn of(
        request: &'v AuthorizedRequest<'v>,
        project: &'v Project,
        job: &'v AgentJob,
    ) -> Result<Self, HttpError> {
        let turns = request.dashboard.turns.of(&request.parts().jobs, project, job.id).await?;
        let here = format!("/dashboard/{}/jobs/{}", project.domain, job.id);
        Ok(Self { request, project, job, turns, docs: request.read_docs(project), here })
    }

    fn place(&self) -> Place<'_> {
        Place::of(self.project, self.docs.as_deref())
    }
}

pub(crate) async fn job(request: &AuthorizedRequest<'_>, project: &Project, id: &str) -> Result<Response, HttpError> {
    let (id, job) = found(request, project, id).await?;
    page_of(request, project, id, &job, "", None).await
}

/// The page, with what was typed as the next instruction and what is wrong with it.
async fn page_of(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: JobId,
    job: &AgentJob,
    typed: &str,
    problem: Option<&FormProblem>,
) -> Result<Response, HttpError> {
    let filter = JournalFilter::of(request);
    let journal_page = JournalPage::of(request);
    // A filter may have to read the whole journal.
    let _place = match filter.is_open() {
        true => None,
        false => Some(Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?),
    };
    let rows = journal::page(request, project, id, &filter, journal_page).await?;
    let view = JobView::of(request, project, job).await?;
    let here = view.here.as_str();
    let is_live = filter.is_open() && journal_page == JournalPage::Newest;
    let topic = is_live.then(|| format!("job:{}:{id}", project.domain));
    let prompt = prompt(request, job).await?;
    let query = filter.query();
    let body = html! {
        (head(&view).await?)
        div #saying {}
        (follow_up(&view, typed, problem))
        (changed(&view))
        (foot(&view).await)
        details #journal open[!is_live] {
            summary { "Journal" }
            (filters(!filter.is_open(), &html! { form.row method="get" action=(here) {
                div { label for="text" { "Contains" } input #text name="text" value=(filter.text()); }
                div {
                    label for="tool" { "Tool" }
                    select #tool name="tool" {
                        option value="" { "any" }
                        @for name in filter.tools() { option selected[name == filter.tool()] { (name) } }
                    }
                }
                label.tick { input type="checkbox" name="only" value="failed" checked[filter.is_only_failed()]; "only what failed" }
                button.secondary type="submit" { "Filter" }
                @if !is_live { a.button.quiet href=(here) { "All, newest first" } }
                a.button.quiet href=(format_args!("{here}/journal.ndjson")) { (Icon::Download) "Journal as NDJSON" }
            } }))
            @if rows.rows.is_empty() { p.soft { "No entry is like this." } }
            div data-live=[topic] data-rows data-last=(rows.last) data-events=(format_args!("{here}/events")) {
                @for row in &rows.rows { (row) }
            }
            nav.pages aria-label="Pages of the journal" {
                @if let Some(newer) = rows.newer { a rel="prev" href=(format_args!("{here}?{query}after={newer}")) { "Newer" } }
                // Hidden without older rows, but there: the script of a live page shows it when it removes rows.
                a rel="next" href=(format_args!("{here}?{query}before={}", rows.older.unwrap_or(1))) hidden[rows.older.is_none()] { "Older" }
            }
        }
        @if request.is_editor() && job.status != JobStatus::Archived {
            (danger(request.signed_in, &format!("{here}/archive"), "Archive this job",
                &html! { @if job.status == JobStatus::Active { "The job is stopped. " } "It takes no more instructions; its branch and pull request stay." }))
        }
    };
    let title = prompt.as_deref().map(|prompt| first_words(prompt, MAX_TITLE_CHARS)).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| job.source.branch.clone());
    let again = prompt.filter(|prompt| request.is_editor() && prompt.len() <= MAX_PROMPT_BYTES_IN_URL);
    let actions = html! {
        @if let Some(prompt) = again { a.button.secondary href=(format_args!("/dashboard/{}/jobs/new?prompt={}", job.domain, in_url(&prompt))) { (Icon::Again) "Do it again" } }
    };
    let above = format!("/dashboard/{}/jobs", project.domain);
    Ok(request.show(View::new(&title, Section::Jobs, Some(project)).below(above, "Jobs").with(actions), &body))
}

/// What a live page lacks: the parts that change, and the rows after the last one it has.
pub(crate) async fn events(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let (id, job) = found(request, project, id).await?;
    let after = request.http.query("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let rows = journal::new(request, project, id, after).await?;
    let view = JobView::of(request, project, &job).await?;
    let html = html! {
        (now(request.frame))
        (head(&view).await?)
        (changed(&view))
        (foot(&view).await)
        div data-rows data-last=(rows.last) data-more[rows.newer.is_some()] { @for row in &rows.rows { (row) } }
    };
    Ok(page(StatusCode::OK, html))
}

/// The beginning of a job's page: its state, what was asked, how it goes, and what the agent said.
async fn head(view: &JobView<'_>) -> Result<Markup, HttpError> {
    let JobView { request, project, job, turns, here, .. } = view;
    let now = request.parts().clock.now();
    let place = view.place();
    let jobs = &request.parts().jobs;
    let mut talk = Vec::new();
    for seq in turns.talk(MAX_TALK) {
        talk.extend(jobs.journal(&project.id, job.id, seq - 1, 1).await?);
    }
    let is_active = job.status == JobStatus::Active;
    let (earlier, latest) = match talk.iter().rposition(|entry| matches!(entry.body, EntryBody::Instruction(_))) {
        Some(at) => talk.split_at(at + 1),
        None => (&talk[..0], talk.as_slice()),
    };
    let said = if is_active { said(view, latest_seq(&talk)).await? } else { Vec::new() };
    Ok(html! {
        section #job-head data-part {
            p.facts {
                (current_state(request, job, now).await)
                span { "made " (relative_time(job.created_at, now)) }
                span { (Icon::Branch) (branch(project, &job.source.branch, Some(&format!("{here}/changes")))) }
                span { (Icon::Agent) (request.model_name(&job.model)) }
                @if job.as_draft { span { "as a draft" } }
                @if job.pr_link.is_some() { (pull_link(request, job).await) }
            }
            @if !is_said_by_title(earlier) { @for entry in earlier { (turn(entry, place, now)) } }
            @if let Some(turn) = turns.latest() {
                (steps(turn, job, now))
                (times(turn, turns, now))
            }
            @if !job.todos.is_empty() { (plan(&job.todos)) }
            @if !said.is_empty() { article.turn { header { (Icon::Agent) "The agent" } @for text in &said { (words(text, place)) } } }
            @for entry in latest { (turn(entry, place, now)) }
            // The journal of an old job is gone, and its last message is kept.
            @if talk.is_empty() { @if let Some(message) = &job.message { (message_of(message, job.status, place)) } }
        }
    })
}

/// Whether all that was asked is one line, which is the title of the page.
fn is_said_by_title(earlier: &[Entry]) -> bool {
    let [only] = earlier else { return false };
    job_events(only)
        .iter()
        .all(|event| matches!(event, JobEvent::Asked { text } if text.trim() == first_words(text, MAX_TITLE_CHARS)))
}

fn latest_seq(talk: &[Entry]) -> u64 {
    talk.last().map_or(0, |entry| entry.seq)
}

/// What the agent said in the turn that runs, the newest last.
async fn said(view: &JobView<'_>, since: u64) -> Result<Vec<String>, HttpError> {
    let jobs = &view.request.parts().jobs;
    let last = jobs.last_entry(&view.project.id, view.job.id).await?;
    let after = since.max(last.saturating_sub(u64::from(MAX_READ_FOR_WORDS)));
    let entries = jobs.journal(&view.project.id, view.job.id, after, MAX_READ_FOR_WORDS).await?;
    let said = entries.iter().flat_map(job_events).filter_map(|event| match event {
        JobEvent::Said { text } if !text.trim().is_empty() => Some(text),
        _ => None,
    });
    let said: Vec<String> = said.collect();
    Ok(said[said.len().saturating_sub(MAX_WORDS_SHOWN)..].to_vec())
}

/// An instruction, or the message at the end of a turn.
fn turn(entry: &Entry, place: Place<'_>, now: Timestamp) -> Markup {
    html! {
        @for event in job_events(entry) {
            @match event {
                JobEvent::Asked { text } => article.asked { header { (Icon::Person) "Asked " (relative_time(entry.at, now)) } (folded_words(&text, place, MAX_LINES_OPEN)) },
                JobEvent::Status { status, message: Some(message), .. } => (message_of(&message, status, place)),
                _ => {}
            }
        }
    }
}

fn message_of(message: &str, status: JobStatus, place: Place<'_>) -> Markup {
    let rendered = folded_words(message, place, MAX_MESSAGE_LINES_OPEN);
    html! {
        @if status == JobStatus::Failed { (notice("bad", &rendered)) }
        // Nobody wrote it but the server.
        @else if status == JobStatus::Archived { (notice("note", &rendered)) }
        @else { article.turn { header { (Icon::Agent) "The agent" } (rendered) } }
    }
}

/// How the latest turn goes, as a line of steps with their times.
fn steps(turn: &JobTurn, job: &AgentJob, now: Timestamp) -> Markup {
    let JobTurn { began, taken_up, pushed, has_pull, waits, ended, .. } = turn;
    let after = |at: Option<Timestamp>| at.map(|at| format!("after {}", precise_duration(at.since(*began))));
    let is_over = ended.is_some();
    let failed = ended.is_some_and(|(_, status)| status == JobStatus::Failed);
    let class = |is_done: bool, is_now: bool| match (is_done, is_now) {
        (true, _) => "done",
        (false, true) => "running",
        (false, false) => "",
    };
    // What was waited for may have been over for as long as a call of a model takes.
    let waits = waits.as_ref().filter(|(_, until)| !is_over && *until > now);
    let works = taken_up.is_some() && pushed.is_none() && !is_over;
    html! {
        ol.steps aria-label="How it goes" {
            li.done { b { "Asked" } (relative_time(*began, now)) }
            @match taken_up {
                Some(at) if at.since(*began) >= TOLD_WAIT => li.done { b { "Begun" } (after(Some(*at)).unwrap_or_default()) },
                None if !is_over => li.running { b { "Waits for a place" } },
                _ => {},
            }
            @if let Some((_, until)) = waits {
                li.waiting { b { "Waits" } "goes on " (relative_time(*until, now)) }
            } @else {
                li class=(if failed && pushed.is_none() { "failed" } else { class(pushed.is_some() || is_over, works) }) {
                    b { @if works { "Works" } @else { "Worked" } }
                    @match (taken_up, pushed.or(ended.map(|(at, _)| at))) {
                        (Some(from), Some(to)) => (precise_duration(to.since(*from))),
                        (Some(from), None) => span data-since=(from.millis()) { (precise_duration(now.since(*from))) },
                        (None, _) => {},
                    }
                }
            }
            @if pushed.is_some() || !is_over { li class=(class(pushed.is_some(), false)) { b { "Pushed" } (after(*pushed).unwrap_or_default()) } }
            @if has_pull.is_some() || (!is_over && job.pr_link.is_none()) { li class=(class(has_pull.is_some(), false)) { b { "Pull request" } (after(*has_pull).unwrap_or_default()) } }
            @match ended {
                Some((at, JobStatus::Failed)) => li.failed { b { "Failed" } (after(Some(*at)).unwrap_or_default()) },
                Some((at, JobStatus::Archived)) => li { b { "Stopped" } (after(Some(*at)).unwrap_or_default()) },
                Some((at, _)) => li.done { b { "Done" } (after(Some(*at)).unwrap_or_default()) },
                None => li { b { "Done" } },
            }
        }
        @if let Some((why, _)) = waits { (notice("note", &html! { p { "Waits: " (Sentence(&shortened(why, MAX_REASON_CHARS))) } })) }
    }
}

/// Where the time of the latest turn went, to scale.
fn times(turn: &JobTurn, turns: &Turns, now: Timestamp) -> Markup {
    let activity = turns.activity(now);
    let lane = |name, class, spans| Lane { name, class, spans, note: String::new() };
    let mut lanes = vec![
        Lane { note: counted(turn.sums.model_calls, "call"), ..lane("Model", "model", &activity.model) },
        lane("Tools", "tools", &activity.tools),
        lane("Git", "git", &activity.git),
    ];
    if activity.waiting.time() >= TOLD_WAIT {
        lanes.insert(0, lane("Waited", "waiting", &activity.waiting));
    }
    let end = turn.ended.map_or(now, |(at, _)| at);
    html! {
        @if turn.sums.model_calls > 0 || activity.waiting.time() >= TOLD_WAIT {
            (timeline(&format!("Where the {} went", precise_duration(end.since(turn.began))), turn.began, end, &lanes))
        }
    }
}

fn plan(todos: &[Todo]) -> Markup {
    html! {
        ol.plan aria-label="Plan" {
            @for todo in todos {
                li class=(status(todo.status)) {
                    @match todo.status {
                        TodoStatus::Completed => (Icon::Done),
                        TodoStatus::InProgress => (Icon::Underway),
                        TodoStatus::Pending => (Icon::Pending),
                        TodoStatus::Cancelled => (Icon::Closed),
                    }
                    span { bdi { (first_words(&todo.content, MAX_STEP_CHARS)) } span.unseen { ", " (status(todo.status).replace('_', " ")) } }
                }
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

/// The form of the next instruction, below the last word.
fn follow_up(view: &JobView<'_>, typed: &str, problem: Option<&FormProblem>) -> Markup {
    let JobView { request, job, here, .. } = view;
    html! {
        @if !request.is_editor() {}
        @else if job.status == JobStatus::Archived { p.soft { "An archived job takes no more instructions." } }
        @else {
            form.fields method="post" action=(format_args!("{here}/message")) {
                (token(request.signed_in))
                (field("message", "What next?", "The agent goes on, on the same branch and the same pull request.", problem, |tie| html! {
                    textarea #message aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autofocus[tie.is_wrong] name="message" rows="2" required { (typed) }
                }))
                div.actions { button type="submit" { "Send" } span.soft.small { kbd { "Ctrl" } " " kbd { "Enter" } } }
            }
        }
    }
}

/// What the job changed: fetched by a script, and a link without one. The number of pushes is in its address, so that a
/// live page fetches it again after another one.
fn changed(view: &JobView<'_>) -> Markup {
    let JobView { job, turns, here, .. } = view;
    let pushed = turns.latest().and_then(|turn| turn.pushed).map_or(0, Timestamp::millis);
    html! {
        @if job.pr_link.is_some() || pushed != 0 {
            section #job-changes data-part data-load=(format_args!("{here}/changes?part={pushed}")) {
                h2 { "What it changed" }
                p { a href=(format_args!("{here}/changes")) { "See the changed files" } }
            }
        } @else { section #job-changes data-part {} }
    }
}

/// The pull request of a job, and what it cost.
async fn foot(view: &JobView<'_>) -> Markup {
    let JobView { request, job, turns, here, .. } = view;
    let now = request.parts().clock.now();
    let cost = |usage| request.parts().prices.cost(&job.model, usage);
    let record = local_pull(request, job).await;
    html! {
        section #job-foot data-part {
            @if job.pr_link.is_some() {
                h2 { "Pull request" }
                @match &record {
                    Some(record) => p {
                        a href=(format_args!("/dashboard/{}/pulls/{}", job.domain, record.id)) { "#" (record.number) " " bdi { (first_words(&record.title, 140)) } } " " (pulls::state(record))
                    },
                    None => p { (pull_link(request, job).await) },
                }
            }
            (turns.table(here, now, cost))
        }
    }
}

pub(crate) async fn message(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let (id, job) = found(request, project, id).await?;
    let typed = request.form.text("message");
    let sent = match instruction(typed) {
        Ok(messages) => {
            request.parts().jobs.follow_up(&project.id, id, messages, None).await.map(drop).map_err(HttpError::from)
        }
        Err(refusal) => Err(refusal.into()),
    };
    match sent {
        Ok(()) => {}
        // An archived job has no form that could show it.
        Err(HttpError::Refused(refusal))
            if found(request, project, &id.to_string()).await?.1.status != JobStatus::Archived =>
        {
            let problem = FormProblem::of("message", refusal.to_string());
            let mut response = page_of(request, project, id, &job, typed, Some(&problem)).await?;
            *response.status_mut() = HttpError::Refused(refusal).status();
            return Ok(response);
        }
        Err(error) => return Err(error),
    }
    request.audit("job.message", Some(&project.id), id.to_string(), None).await;
    Ok(request.redirect_done(&format!("/dashboard/{}/jobs/{id}", project.domain), "sent"))
}

pub(crate) async fn archive(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let (id, _) = found(request, project, id).await?;
    request.parts().jobs.archive(&project.id, id).await?;
    request.audit("job.archive", Some(&project.id), id.to_string(), None).await;
    Ok(request.redirect_done(&format!("/dashboard/{}/jobs/{id}", project.domain), "archived"))
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
