//! `GET /v1/agent/{projectId}/job/{id}`: where a job stands, as a session.

use docent_jobs::Jobs;
use docent_types::{Project, Session};
use docent_web::{HttpError, Response, respond};
use http::StatusCode;

use crate::face::Face;
use crate::session::SessionBody;

pub(crate) async fn get_session(face: &Face, project: &Project, id: &str) -> Result<Response, HttpError> {
    let job = face.jobs.job(&project.id, Jobs::id(&project.id, id)?).await?;
    Ok(respond::json(StatusCode::OK, &SessionBody::from(&Session::from(&job))))
}
