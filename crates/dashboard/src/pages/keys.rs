//! The API keys of a project: make, see when they were used, revoke.

use std::time::Duration;

use docent_access::{Grant, KeyId, KeyKind, KeyRecord, Scope, mint, system_randomness};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{HttpError, Response};
use http::StatusCode;
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::flash::Flash;
use crate::icon::{Icon, Tone, badge};
use crate::layout::{Section, token};
use crate::parts::{Column, FormProblem, copy_button, danger, empty, field, form_problem, notice, table};
use crate::text::{Untrusted, relative_time};

const KINDS: [(&str, KeyKind); 2] = [("assistant", KeyKind::Assistant), ("admin", KeyKind::Admin)];
const SCOPES: [(&str, Scope); 2] = [("write", Scope::Write), ("read", Scope::Read)];
/// Lifetimes of a key in days; 0 means that it never expires.
const LIFETIMES: [(&str, u64); 5] = [("90", 90), ("30", 30), ("7", 7), ("365", 365), ("0", 0)];
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The longest name of a key, in characters.
const MAX_NAME_CHARS: usize = 100;

/// What was typed into the form of a new key.
#[derive(Default)]
struct Typed {
    kind: String,
    name: String,
    scope: String,
    days: String,
    ips: String,
    origins: String,
}

pub(crate) async fn list(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    page_of(request, project, &Typed::default(), None).await
}

async fn page_of(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    typed: &Typed,
    problem: Option<&FormProblem>,
) -> Result<Response, HttpError> {
    let mut keys = request.parts().keys.keys(Some(&project.id)).await.map_err(HttpError::internal)?;
    let now = request.parts().clock.now();
    keys.sort_by_key(|key| (has_ended(key, now), std::cmp::Reverse(key.created_at)));
    let body = html! {
        @if let Some(Flash::Key(id, key)) = request.flash() {
            (notice("good", &html! {
                p { "This is the only time the key is shown. Its id is " code { (Untrusted(&id)) } "." }
                p.secret { code #key { (Untrusted(&key)) } (copy_button("key", "Copy the key")) }
            }))
        }
        dl.card {
            (copied("project-id", "Project id (for agent endpoints)", project.id.as_str()))
            (copied("domain", "Domain (for assistant endpoints)", project.domain.as_str()))
        }
        @if keys.is_empty() { (empty(Icon::Keys, "No key yet", "An admin key starts jobs; an assistant key is public and asks questions.", Some(("#make", "Make a key")))) }
        @else { (rows(request, project, &keys, now)) }
        h2 #make { "Make a key" }
        (form(request, typed, problem))
    };
    Ok(request.page("API keys", Section::Keys, Some(project), &body))
}

fn copied(id: &str, name: &str, value: &str) -> Markup {
    html! {
        div { dt { (name) } dd.secret { code id=(id) { (value) } (copy_button(id, "Copy")) } }
    }
}

pub(super) fn has_ended(key: &KeyRecord, now: Timestamp) -> bool {
    key.revoked_at.is_some() || key.grant.expires_at.is_some_and(|expires| expires <= now)
}

fn rows(request: &AuthorizedRequest<'_>, project: &Project, keys: &[KeyRecord], now: Timestamp) -> Markup {
    let rows = keys.iter().map(|key| {
        vec![
            html! { @if let Some(name) = &key.name { strong { (Untrusted(name)) } br; } code.count { (key.id) } },
            html! { (key.grant.kind.as_str()) span.sub { @match key.grant.scope { Scope::Read => "only reads", Scope::Write => "reads and writes" } } },
            limits(&key.grant),
            html! { (relative_time(key.created_at, now)) span.sub { @match &key.made_by { Some(name) => { "by " (Untrusted(name)) }, None => "on the command line" } } },
            html! { @match key.used_at { Some(at) => (relative_time(at, now)), None => span.soft { "never" } } },
            html! {
                @if let Some(at) = key.revoked_at { (badge(Tone::Closed, "revoked")) " " (relative_time(at, now)) }
                @else if let Some(at) = key.grant.expires_at.filter(|at| *at <= now) { (badge(Tone::Closed, "expired")) " " (relative_time(at, now)) }
                @else {
                    (badge(Tone::Done, "works"))
                    span.sub { @if let Some(at) = key.grant.expires_at { "expires " (relative_time(at, now)) } @else { "never expires" } }
                    (danger(request.signed_in, &format!("/dashboard/{}/keys/{}/revoke", project.domain, key.id), "Revoke",
                        &stops(key)))
                }
            },
        ]
    });
    let columns = [
        Column::Title("Key"),
        Column::Text("Kind"),
        Column::Text("Limits"),
        Column::Text("Made"),
        Column::Text("Last used"),
        Column::Text("State"),
    ];
    table("API keys", &columns, rows)
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

fn form(request: &AuthorizedRequest<'_>, typed: &Typed, problem: Option<&FormProblem>) -> Markup {
    let lines = |name: &'static str, label: &str, hint: &str, value: &str| {
        field(name, label, hint, problem, |tie| {
            html! {
                textarea id=(name) aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autofocus[tie.is_wrong] name=(name) rows="2" spellcheck="false" { (value) }
            }
        })
    };
    let choice = |name: &'static str, label: &str, chosen: &str, options: &[(&str, String)]| {
        field(name, label, "", problem, |tie| {
            html! {
                select id=(name) name=(name) aria-describedby=[tie.described.as_deref()] { @for (value, label) in options { option value=(value) selected[*value == chosen] { (label) } } }
            }
        })
    };
    let kinds = [
        ("assistant", "assistant: public, for questions and search in your docs".to_owned()),
        ("admin", "admin: secret, for jobs and analytics".to_owned()),
    ];
    let scopes = [("write", "read and write".to_owned()), ("read", "only read".to_owned())];
    let lifetimes =
        LIFETIMES.map(|(value, days)| (value, if days == 0 { "never".to_owned() } else { format!("in {days} days") }));
    html! {
        (form_problem(problem))
        form.fields method="post" {
            (token(request.signed_in))
            (choice("kind", "Kind", &typed.kind, &kinds))
            (field("name", "Name", "What it is for, so that you know it later.", problem, |tie| html! {
                input #name aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] name="name" value=(typed.name) maxlength=(MAX_NAME_CHARS) autocomplete="off";
            }))
            (choice("scope", "May", &typed.scope, &scopes))
            (choice("days", "Expires", &typed.days, &lifetimes))
            (lines("ips", "Addresses it may be used from", "One address or range a line, such as 10.0.0.0/8. Empty for any.", &typed.ips))
            (lines("origins", "Web origins it may be used from", "One a line, such as https://docs.example.com. Empty for any.", &typed.origins))
            div { button type="submit" { "Make the key" } }
        }
    }
}

