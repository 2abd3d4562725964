//! `GET /v1/agent/{projectId}/job/{id}`: where a job stands, as a session, at once or as soon as it is halted.

use std::time::Duration;

use docent_access::Principal;
use docent_jobs::{Jobs, LONGEST_WAIT};
use docent_types::{Refusal, Session};
use docent_web::{HttpError, Request, Response, respond};

use crate::face::Face;
use crate::session::SessionBody;

pub(crate) async fn get_session(
    face: &Face,
    request: &Request,
    principal: &Principal,
    id: &str,
) -> Result<Response, HttpError> {
    let project = &principal.project;
    let id = Jobs::id(&project.id, id)?;
    let wait = request.query_number_if_any("wait", 1..=LONGEST_WAIT, "leave it out to be answered at once")?;
    let wait = wait.map(|seconds| Duration::from_secs(seconds.into()));
    let look = face.jobs.look(&project.id, id, wait, request.draining().told());
    let job = match wait {
        None => look.await?,
        Some(_) => principal.key_end().unless_told(look).await.map_err(Refusal::from)??,
    };
    Ok(respond::json_unless_known(request, &SessionBody::from(&Session::from(&*job))))
}
