//! `POST /v2/agent/{projectId}/job`: accept a job. It runs on when this has answered.

use docent_jobs::NewJob;
use docent_types::{BranchName, Project, Refusal};
use docent_web::{Request, Response, rate_limit, respond};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;

use crate::face::{AGENT_BODY, Face, ModelNames};
use crate::failure::Failure;
use crate::idempotency::fingerprint;
use crate::job::{JobBody, instruction};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateBody {
    prompt: String,
    branch: Option<String>,
    as_draft: Option<bool>,
    model: Option<String>,
}

pub(crate) async fn create_job(face: &Face, request: &mut Request, project: &Project) -> Result<Response, Failure> {
    let body = request.json(AGENT_BODY).await?;
    let key = fingerprint(request, body.bytes())?;
    let wanted: CreateBody = body.parse()?;
    let new = NewJob {
        project,
        messages: instruction(wanted.prompt)?,
        branch: wanted.branch.as_deref().map(branch).transpose()?,
        as_draft: wanted.as_draft.unwrap_or(false),
        model: model(&face.models, wanted.model)?,
    };
    let written = face.jobs.submit(new, key).await?;
    let mut response = respond::json(StatusCode::CREATED, &JobBody::from(&written.job));
    let headers = response.headers_mut();
    let location = format!("/v2/agent/{}/job/{}", project.id, written.job.id);
    if let Ok(location) = HeaderValue::try_from(location) {
        headers.insert(LOCATION, location);
    }
    if let Some(standing) = &written.standing {
        rate_limit(headers, standing);
    }
    Ok(response)
}

fn branch(name: &str) -> Result<BranchName, Refusal> {
    BranchName::parse(name)
        .map_err(|error| Refusal::invalid(format!("branch: {error}; choose another, or leave it out to get a new one")))
}

fn model(names: &ModelNames, wanted: Option<String>) -> Result<String, Refusal> {
    let Some(wanted) = wanted else { return Ok(names.default.clone()) };
    if names.offered.contains(&wanted) {
        return Ok(wanted);
    }
    let offered = names.offered.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let shown: String = wanted.chars().take(80).collect();
    Err(Refusal::invalid(format!("model: there is no model `{shown}` here; choose one of {offered}, or leave it out")))
}
