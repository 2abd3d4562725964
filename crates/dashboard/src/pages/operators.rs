//! The people who may sign in, and what they did.

use docent_operators::{Credential, OperatorId, OperatorName, OperatorRole, WriteError};
use docent_types::Refusal;
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, redirect};
use crate::layout::{Section, danger, table, token};
use crate::text::{Untrusted, relative_time};

const ROLES: [(&str, OperatorRole); 3] =
    [("viewer", OperatorRole::Viewer), ("editor", OperatorRole::Editor), ("owner", OperatorRole::Owner)];
/// Entries of the audit list on a page.
const ENTRIES: usize = 100;

pub(crate) async fn list(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let body = page_of(request, None).await?;
    Ok(request.page("Operators", Section::Operators, None, &body))
}

async fn page_of(request: &AuthorizedRequest<'_>, link: Option<&str>) -> Result<Markup, HttpError> {
    let operators = request.parts().operators.operators().await.map_err(HttpError::internal)?;
    let now = request.parts().clock.now();
    let me = request.signed_in.operator.id;
    let head = html! { th { "Name" } th { "Role" } th { "Last seen" } th { "Since" } th { "Change" } };
    let rows = html! {
        @for operator in &operators {
            tr {
                td { (Untrusted(operator.name.as_str())) @if operator.id == me { " (you)" } }
                td { (operator.role.as_str()) }
                td { @match operator.last_seen_at { Some(at) => (relative_time(at, now)), None => "never" } }
                td { (relative_time(operator.created_at, now)) }
                td {
                    @match &operator.credential {
                        Credential::Identity(identity) => p.soft { "Signs in at " (Untrusted(&identity.issuer)) },
                        Credential::Password(_) => {
                            form.row method="post" action=(format_args!("/dashboard/-/operators/{}/role", operator.id)) {
                                (token(request.signed_in))
                                select name="role" aria-label=(format_args!("Role of {}", operator.name)) {
                                    @for (name, role) in ROLES { option value=(name) selected[role == operator.role] { (name) } }
                                }
                                button.quiet type="submit" { "Set" }
                            }
                            form method="post" action=(format_args!("/dashboard/-/operators/{}/reset", operator.id)) {
                                (token(request.signed_in)) button.quiet type="submit" { "Link for a new password" }
                            }
                        }
                    }
                    @if operator.id != me {
                        (danger(request.signed_in, &format!("/dashboard/-/operators/{}/remove", operator.id), "Remove",
                            &html! { (Untrusted(operator.name.as_str())) " will be signed out everywhere and can sign in no more." }))
                    }
                }
            }
        }
    };
    Ok(html! {
        @if let Some(link) = link {
            div.box.good role="status" {
                p { "This link works once, for a day. Give it to the person over a channel you trust; it is not shown again." }
                @if request.parts().public_url.is_none() { p { "It begins with the server's own address, because the configuration does not say where people reach the server. Whoever runs it can set " code { "public_url" } "." } }
                p.secret { code #link { (link) } button.quiet type="button" data-copy="link" hidden { "Copy" } }
            }
        }
        (table("Operators", &head, &rows))
        h2 { "Invite somebody" }
        form.fields method="post" {
            (token(request.signed_in))
            div { label for="name" { "Name" } small.hint #name-hint { "They can change it when they choose a password. May stay empty." } input #name aria-describedby="name-hint" name="name" maxlength="100" autocomplete="off"; }
            div {
                label for="role" { "Role" }
                select #role name="role" {
                    option value="viewer" { "viewer: sees everything but keys and people" }
                    option value="editor" selected { "editor: jobs and pull requests, too" }
                    option value="owner" { "owner: keys, projects and operators, too" }
                }
            }
            div { button type="submit" { "Make a link" } }
        }
    })
}

pub(crate) async fn invite(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let role = request.form.one_of("role", &ROLES)?;
    let name = request.form.given("name").map(OperatorName::parse).transpose();
    let name = name.map_err(|error| Refusal::invalid(error.to_string()))?;
    let subject = name.as_ref().map_or_else(|| "somebody".to_owned(), |name| name.as_str().to_owned());
    let link = request.parts().operators.invite(name, role).await.map_err(refusal)?;
    request.audit("operator.invite", None, subject, Some(role.as_str().to_owned())).await;
    with_link(request, link.expose()).await
}

pub(crate) async fn reset(request: &AuthorizedRequest<'_>, id: &str) -> Result<Response, HttpError> {
    let (id, name) = known(request, id).await?;
    let link = request.parts().operators.reset_link(id).await.map_err(refusal)?;
    request.audit("operator.reset", None, name, None).await;
    with_link(request, link.expose()).await
}

async fn with_link(request: &AuthorizedRequest<'_>, token: &str) -> Result<Response, HttpError> {
    let link = format!("{}/dashboard/-/join/{token}", request.parts().url());
    let body = page_of(request, Some(&link)).await?;
    Ok(request.page("Operators", Section::Operators, None, &body))
}

pub(crate) async fn set_role(request: &AuthorizedRequest<'_>, id: &str) -> Result<Response, HttpError> {
    let role = request.form.one_of("role", &ROLES)?;
    let (id, name) = known(request, id).await?;
    request.parts().operators.set_role(id, role).await.map_err(refusal)?;
    request.audit("operator.role", None, name, Some(role.as_str().to_owned())).await;
    Ok(redirect("/dashboard/-/operators?done=role"))
}

pub(crate) async fn remove(request: &AuthorizedRequest<'_>, id: &str) -> Result<Response, HttpError> {
    let (id, name) = known(request, id).await?;
    request.parts().operators.remove(id).await.map_err(refusal)?;
    request.audit("operator.remove", None, name, None).await;
    Ok(redirect("/dashboard/-/operators?done=operator-removed"))
}

async fn known(request: &AuthorizedRequest<'_>, id: &str) -> Result<(OperatorId, String), HttpError> {
    let missing = || HttpError::from(Refusal::not_found("There is no such operator; somebody may have removed them."));
    let operators = request.parts().operators.operators().await.map_err(HttpError::internal)?;
    let found = operators.into_iter().find(|operator| operator.id.to_string() == id).ok_or_else(missing)?;
    Ok((found.id, found.name.as_str().to_owned()))
}

/// The audit list, newest first.
pub(crate) async fn audit(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let before = request.http.query("before").and_then(|before| before.parse::<u64>().ok());
    let entries = request.parts().operators.audited(before, ENTRIES).await.map_err(HttpError::internal)?;
    let now = request.parts().clock.now();
    let head = html! { th { "When" } th { "Who" } th { "What" } th { "Project" } th { "Of" } th { "From" } };
    let rows = html! {
        @for (_, entry) in &entries {
            tr {
                td { (relative_time(entry.at, now)) }
                td { @match &entry.operator { Some(name) => (Untrusted(name.as_str())), None => "command line" } }
                td { code { (entry.action) } @if let Some(detail) = &entry.detail { " " (Untrusted(detail)) } }
                td { @if let Some(project) = &entry.project { (project) } }
                td { (Untrusted(&entry.subject)) }
                td { @if let Some(address) = entry.address { (address) } }
            }
        }
    };
    let body = html! {
        p { "Who changed what, for a year." }
        @if entries.is_empty() { p.soft { "Nothing so far." } } @else { (table("Audit list", &head, &rows)) }
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
