//! `GET /v1/agent/{projectId}/job/{id}`: where a job stands, as a session, at once or as soon as it is halted.

use std::time::Duration;

use docent_jobs::{Jobs, LONGEST_WAIT};
use docent_types::{Project, Session};
use docent_web::{HttpError, Request, Response, respond};

use crate::face::Face;
use crate::session::SessionBody;

pub(crate) async fn get_session(
    face: &Face,
    request: &Request,
    project: &Project,
    id: &str,
) -> Result<Response, HttpError> {
    let id = Jobs::id(&project.id, id)?;
    let wait = request.query_number_if_any("wait", 1..=LONGEST_WAIT, "leave it out to be answered at once")?;
    let wait = wait.map(|seconds| Duration::from_secs(seconds.into()));
    let job = face.jobs.look(&project.id, id, wait, request.draining().told()).await?;
    Ok(respond::json_unless_known(request, &SessionBody::from(&Session::from(&*job))))
}
