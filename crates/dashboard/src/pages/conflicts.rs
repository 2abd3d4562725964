//! What keeps a pull request of the local forge from being merged, and the instruction that has the agent solve it.

use std::sync::Arc;

use docent_authoring::{ConflictKind, FileConflict, LineConflict, MergeError, Pulls};
use docent_forge::{PullRecord, PullState};
use docent_types::{AgentJob, JobStatus, Project, Refusal};
use docent_web::{HttpError, Response};
use http::StatusCode;
use maud::{Markup, html};

use super::pulls::{MAX_FILES, found};
use crate::dashboard::{AuthorizedRequest, busy, page};
use crate::diff;
use crate::icon::Icon;
use crate::layout::{Section, View, token};
use crate::pages::jobs::instruction;
use crate::parts::{FormProblem, button, field, notice};
use crate::pull_api::refusal;
use crate::text::{Untrusted, counted, long_name, shortened};
use crate::words::{Place, file_name, first_words};

/// Files in the instruction to solve conflicts, conflicts of each, and characters of each side. The agent can read the rest.
const MAX_FILES_IN_PROMPT: usize = 20;
const MAX_CONFLICTS_IN_PROMPT: usize = 5;
const MAX_SIDE_CHARS_IN_PROMPT: usize = 1_500;

/// What keeps a pull request from being merged, and how to resolve it.
pub(crate) async fn conflicts(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let record = found(request, project, id).await?;
    if request.http.query("part").is_some() {
        let _place = Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?;
        let found = request.parts().pulls.conflicts(project, &record).await;
        return Ok(page(StatusCode::OK, html! { section { (in_short(&record, &address(project, &record), &found)) } }));
    }
    conflicts_page(request, project, &record, None).await
}

fn address(project: &Project, record: &PullRecord) -> String {
    format!("/dashboard/{}/pulls/{}", project.domain, record.id)
}

/// The page of the conflicts; `refused` is an instruction that was typed, and what is wrong with it.
async fn conflicts_page(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    record: &PullRecord,
    refused: Option<(&str, FormProblem)>,
) -> Result<Response, HttpError> {
    let _place = Arc::clone(&request.dashboard.large_pages).try_acquire_owned().map_err(|_| busy())?;
    let files = request.parts().pulls.conflicts(project, record).await.map_err(refusal)?;
    if let Some((_, problem)) = refused.as_ref().filter(|_| files.is_empty()) {
        // Without conflicts there is no form; the text is shown with the refusal.
        return Err(Refusal::invalid(problem.sentence.clone()).into());
    }
    let here = address(project, record);
    let docs = request.read_docs(project);
    let place = Place::of(project, docs.as_deref());
    let body = html! {
        @if files.is_empty() {
            (notice("good", &html! { p { "Nothing conflicts: it can be merged as it is, or brought up to " code { (Untrusted(&record.base)) } " first." } }))
            @if request.is_editor() {
                div.actions {
                    (button(request.signed_in, &format!("{here}/merge"), "Merge", ""))
                    (button(request.signed_in, &format!("{here}/update"), "Update branch", "secondary"))
                }
            }
        } @else {
            (notice("bad", &html! {
                p {
                    "It cannot be merged: " code { (Untrusted(&record.base)) } " and " (long_name(&record.head)) " changed "
                    (counted(files.len() as u64, "file")) " in ways that do not fit together."
                }
            }))
            @if request.is_editor() { (solving(request, record, &here, &files, refused).await) }
            @for file in files.iter().take(MAX_FILES) { (conflict(file, record, place)) }
            @if files.len() > MAX_FILES { p { "And " (counted((files.len() - MAX_FILES) as u64, "other file")) "." } }
            h2 { "To resolve them by hand" }
            p { "Merge the base into the branch, say for each file what is right, and push. Then merge here." }
            pre { "git fetch origin\ngit switch " (Untrusted(&record.head)) "\ngit merge origin/" (Untrusted(&record.base)) "\n# edit the files, git add them\ngit commit\ngit push" }
        }
    };
    let view = View::new("Conflicts", Section::Pulls, Some(project));
    Ok(request.show(view.below(here, &format!("#{} {}", record.number, first_words(&record.title, 80))), &body))
}