pub(crate) async fn create(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let now = request.parts().clock.now();
    let (grant, name) = match granted(request, project, now) {
        Ok(granted) => granted,
        Err(Mistake::Form(error)) => return Err(error),
        Err(Mistake::Field(problem)) => {
            let text = |name| request.form.text(name).to_owned();
            let typed = Typed {
                kind: text("kind"),
                name: text("name"),
                scope: text("scope"),
                days: text("days"),
                ips: text("ips"),
                origins: text("origins"),
            };
            let mut response = page_of(request, project, &typed, Some(&problem)).await?;
            *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            return Ok(response);
        }
    };
    let (key, record) = mint(grant, now, system_randomness).map_err(HttpError::Internal)?;
    let made_by = Some(request.signed_in.operator.name.as_str().to_owned());
    let record = KeyRecord { name, made_by, ..record };
    request.parts().keys.insert(record.clone()).await.map_err(HttpError::internal)?;
    let detail = format!("{}, {}", record.grant.kind.as_str(), record.grant.scope.as_str());
    request.audit("key.create", Some(&project.id), record.id.as_str(), Some(detail)).await;
    let shown = Flash::Key(record.id.to_string(), key.expose().to_owned());
    Ok(request.redirect_after(&format!("/dashboard/{}/keys", project.domain), &shown))
}

/// What is wrong with the form of a key.
enum Mistake {
    /// No browser sends this.
    Form(HttpError),
    Field(FormProblem),
}

/// The grant and the name that a form describes.
fn granted(
    request: &AuthorizedRequest<'_>,
    project: &Project,
    now: Timestamp,
) -> Result<(Grant, Option<String>), Mistake> {
    let form = request.form;
    let mut grant = Grant::new(form.one_of("kind", &KINDS).map_err(Mistake::Form)?, project.id.clone(), now);
    grant.scope = form.one_of("scope", &SCOPES).map_err(Mistake::Form)?;
    let days = form.one_of("days", &LIFETIMES).map_err(Mistake::Form)?;
    grant.expires_at = (days > 0).then(|| now.plus(DAY * u32::try_from(days).unwrap_or(u32::MAX)));
    for range in form.lines("ips") {
        let range = range.parse().map_err(|error| Mistake::Field(FormProblem::of("ips", format!("{error}"))))?;
        grant.allow_ip.push(range);
    }
    for origin in form.lines("origins") {
        let origin = origin.parse().map_err(|error| Mistake::Field(FormProblem::of("origins", format!("{error}"))))?;
        grant.allow_origin.push(origin);
    }
    let name = form.given("name").map(str::to_owned);
    if name.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME_CHARS) {
        return Err(Mistake::Field(FormProblem::of("name", format!("At most {MAX_NAME_CHARS} characters."))));
    }
    Ok((grant, name))
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
    Ok(request.redirect_done(&format!("/dashboard/{}/keys", project.domain), "key-revoked"))
}
