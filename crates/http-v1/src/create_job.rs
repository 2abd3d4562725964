//! `POST /v1/agent/{projectId}/job`: accepts a job, and streams its events.

use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use docent_access::Principal;
use docent_jobs::{Fingerprint, LARGEST_REQUEST, NewJob};
use docent_types::BranchName;
use docent_ui_stream::{Encoder, FinishStyle, UiMessageStream};
use docent_web::{HttpError, Request, Response, framed, rate_limit, respond, with_keep_alive};
use http::{HeaderName, HeaderValue};

use crate::api::Api;
use crate::create_body::CreateBody;
use crate::job_stream::job_events;

/// Interval of keep-alive bytes on a silent stream.
const SILENCE: Duration = Duration::from_secs(15);
const SESSION_ID: HeaderName = HeaderName::from_static("x-session-id");
const BRANCH_NAME: HeaderName = HeaderName::from_static("x-branch-name");

pub(crate) async fn create_job(api: &Api, request: &mut Request, principal: &Principal) -> Result<Response, HttpError> {
    let project = &*principal.project;
    let body = request.json(LARGEST_REQUEST).await?;
    let key = Fingerprint::of(request.header_values("idempotency-key"), body.bytes())?;
    let wanted: CreateBody = body.parse()?;
    let new = NewJob {
        project,
        messages: wanted.instruction()?,
        // Public scripts name branches by the time, including colons, or the branch that pull requests go to. A response
        // header contains the name actually used.
        branch: wanted
            .branch
            .as_deref()
            .and_then(BranchName::sanitized)
            .filter(|branch| branch.as_str() != project.branch),
        as_draft: wanted.as_draft(),
        model: api.models.choose(wanted.model.clone())?,
    };
    let written = api.jobs.submit(new, key).await?;
    let job = &written.job;
    let watch = api.jobs.watch(&project.id, job.id, 0).await?;

    let finish = FinishStyle::for_reader(request.headers(), request.query("sdk").as_deref(), wanted.by_sdk());
    let mut encoder = UiMessageStream::new(finish);
    let events = job_events(watch, job, api.events_of, request.draining().clone(), principal.key_watch());
    let bytes = framed(events, move |events, out| {
        events.iter().flatten().for_each(|event| encoder.encode(event, out));
        if encoder.ended() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let alive = with_keep_alive(bytes, Bytes::from_static(UiMessageStream::KEEP_ALIVE), SILENCE);
    let mut response = respond::stream(UiMessageStream::CONTENT_TYPE, alive);

    let headers = response.headers_mut();
    let (name, version) = UiMessageStream::PROTOCOL_HEADER;
    headers.insert(HeaderName::from_static(name), HeaderValue::from_static(version));
    // Neither an id nor a branch that git accepts holds a control character.
    for (name, value) in [(SESSION_ID, job.id.to_string()), (BRANCH_NAME, job.source.branch.clone())] {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.insert(name, value);
        }
    }
    if let Some(quota_status) = &written.quota_status {
        rate_limit(headers, quota_status);
    }
    Ok(response)
}
