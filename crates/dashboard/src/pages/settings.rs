//! The settings of the server, as they are and where they come from.

use docent_jobs::HookState;
use docent_types::{StoreError, Timestamp};
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::icon::{Tone, badge};
use crate::layout::Section;
use crate::pages::home::finding_list;
use crate::parts::{Column, table};
use crate::text::{Untrusted, counted, relative_time};

pub(crate) async fn settings(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let parts = request.parts();
    let settings = parts.operations.settings();
    let findings = parts.operations.findings().await;
    let hooks = parts.operations.hooks().await.map_err(|error| StoreError::new("read the webhooks", error))?;
    let now = parts.clock.now();
    let rows = settings.iter().map(|setting| {
        vec![
            html! { code { (setting.key) } },
            html! { (Untrusted(&setting.value)) },
            html! { span.soft { (Untrusted(&setting.source)) } },
        ]
    });
    let body = html! {
        p { "These are read from the configuration when the server starts, and are changed there." }
        (table("Settings", &[Column::Title("Setting"), Column::Text("Value"), Column::Text("From")], rows))
        @if !hooks.is_empty() {
            h2 { "Webhooks" }
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
                    ul { @for finding in findings.findings.iter().filter(|finding| finding.level == crate::operations::Level::Good) { li { (finding.check) ": " (Untrusted(&finding.what)) } } }
                }
            }
        }
    };
    Ok(request.page("Settings", Section::Settings, None, &body))
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
