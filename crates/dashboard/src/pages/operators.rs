//! The people who may sign in, and what they did.

use docent_operators::{AuditEntry, Credential, Operator, OperatorId, OperatorName, OperatorRole, WriteError};
use docent_types::Refusal;
use docent_web::{HttpError, Response};
use http::StatusCode;
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::flash::Flash;
use crate::layout::{Section, token};
use crate::parts::{Column, FormProblem, button, copy_button, danger, field, form_problem, notice, table};
use crate::text::{Untrusted, in_url, relative_time};

const ROLES: [(&str, OperatorRole); 3] =
    [("viewer", OperatorRole::Viewer), ("editor", OperatorRole::Editor), ("owner", OperatorRole::Owner)];
/// Entries of the audit list on a page.
const ENTRIES: usize = 100;

pub(crate) async fn list(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    page_of(request, ("", "editor"), None).await
}

/// `typed` is what was typed into the form: a name and a role.
async fn page_of(
    request: &AuthorizedRequest<'_>,
    typed: (&str, &str),
    problem: Option<&FormProblem>,
) -> Result<Response, HttpError> {
    let operators = request.parts().operators.operators().await.map_err(HttpError::internal)?;
    let now = request.parts().clock.now();
    let me = request.signed_in.operator.id;
    let rows = operators.iter().map(|operator| {
        vec![
            html! { strong { (Untrusted(operator.name.as_str())) } @if operator.id == me { " (you)" } },
            html! { (operator.role.as_str()) },
            html! { @match operator.last_seen_at { Some(at) => (relative_time(at, now)), None => "never" } },
            relative_time(operator.created_at, now),
            controls(request, operator),
        ]
    });
    let columns = [
        Column::Title("Name"),
        Column::Text("Role"),
        Column::Text("Last seen"),
        Column::Text("Since"),
        Column::Text("Change"),
    ];
    let link = match request.flash() {
        Some(Flash::Link(token)) => Some(format!("{}/dashboard/-/join/{token}", request.parts().url())),
        _ => None,
    };
    let body = html! {
        @if let Some(link) = &link {
            (notice("good", &html! {
                p { "This link works once, for a day. Give it to the person over a channel you trust; it is not shown again." }
                @if request.parts().public_url.is_none() { p { "It begins with the server's own address, because the configuration does not say where people reach the server. Whoever runs it can set " code { "public_url" } "." } }
                p.secret { code #link { (Untrusted(link)) } (copy_button("link", "Copy")) }
            }))
        }
        (table("Operators", &columns, rows))
        h2 { "Invite somebody" }
        (invitation(request, typed, problem))
    };
    Ok(request.page("Operators", Section::Operators, None, &body))
}

fn controls(request: &AuthorizedRequest<'_>, operator: &Operator) -> Markup {
    html! {
        @match &operator.credential {
            Credential::Identity(identity) => p.soft { "Signs in at " (Untrusted(&identity.issuer)) },
            Credential::Password(_) => div.actions {
                form method="post" action=(format_args!("/dashboard/-/operators/{}/role", operator.id)) {
                    (token(request.signed_in))
                    select name="role" aria-label=(format_args!("Role of {}", operator.name)) {
                        @for (name, role) in ROLES { option value=(name) selected[role == operator.role] { (name) } }
                    }
                    button.secondary type="submit" { "Set" }
                }
                (button(request.signed_in, &format!("/dashboard/-/operators/{}/reset", operator.id), "Link for a new password", "quiet"))
            }
        }
        @if operator.id != request.signed_in.operator.id {
            (danger(request.signed_in, &format!("/dashboard/-/operators/{}/remove", operator.id), "Remove",
                &html! { (Untrusted(operator.name.as_str())) " will be signed out everywhere and can sign in no more." }))
        }
    }
}

fn invitation(request: &AuthorizedRequest<'_>, (name, role): (&str, &str), problem: Option<&FormProblem>) -> Markup {
    const CHOICES: [(&str, &str); 3] = [
        ("viewer", "viewer: sees everything but keys and people"),
        ("editor", "editor: jobs and pull requests, too"),
        ("owner", "owner: keys, projects and operators, too"),
    ];
    html! {
        (form_problem(problem))
        form.fields method="post" {
            (token(request.signed_in))
            (field("name", "Name", "They can change it when they choose a password. May stay empty.", problem, |tie| html! {
                input #name aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] name="name" value=(name) maxlength="100" autocomplete="off";
            }))
            (field("role", "Role", "", problem, |tie| html! {
                select #role name="role" aria-describedby=[tie.described.as_deref()] { @for (value, label) in CHOICES { option value=(value) selected[value == role] { (label) } } }
            }))
            div { button type="submit" { "Make a link" } }
        }
    }
}

pub(crate) async fn invite(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let role = request.form.one_of("role", &ROLES)?;
    let typed = (request.form.text("name"), request.form.text("role"));
    let name = match request.form.given("name").map(OperatorName::parse).transpose() {
        Ok(name) => name,
        Err(error) => return refused(request, typed, FormProblem::of("name", error.to_string())).await,
    };
    let subject = name.as_ref().map_or_else(|| "somebody".to_owned(), |name| name.as_str().to_owned());
    let link = match request.parts().operators.invite(name, role).await {
        Ok(link) => link,
        Err(error @ (WriteError::Store(_) | WriteError::NoOperator)) => return Err(refusal(error)),
        Err(error) => return refused(request, typed, FormProblem::of("name", error.to_string())).await,
    };
    request.audit("operator.invite", None, subject, Some(role.as_str().to_owned())).await;
    Ok(with_link(request, link.expose()))
}

async fn refused(
    request: &AuthorizedRequest<'_>,
    typed: (&str, &str),
    problem: FormProblem,
) -> Result<Response, HttpError> {
    let mut response = page_of(request, typed, Some(&problem)).await?;
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(response)
}

pub(crate) async fn reset(request: &AuthorizedRequest<'_>, id: &str) -> Result<Response, HttpError> {
    let (id, name) = known(request, id).await?;
    let link = request.parts().operators.reset_link(id).await.map_err(refusal)?;
    request.audit("operator.reset", None, name, None).await;
    Ok(with_link(request, link.expose()))
}

fn with_link(request: &AuthorizedRequest<'_>, token: &str) -> Response {
    request.redirect_after("/dashboard/-/operators", &Flash::Link(token.to_owned()))
}

pub(crate) async fn set_role(request: &AuthorizedRequest<'_>, id: &str) -> Result<Response, HttpError> {
    let role = request.form.one_of("role", &ROLES)?;
    let (id, name) = known(request, id).await?;
    request.parts().operators.set_role(id, role).await.map_err(refusal)?;
    request.audit("operator.role", None, name, Some(role.as_str().to_owned())).await;
    Ok(request.redirect_done("/dashboard/-/operators", "role"))
}

pub(crate) async fn remove(request: &AuthorizedRequest<'_>, id: &str) -> Result<Response, HttpError> {
    let (id, name) = known(request, id).await?;
    request.parts().operators.remove(id).await.map_err(refusal)?;
    request.audit("operator.remove", None, name, None).await;
    Ok(request.redirect_done("/dashboard/-/operators", "operator-removed"))
}

async fn known(request: &AuthorizedRequest<'_>, id: &str) -> Result<(OperatorId, String), HttpError> {
    let missing = || HttpError::from(Refusal::not_found("There is no such operator; somebody may have removed them."));
    let operators = request.parts().operators.operators().await.map_err(HttpError::internal)?;
    let found = operators.into_iter().find(|operator| operator.id.to_string() == id).ok_or_else(missing)?;
    Ok((found.id, found.name.as_str().to_owned()))
}

/// What was done, by the names that the audit list has for it.
const ACTIONS: [(&str, &str); 27] = [
    ("job.create", "Started a job"),
    ("job.message", "Gave a job another instruction"),
    ("job.archive", "Archived a job"),
    ("key.create", "Made a key"),
    ("key.revoke", "Revoked a key"),
    ("operator.invite", "Invited somebody"),
    ("operator.join", "Joined"),
    ("operator.remove", "Removed an operator"),
    ("operator.reset", "Made a link for a new password"),
    ("operator.role", "Set a role"),
    ("operator.password", "Set a password"),
    ("project.add", "Added a project"),
    ("project.change", "Changed a project"),
    ("project.reindex", "Had docs fetched and indexed"),
    ("project.remove", "Removed a project"),
    ("pull.merged", "Merged a pull request"),
    ("pull.squashed", "Merged a pull request as one commit"),
    ("pull.updated", "Updated a branch"),
    ("pull.up-to-date", "Looked whether a branch is up to date"),
    ("pull.closed", "Closed a pull request"),
    ("pull.reopened", "Reopened a pull request"),
    ("pull.commented", "Commented on a pull request"),
    ("pull.solve", "Had conflicts solved"),
    ("sign_in", "Signed in"),
    ("sign_in.failed", "Failed to sign in"),
    ("sign_in.refused", "Was refused at the sign-in"),
    ("sign_out", "Signed out"),
];

/// An action in words, with its name as a tooltip; one without words is shown by its name.
fn sentence_of(action: &str) -> Markup {
    let words = ACTIONS.iter().find(|(name, _)| *name == action).map(|(_, words)| words);
    html! { @match words { Some(words) => span title=(action) { (words) }, None => code { (action) } } }
}

/// The project that an entry is about: a link, unless it was removed since.
fn project_of(request: &AuthorizedRequest<'_>, entry: &AuditEntry) -> Markup {
    let Some(id) = &entry.project else { return Markup::default() };
    let project = request.frame.projects.iter().find(|project| project.id == *id);
    html! { @match project { Some(project) => a href=(format_args!("/dashboard/{}", project.domain)) { (project.domain) }, None => (id) } }
}

/// The page of the job that an entry is about, and its id.
fn job_of<'e>(request: &AuthorizedRequest<'_>, entry: &'e AuditEntry) -> Option<(String, &'e str)> {
    let id = Some(entry.subject.as_str()).filter(|_| entry.action.starts_with("job."))?;
    let project = request.frame.projects.iter().find(|project| Some(&project.id) == entry.project.as_ref())?;
    Some((format!("/dashboard/{}/jobs/{}", project.domain, in_url(id)), id))
}

