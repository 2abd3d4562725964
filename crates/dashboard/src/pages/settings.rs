//! The settings of the server, as they are and where they come from.

use docent_web::{HttpError, Response};
use maud::html;

use crate::dashboard::Visit;
use crate::layout::{Section, table};
use crate::pages::home::finding_list;
use crate::text::{Foreign, moment};

pub(crate) async fn settings(visit: &Visit<'_>) -> Result<Response, HttpError> {
    let parts = visit.parts();
    let settings = parts.operations.settings();
    let findings = parts.operations.findings().await;
    let now = parts.clock.now();
    let head = html! { th { "Setting" } th { "Value" } th { "From" } };
    let rows = html! {
        @for setting in &settings {
            tr { td { code { (setting.key) } } td { (Foreign(&setting.value)) } td { (Foreign(&setting.source)) } }
        }
    };
    let body = html! {
        p { "These are read from the configuration when the server starts, and are changed there." }
        (table("Settings", &head, &rows))
        h2 { "Checks" }
        @match findings.at {
            None => p.soft { "Not finished yet." },
            Some(at) => {
                p.soft { "Checked " (moment(at, now)) "." }
                (finding_list(&findings.findings))
                details {
                    summary { "What passed" }
                    ul { @for finding in findings.findings.iter().filter(|finding| finding.level == crate::operations::Level::Good) { li { (finding.check) ": " (Foreign(&finding.what)) } } }
                }
            }
        }
    };
    Ok(visit.page("Settings", Section::Settings, None, &body))
}
