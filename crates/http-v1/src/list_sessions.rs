//! `GET /v1/agent/{projectId}/jobs`: the sessions of a project, newest first, some of them skipped.

use docent_jobs::JobQuery;
use docent_types::Project;
use docent_web::{HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;

use crate::api::Api;
use crate::session::SessionBody;

const MOST: u32 = 100;
const USUAL: u32 = 12;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionsBody<'a> {
    all_sessions: Vec<SessionBody<'a>>,
}

pub(crate) async fn list_sessions(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let skip = request.query_number("skip", 0..=u32::MAX, 0)?;
    let limit = request.query_number("take", 1..=MOST, USUAL)?;
    let query = JobQuery { project: project.id.clone(), status: None, after: None, skip, limit };
    let jobs = api.jobs.list(query).await?;
    let body = SessionsBody { all_sessions: jobs.iter().map(SessionBody::from).collect() };
    Ok(respond::json(StatusCode::OK, &body))
}
