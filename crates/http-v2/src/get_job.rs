//! `GET /v2/agent/{projectId}/job/{id}`: where a job stands.

use docent_types::{JobId, Project, Refusal};
use docent_web::{Response, respond};
use http::StatusCode;

use crate::face::Face;
use crate::failure::Failure;
use crate::job::JobBody;

pub(crate) async fn get_job(face: &Face, project: &Project, id: &str) -> Result<Response, Failure> {
    let job = face.jobs.job(&project.id, job_id(project, id)?).await?;
    Ok(respond::json(StatusCode::OK, &JobBody::from(&job)))
}

/// The id in a path. What is no id at all is no job either.
pub(crate) fn job_id(project: &Project, text: &str) -> Result<JobId, Refusal> {
    JobId::parse(text).ok_or_else(|| {
        let shown: String = text.chars().take(80).collect();
        Refusal::not_found(format!(
            "project `{}` has no job `{shown}`; check the id, or create a job first",
            project.id
        ))
    })
}
