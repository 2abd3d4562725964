//! The API keys of a project: make, see when they were used, revoke.

use std::time::Duration;

use docent_access::{Grant, KeyId, KeyKind, KeyRecord, Scope, mint, system_randomness};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, redirect};
use crate::layout::{Section, danger, table, token};
use crate::text::{Untrusted, relative_time};

const KINDS: [(&str, KeyKind); 2] = [("assistant", KeyKind::Assistant), ("admin", KeyKind::Admin)];
const SCOPES: [(&str, Scope); 2] = [("write", Scope::Write), ("read", Scope::Read)];
/// Lifetimes of a key in days; 0 means that it never expires.
const LIFETIMES: [(&str, u64); 5] = [("90", 90), ("30", 30), ("7", 7), ("365", 365), ("0", 0)];
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The longest name of a key, in characters.
const MAX_NAME_CHARS: usize = 100;

pub(crate) async fn list(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let body = page_of(request, project, None).await?;
    Ok(request.page("API keys", Section::Keys, Some(project), &body))
}

async fn page_of(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    new_key: Option<(&str, &KeyRecord)>,
) -> Result<Markup, HttpError> {
    let mut keys = request.parts().keys.keys(Some(&project.id)).await.map_err(HttpError::internal)?;
    let now = request.parts().clock.now();
    keys.sort_by_key(|key| (has_ended(key, now), std::cmp::Reverse(key.created_at)));
    Ok(html! {
        @if let Some((key, record)) = new_key {
            div.box.good role="status" {
                p { "This is the only time the key is shown. Its id is " code { (record.id) } "." }
                p.secret { code #key { (key) } button.quiet type="button" data-copy="key" hidden { "Copy the key" } }
            }
        }
        dl.box {
            (copied("project-id", "Project id (for agent endpoints)", project.id.as_str()))
            (copied("domain", "Domain (for assistant endpoints)", project.domain.as_str()))
        }
        @if keys.is_empty() { p { "There is no key yet. An admin key starts jobs; an assistant key is public and asks questions." } }
        @else { (rows(request, project, &keys, now)) }
        h2 { "Make a key" }
        (form(request))
    })
}

fn copied(id: &str, name: &str, value: &str) -> Markup {
    html! {
        dt { (name) }
        dd.secret { code id=(id) { (value) } button.quiet type="button" data-copy=(id) hidden { "Copy" } }
    }
}

fn has_ended(key: &KeyRecord, now: Timestamp) -> bool {
    key.revoked_at.is_some() || key.grant.expires_at.is_some_and(|expires| expires <= now)
}

fn rows(request: &AuthorizedRequest<'_>, project: &Project, keys: &[KeyRecord], now: Timestamp) -> Markup {
    let head = html! { th { "Key" } th { "Kind" } th { "Limits" } th { "Made" } th { "Last used" } th { "State" } };
    let rows = html! {
        @for key in keys {
            tr {
                td { code { (key.id) } @if let Some(name) = &key.name { br; (Untrusted(name)) } }
                td { (key.grant.kind.as_str()) ", " (key.grant.scope.as_str()) }
                td { (limits(&key.grant)) }
                td { (relative_time(key.created_at, now)) br; @match &key.made_by { Some(name) => { "by " (Untrusted(name)) }, None => "on the command line" } }
                td { @match key.used_at { Some(at) => (relative_time(at, now)), None => "never" } }
                td {
                    @if let Some(at) = key.revoked_at { "revoked " (relative_time(at, now)) }
                    @else if let Some(at) = key.grant.expires_at.filter(|at| *at <= now) { "expired " (relative_time(at, now)) }
                    @else {
                        @if let Some(at) = key.grant.expires_at { "expires " (relative_time(at, now)) } @else { "never expires" }
                        (danger(request.signed_in, &format!("/dashboard/{}/keys/{}/revoke", project.domain, key.id), "Revoke",
                            &stops(key)))
                    }
                }
            }
        }
    };
    table("API keys", &head, &rows)
}

/// What stops working when a key is revoked.
fn stops(key: &KeyRecord) -> Markup {
    html! {
        @match key.grant.kind {
            KeyKind::Assistant => "Every page and program that asks questions or searches with this key gets 401 from then on.",
            KeyKind::Admin => "Every program that starts or reads jobs with this key gets 401 from then on; running jobs go on.",
        }
        @if key.used_at.is_none() { " It was never used." }
        " This cannot be undone."
    }
}

fn limits(grant: &Grant) -> Markup {
    html! {
        @if grant.allow_ip.is_empty() && grant.allow_origin.is_empty() { "from anywhere" }
        @for range in &grant.allow_ip { div { (range) } }
        @for origin in &grant.allow_origin { div { (origin.as_str()) } }
    }
}

fn form(request: &AuthorizedRequest<'_>) -> Markup {
    html! {
        form.fields method="post" {
            (token(request.signed_in))
            div {
                label for="kind" { "Kind" }
                select #kind name="kind" {
                    option value="assistant" { "assistant: public, for questions and search in your docs" }
                    option value="admin" { "admin: secret, for jobs and analytics" }
                }
            }
            div { label for="name" { "Name" } small.hint #name-hint { "What it is for, so that you know it later." } input #name aria-describedby="name-hint" name="name" maxlength=(MAX_NAME_CHARS) autocomplete="off"; }
            div {
                label for="scope" { "May" }
                select #scope name="scope" { option value="write" { "read and write" } option value="read" { "only read" } }
            }
            div {
                label for="days" { "Expires" }
                select #days name="days" {
                    @for (value, days) in LIFETIMES {
                        option value=(value) { @if days == 0 { "never" } @else { "in " (days) " days" } }
                    }
                }
            }
            div { label for="ips" { "Addresses it may be used from" } small.hint #ips-hint { "One address or range a line, such as 10.0.0.0/8. Empty for any." } textarea #ips aria-describedby="ips-hint" name="ips" rows="2" {} }
            div { label for="origins" { "Web origins it may be used from" } small.hint #origins-hint { "One a line, such as https://docs.example.com. Empty for any." } textarea #origins aria-describedby="origins-hint" name="origins" rows="2" {} }
            div { button type="submit" { "Make the key" } }
        }
    }
}

pub(crate) async fn create(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let (form, now) = (request.form, request.parts().clock.now());
    let mut grant = Grant::new(form.one_of("kind", &KINDS)?, project.id.clone(), now);
    grant.scope = form.one_of("scope", &SCOPES)?;
    let days = form.one_of("days", &LIFETIMES)?;
    grant.expires_at = (days > 0).then(|| now.plus(DAY * u32::try_from(days).unwrap_or(u32::MAX)));
    for range in form.lines("ips") {
        let range = range.parse().map_err(|error| Refusal::invalid(format!("addresses: {error}")))?;
        grant.allow_ip.push(range);
    }
    for origin in form.lines("origins") {
        let origin = origin.parse().map_err(|error| Refusal::invalid(format!("origins: {error}")))?;
        grant.allow_origin.push(origin);
    }
    let name = form.given("name").map(str::to_owned);
    if name.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME_CHARS) {
        return Err(Refusal::invalid(format!("name: at most {MAX_NAME_CHARS} characters")).into());
    }
    let (key, record) = mint(grant, now, system_randomness).map_err(HttpError::Internal)?;
    let made_by = Some(request.signed_in.operator.name.as_str().to_owned());
    let record = KeyRecord { name, made_by, ..record };
    request.parts().keys.insert(record.clone()).await.map_err(HttpError::internal)?;
    let detail = format!("{}, {}", record.grant.kind.as_str(), record.grant.scope.as_str());
    request.audit("key.create", Some(&project.id), record.id.as_str(), Some(detail)).await;
    let body = page_of(request, project, Some((key.expose(), &record))).await?;
    Ok(request.page("API keys", Section::Keys, Some(project), &body))
}

pub(crate) async fn revoke(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let id = KeyId::new(id);
    let missing = || HttpError::from(Refusal::not_found("This project has no such key."));
    let keys = request.parts().keys.keys(Some(&project.id)).await.map_err(HttpError::internal)?;
    if !keys.iter().any(|key| key.id == id) {
        return Err(missing());
    }
    let revoked = request.parts().keys.revoke(&id, request.parts().clock.now()).await.map_err(HttpError::internal)?;
    let record = revoked.ok_or_else(missing)?;
    request.audit("key.revoke", Some(&project.id), record.id.as_str(), record.name).await;
    Ok(redirect(&format!("/dashboard/{}/keys?done=key-revoked", project.domain)))
}