/// Whether a pull request can be merged, in a line of its page.
fn in_short(record: &PullRecord, here: &str, found: &Result<Vec<FileConflict>, MergeError>) -> Markup {
    let base = html! { code { (Untrusted(&record.base)) } };
    html! {
        @match found.as_deref().map(<[FileConflict]>::len) {
            Ok(0) => p.mergeable { (Icon::Done) "Nothing conflicts with " (base) "." },
            Ok(count) => (notice("bad", &html! { p {
                "It cannot be merged: " (counted(count as u64, "file")) @if count == 1 { " conflicts" } @else { " conflict" } " with "
                (base) ". " a href=(format_args!("{here}/conflicts")) { "See and solve what conflicts" }
            } })),
            // The page of conflicts says what is wrong.
            Err(_) => p { a href=(format_args!("{here}/conflicts")) { "Look for conflicts" } },
        }
    }
}

/// The job that opened a pull request, if it can take another instruction; or why not.
async fn job_to_solve(request: &AuthorizedRequest<'_>, record: &PullRecord) -> Result<Arc<AgentJob>, &'static str> {
    if !request.parts().has_language_model {
        return Err("No language model is configured, and the builtin one cannot solve conflicts.");
    }
    let job = match Pulls::job_of(record) {
        Some(id) => request.parts().jobs.job(&record.project, id).await.ok(),
        None => None,
    };
    match job {
        None => Err("The job of this pull request is not there any more, so the agent cannot go on with it."),
        Some(job) if job.status == JobStatus::Archived => {
            Err("The job of this pull request is archived, so the agent cannot go on with it.")
        }
        Some(job) if job.status == JobStatus::Active => {
            Err("The agent is at work on this pull request. Look again when it is done.")
        }
        Some(job) => Ok(job),
    }
}

/// The form that gives the conflicts to the agent.
async fn solving(
    request: &AuthorizedRequest<'_>,
    record: &PullRecord,
    here: &str,
    files: &[FileConflict],
    refused: Option<(&str, FormProblem)>,
) -> Markup {
    let (typed, problem) = refused.unzip();
    let base = html! { code { (Untrusted(&record.base)) } };
    match job_to_solve(request, record).await {
        Err(why) => html! { p.soft { (why) } },
        Ok(_) => html! {
            form.fields method="post" action=(format_args!("{here}/solve")) {
                (token(request.signed_in))
                p { "The agent merges " (base) " into the branch of this pull request, makes the change again in the files below, and pushes. Nothing is merged into " (base) "." }
                details open[problem.is_some()] {
                    summary { "What the agent is told" }
                    (field("message", "Instruction", "", problem.as_ref(), |tie| html! {
                        textarea #message aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autofocus[tie.is_wrong] name="message" rows="14" required { @match typed { Some(typed) => (typed), None => (solving_prompt(record, files)) } }
                    }))
                }
                div.actions { button type="submit" { (Icon::Agent) "Ask the agent to solve it" } }
            }
        },
    }
}

/// Has the job of a pull request merge the base into its branch, with the conflicts as its work.
pub(super) async fn solve(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    record: &PullRecord,
) -> Result<Response, HttpError> {
    if record.state != PullState::Open {
        return Err(Refusal::conflict(format!("the pull request is {} already", record.state.as_str())).into());
    }
    let job = job_to_solve(request, record).await.map_err(Refusal::conflict)?;
    let typed = request.form.text("message");
    let messages = match instruction(typed) {
        Ok(messages) => messages,
        Err(refusal) => {
            let problem = FormProblem::of("message", refusal.to_string());
            let mut response = conflicts_page(request, project, record, Some((typed, problem))).await?;
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return Ok(response);
        }
    };
    request.parts().jobs.update_branch(&project.id, job.id, messages).await?;
    let subject = format!("#{} {}", record.number, record.title);
    request.audit("pull.solve", Some(&project.id), subject, None).await;
    Ok(request.redirect_done(&format!("/dashboard/{}/jobs/{}", project.domain, job.id), "sent"))
}

/// The instruction to solve conflicts, with both sides of each.
fn solving_prompt(record: &PullRecord, files: &[FileConflict]) -> String {
    let mut prompt = format!(
        "Solve the conflicts of pull request #{}, “{}”. `{}` is merged into its branch `{}`. The files below hold what `{}` \
         says now: make the change of the branch in them again, so that what both sides wanted is there.\n",
        record.number, record.title, record.base, record.head, record.base
    );
    for file in files.iter().take(MAX_FILES_IN_PROMPT) {
        prompt.push_str(&format!("\n`{}`", file.path));
        match &file.kind {
            ConflictKind::Lines(lines) => {
                prompt.push_str(":\n");
                for conflict in lines.iter().take(MAX_CONFLICTS_IN_PROMPT) {
                    prompt.push_str(&sides(conflict, record));
                }
            }
            ConflictKind::Structure => prompt.push_str(": both changed the same entries of the navigation.\n"),
            ConflictKind::AddedInBoth => prompt.push_str(": both added it.\n"),
            ConflictKind::DeletedInTarget => prompt.push_str(&format!(": `{}` deleted it.\n", record.base)),
            ConflictKind::DeletedInSource => prompt.push_str(": the branch deleted it.\n"),
            ConflictKind::FileAndFolder => prompt.push_str(": one made a folder of this name.\n"),
            ConflictKind::NoText => prompt.push_str(": it is no text, or too large to be merged by lines.\n"),
        }
    }
    if files.len() > MAX_FILES_IN_PROMPT {
        prompt.push_str(&format!("\nAnd {}.\n", counted((files.len() - MAX_FILES_IN_PROMPT) as u64, "other file")));
    }
    prompt
}

fn sides(conflict: &LineConflict, record: &PullRecord) -> String {
    let side = |name: String, lines: &str| match lines.is_empty() {
        true => format!("\n{name}: nothing.\n"),
        false => format!("\n{name}:\n\n````\n{}\n````\n", shortened(lines.trim_end(), MAX_SIDE_CHARS_IN_PROMPT)),
    };
    [
        side("Before".to_owned(), &conflict.base),
        side(format!("On `{}`, from line {}", record.base, conflict.line), &conflict.target),
        side("On the branch".to_owned(), &conflict.source),
    ]
    .concat()
}

fn conflict(file: &FileConflict, record: &PullRecord, place: Place<'_>) -> Markup {
    let (base, head) = (html! { code { (Untrusted(&record.base)) } }, long_name(&record.head));
    html! {
        h2 { (file_name(&file.path, place)) }
        @match &file.kind {
            ConflictKind::Lines(lines) => {
                p { "Both changed the same lines." }
                @for lines in lines {
                    p.soft { "From line " (lines.line) " on " (base) ":" }
                    div.sides {
                        div { (side(&html! { "Before" }, &lines.base, &lines.base)) }
                        div { (side(&html! { "On " (base) }, &lines.target, &lines.base)) }
                        div { (side(&html! { "On " (head) }, &lines.source, &lines.base)) }
                    }
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

/// One side of a conflict, with what it changed marked.
fn side(label: &Markup, lines: &str, before: &str) -> Markup {
    let changed = diff::differing(lines, before).unwrap_or_default();
    html! {
        p { (label) ":" @if lines.is_empty() { " these lines are gone." } }
        @if !lines.is_empty() {
            pre {
                (Untrusted(&lines[..changed.start]))
                @if !changed.is_empty() { ins { (Untrusted(&lines[changed.clone()])) } }
                (Untrusted(&lines[changed.end..]))
            }
        }
    }
}
