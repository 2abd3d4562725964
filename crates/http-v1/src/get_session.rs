//! `GET /v1/agent/{projectId}/job/{id}`: the state of a job, as a session, at once or as soon as it is halted.

use std::time::Duration;

use docent_access::Principal;
use docent_jobs::{Jobs, LONGEST_WAIT};
use docent_types::Refusal;
use docent_web::{HttpError, Request, Response, json_unless_known};

use crate::api::Api;
use crate::session::SessionBody;

pub(crate) async fn get_session(
    api: &Api,
    request: &Request,
    principal: &Principal,
    id: &str,
) -> Result<Response, HttpError> {
    let project = &principal.project;
    let id = Jobs::id(&project.id, id)?;
    let wait = request.query_number_if_any("wait", 1..=LONGEST_WAIT, "leave it out to be answered at once")?;
    let wait = wait.map(|seconds| Duration::from_secs(seconds.into()));
    let found = api.jobs.get_or_wait(&project.id, id, wait, request.draining().begun());
    let job = match wait {
        None => found.await?,
        Some(_) => principal.key_watch().unless_ended(found).await.map_err(Refusal::from)??,
    };
    Ok(json_unless_known(request, &SessionBody::from(&*job)))
}
