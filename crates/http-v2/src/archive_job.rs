//! `POST /v2/agent/{projectId}/job/{id}/archive`: put a job away for good. A body is not asked for and not read.

use docent_types::Project;
use docent_web::{Response, respond};
use http::StatusCode;

use crate::face::Face;
use crate::failure::Failure;
use crate::get_job::job_id;
use crate::job::JobBody;

pub(crate) async fn archive_job(face: &Face, project: &Project, id: &str) -> Result<Response, Failure> {
    let job = face.jobs.archive(&project.id, job_id(project, id)?).await?;
    Ok(respond::json(StatusCode::OK, &JobBody::from(&job)))
}
