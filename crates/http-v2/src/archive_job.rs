//! `POST /v2/agent/{projectId}/job/{id}/archive`: put a job away for good. A body is not asked for and not read.

use docent_jobs::Jobs;
use docent_types::Project;
use docent_web::{HttpError, Response, respond};
use http::StatusCode;

use crate::face::Face;
use crate::job::JobBody;

pub(crate) async fn archive_job(face: &Face, project: &Project, id: &str) -> Result<Response, HttpError> {
    let job = face.jobs.archive(&project.id, Jobs::id(&project.id, id)?).await?;
    Ok(respond::json(StatusCode::OK, &JobBody::from(&*job)))
}
