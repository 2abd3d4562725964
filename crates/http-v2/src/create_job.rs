//! `POST /v2/agent/{projectId}/job`: accepts a job, which runs after the answer.

use docent_jobs::{Fingerprint, LARGEST_REQUEST, NewJob, instruction, requested_branch};
use docent_types::Project;
use docent_web::{HttpError, Request, Response, rate_limit, respond};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;

use crate::api::Api;
use crate::job::JobBody;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateBody {
    prompt: String,
    branch: Option<String>,
    as_draft: Option<bool>,
    model: Option<String>,
}

pub(crate) async fn create_job(api: &Api, request: &mut Request, project: &Project) -> Result<Response, HttpError> {
    let body = request.json(LARGEST_REQUEST).await?;
    let key = Fingerprint::of(request.header_values("idempotency-key"), body.bytes())?;
    let wanted: CreateBody = body.parse()?;
    let new = NewJob {
        project,
        messages: instruction(wanted.prompt)?,
        branch: requested_branch(wanted.branch.as_deref())?,
        as_draft: wanted.as_draft.unwrap_or(false),
        model: api.models.choose(wanted.model)?,
    };
    let written = api.jobs.submit(new, key).await?;
    let mut response = respond::json(StatusCode::CREATED, &JobBody::from(&*written.job));
    let headers = response.headers_mut();
    let location = format!("/v2/agent/{}/job/{}", project.id, written.job.id);
    if let Ok(location) = HeaderValue::try_from(location) {
        headers.insert(LOCATION, location);
    }
    if let Some(quota_status) = &written.quota_status {
        rate_limit(headers, quota_status);
    }
    Ok(response)
}
