//! The settings of the server, as they are and where they come from.

use docent_jobs::HookState;
use docent_types::{StoreError, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::layout::{Section, table};
use crate::pages::home::finding_list;
use crate::text::{Untrusted, counted, relative_time};

pub(crate) async fn settings(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let parts = request.parts();
    let settings = parts.operations.settings();
    let findings = parts.operations.findings().await;
    let hooks = parts.operations.hooks().await.map_err(|error| StoreError::new("read the webhooks", error))?;
    let now = parts.clock.now();
    let head = html! { th { "Setting" } th { "Value" } th { "From" } };
    let rows = html! {
        @for setting in &settings {
            tr { td { code { (setting.key) } } td { (Untrusted(&setting.value)) } td { (Untrusted(&setting.source)) } }
        }
    };
    let body = html! {
        p { "These are read from the configuration when the server starts, and are changed there." }
        (table("Settings", &head, &rows))
        @if !hooks.is_empty() {
            h2 { "Webhooks" }
            (table("Webhooks", &html! { th { "Webhook" } th { "Last delivery" } th { "Answer" } th { "Waiting" } }, &deliveries(&hooks, now)))
        }
        h2 { "Checks" }
        @match findings.at {
            None => p.soft { "Not finished yet." },
            Some(at) => {
                p.soft { "Checked " (relative_time(at, now)) "." }
                (finding_list(&findings.findings))
                details {
                    summary { "What passed" }
                    ul { @for finding in findings.findings.iter().filter(|finding| finding.level == crate::operations::Level::Good) { li { (finding.check) ": " (Untrusted(&finding.what)) } } }
                }
            }
        }
    };
    Ok(request.page("Settings", Section::Settings, None, &body))
}

fn deliveries(hooks: &[HookState], now: Timestamp) -> Markup {
    html! {
        @for hook in hooks {
            tr {
                td { code { (hook.hook) } }
                @match &hook.last {
                    None => { td { "none yet" } td {} },
                    Some(attempt) => {
                        td { (relative_time(attempt.at, now)) ": " @if attempt.delivered { "delivered" } @else { "failed" } }
                        td { (Untrusted(&attempt.answer)) }
                    }
                }
                td { (counted(hook.queued, "event")) }
            }
        }
    }
}
