//! The settings of the server, as they are and where they come from.

use docent_jobs::HookState;
use docent_types::{StoreError, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::icon::{Tone, badge};
use crate::layout::Section;
use crate::operations::Setting;
use crate::pages::home::finding_list;
use crate::parts::{Column, table};
use crate::text::{Sentence, Untrusted, counted, relative_time};

/// The tables of the configuration, and what people call them.
const HEADINGS: [(&str, &str); 13] = [
    ("", "Server"),
    ("agent", "Agent"),
    ("assistant", "Assistant"),
    ("limits", "Limits"),
    ("retention", "How long things are kept"),
    ("models", "Language models"),
    ("hooks", "Webhooks"),
    ("search", "Search"),
    ("forges", "Tokens for forges"),
    ("github_app", "GitHub app"),
    ("git", "git"),
    ("openid", "Sign-in at an identity provider"),
    ("postgres", "PostgreSQL"),
];

pub(crate) async fn settings(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let parts = request.parts();
    let settings = parts.operations.settings();
    let findings = parts.operations.findings().await;
    let hooks = parts.operations.hooks().await.map_err(|error| StoreError::new("read the webhooks", error))?;
    let now = parts.clock.now();
    let body = html! {
        p { "These are read from the configuration when the server starts, and are changed there." }
        @for group in settings.chunk_by(|one, next| table_of(one) == table_of(next)) { (setting_group(request, group)) }
        @if !hooks.is_empty() {
            h2 { "Deliveries to webhooks" }
            (deliveries(&hooks, now))
        }
        h2 { "Checks" }
        @match findings.at {
            None => p.soft { "Not finished yet." },
            Some(at) => {
                p.soft { "Checked " (relative_time(at, now)) "." }
                (finding_list(&findings.findings))
                details {
                    summary { "What passed" }
                    ul { @for finding in findings.findings.iter().filter(|finding| finding.level == crate::operations::Level::Good) { li { (finding.check) ": " (Sentence(&finding.what)) } } }
                }
            }
        }
    };
    Ok(request.page("Settings", Section::Settings, None, &body))
}

/// The table of the configuration that a setting is in; empty for one above all tables.
fn table_of(setting: &Setting) -> &str {
    setting.key.split_once('.').map_or("", |(table, _)| table)
}

/// The settings of one table of the configuration, under a heading that people understand.
fn setting_group(request: &AuthorizedRequest<'_>, group: &[Setting]) -> Markup {
    let table_name = group.first().map(table_of).unwrap_or_default();
    let named = HEADINGS.iter().find(|(name, _)| *name == table_name).map(|(_, heading)| (*heading).to_owned());
    let heading = named.unwrap_or_else(|| table_name.replace('_', " "));
    let rows = group.iter().map(|setting| {
        vec![
            html! { code { (setting.key) } },
            html! { @if setting.key.ends_with(".model") { (request.model_name(&setting.value)) } @else { (Untrusted(&setting.value)) } },
            html! { span.soft.small { (Untrusted(&setting.source)) } },
        ]
    });
    html! {
        h2 { (heading) }
        div.plain-head { (table(&heading, &[Column::Title("Setting"), Column::Text("Value"), Column::Text("From")], rows)) }
    }
}

fn deliveries(hooks: &[HookState], now: Timestamp) -> Markup {
    let rows = hooks.iter().map(|hook| {
        let (last, answer) = match &hook.last {
            None => (html! { span.soft { "none yet" } }, html! {}),
            Some(attempt) => (
                html! { @if attempt.delivered { (badge(Tone::Done, "delivered")) } @else { (badge(Tone::Failed, "failed")) } " " (relative_time(attempt.at, now)) },
                html! { (Untrusted(&attempt.answer)) },
            ),
        };
        vec![html! { code { (hook.hook) } }, last, answer, html! { (counted(hook.queued, "event")) }]
    });
    let columns =
        [Column::Title("Webhook"), Column::Text("Last delivery"), Column::Text("Answer"), Column::Text("Waiting")];
    table("Webhooks", &columns, rows)
}
