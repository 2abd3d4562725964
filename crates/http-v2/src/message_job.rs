//! `POST /v2/agent/{projectId}/job/{id}/message`: a follow-up instruction for a job.

use docent_jobs::{Fingerprint, Jobs, LARGEST_REQUEST, instruction};
use docent_types::Project;
use docent_web::{HttpError, Request, Response, rate_limit, respond};
use http::StatusCode;
use serde::Deserialize;

use crate::api::Api;
use crate::job::JobBody;
use crate::route::NamedResource;

#[derive(Debug, Deserialize)]
struct MessageBody {
    prompt: String,
}

pub(crate) async fn message_job(api: &Api, request: &mut Request, project: &Project) -> Result<Response, HttpError> {
    let id = Jobs::id(&project.id, NamedResource::Job.by(request))?;
    let body = request.json(LARGEST_REQUEST).await?;
    let key = Fingerprint::of(request.header_values("idempotency-key"), body.bytes())?;
    let MessageBody { prompt } = body.parse()?;
    let written = api.jobs.follow_up(&project.id, id, instruction(prompt)?, key).await?;
    let mut response = respond::json(StatusCode::OK, &JobBody::from(&*written.job));
    if let Some(quota_status) = &written.quota_status {
        rate_limit(response.headers_mut(), quota_status);
    }
    Ok(response)
}