/// The audit list, newest first.
pub(crate) async fn audit(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let before = request.http.query("before").and_then(|before| before.parse::<u64>().ok());
    let entries = request.parts().operators.audited(before, ENTRIES).await.map_err(HttpError::internal)?;
    let now = request.parts().clock.now();
    let rows = entries.iter().map(|(_, entry)| {
        vec![
            html! { (sentence_of(&entry.action)) @if let Some(detail) = &entry.detail { span.sub { (Untrusted(detail)) } } },
            html! { @match &entry.operator { Some(name) => (Untrusted(name.as_str())), None => "command line" } },
            project_of(request, entry),
            html! { @match job_of(request, entry) {
                Some((address, id)) => a href=(address) { code title=(id) { "…" (id.get(id.len().saturating_sub(12)..).unwrap_or(id)) } },
                None => { @if !entry.subject.is_empty() { (Untrusted(&entry.subject)) } },
            } },
            relative_time(entry.at, now),
            html! { @if let Some(address) = entry.address { (address) } },
        ]
    });
    let columns = [
        Column::Title("What"),
        Column::Text("Who"),
        Column::Text("Project"),
        Column::Text("Of"),
        Column::Text("When"),
        Column::Text("From"),
    ];
    let body = html! {
        p { "Who changed what, for a year." }
        @if entries.is_empty() { p.soft { "Nothing so far." } } @else { (table("Audit list", &columns, rows)) }
        @if let Some((last, _)) = entries.last().filter(|_| entries.len() == ENTRIES) {
            p.pages { a href=(format_args!("?before={last}")) rel="next" { "Older" } }
        }
    };
    Ok(request.page("Audit", Section::Audit, None, &body))
}

/// An error of the operators as a refusal.
pub(crate) fn refusal(error: WriteError) -> HttpError {
    match error {
        WriteError::Store(source) => HttpError::internal(source),
        WriteError::NoOperator => Refusal::not_found(error.to_string()).into(),
        other => Refusal::conflict(other.to_string()).into(),
    }
}
