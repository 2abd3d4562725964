//! `GET /v2/agent/{projectId}/jobs`: the jobs of a project, newest first, a page at a time.

use docent_jobs::JobQuery;
use docent_types::{JobStatus, Project, Refusal};
use docent_web::{HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;

use crate::api::Api;
use crate::cursor;
use crate::job::JobBody;
use crate::parameter::given;

const MOST: u32 = 100;
const USUAL: u32 = 20;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JobsBody<'a> {
    jobs: Vec<JobBody<'a>>,
    /// The `cursor` of the next page; null on the last page.
    next_cursor: Option<String>,
}

pub(crate) async fn list_jobs(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let status = given(request, "status").map(|given| status(&given)).transpose()?;
    let limit = request.query_number("limit", 1..=MOST, USUAL)?;
    let after = given(request, "cursor").map(|given| cursor::read(&given, status)).transpose()?;
    // One more than the page holds, to detect whether there is a next page.
    let query = JobQuery { project: project.id.clone(), status, after, skip: 0, limit: limit + 1 };
    let found = api.jobs.list(query).await?;
    let shown = &found[..found.len().min(limit as usize)];
    let next_cursor = shown.last().filter(|_| found.len() > shown.len()).map(|last| cursor::cursor(status, last.id));
    let body = JobsBody { jobs: shown.iter().map(JobBody::from).collect(), next_cursor };
    Ok(respond::json(StatusCode::OK, &body))
}

fn status(given: &str) -> Result<JobStatus, Refusal> {
    JobStatus::ALL.into_iter().find(|status| status.as_str() == given).ok_or_else(|| {
        let known = JobStatus::ALL.map(|status| format!("`{}`", status.as_str())).join(", ");
        let shown: String = given.chars().take(80).collect();
        Refusal::invalid(format!(
            "status: `{shown}` is not a status; choose one of {known}, or leave it out to get all jobs"
        ))
    })
}
