//! `POST /v2/agent/{projectId}/job/{id}/archive`: archives a job permanently. A body is ignored.

use docent_jobs::Jobs;
use docent_types::Project;
use docent_web::{HttpError, Request, Response, respond};
use http::StatusCode;

use crate::api::Api;
use crate::job::JobBody;
use crate::route::NamedResource;

pub(crate) async fn archive_job(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let id = Jobs::id(&project.id, NamedResource::Job.by(request))?;
    let job = api.jobs.archive(&project.id, id).await?;
    Ok(respond::json(StatusCode::OK, &JobBody::from(&*job)))
}
