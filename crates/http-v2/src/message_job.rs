//! `POST /v2/agent/{projectId}/job/{id}/message`: one more instruction for a job.

use docent_types::Project;
use docent_web::{Request, Response, rate_limit, respond};
use http::StatusCode;
use serde::Deserialize;

use crate::face::{AGENT_BODY, Face};
use crate::failure::Failure;
use crate::get_job::job_id;
use crate::idempotency::fingerprint;
use crate::job::{JobBody, instruction};

#[derive(Debug, Deserialize)]
struct MessageBody {
    prompt: String,
}

pub(crate) async fn message_job(
    face: &Face,
    request: &mut Request,
    project: &Project,
    id: &str,
) -> Result<Response, Failure> {
    let id = job_id(project, id)?;
    let body = request.json(AGENT_BODY).await?;
    let key = fingerprint(request, body.bytes())?;
    let MessageBody { prompt } = body.parse()?;
    let written = face.jobs.follow_up(&project.id, id, instruction(prompt)?, key).await?;
    let mut response = respond::json(StatusCode::OK, &JobBody::from(&written.job));
    if let Some(standing) = &written.standing {
        rate_limit(response.headers_mut(), standing);
    }
    Ok(response)
}
