//! `/pulls/{projectId}/{id}`: the link of a pull request of the local forge, and the API to merge, update or close it.
//!
//! The link redirects people to the page of the pull request, for which they sign in. Programs merge, update and close
//! it with an admin key.

use docent_access::{Access, Credentials, Principal, Scope};
use docent_authoring::{MergeError, Pulls, Updated};
use docent_forge::{PullRecord, PullState};
use docent_types::{CallError, Refusal};
use docent_web::{ErrorShape, HttpError, Methods, Request, Response, respond};
use http::StatusCode;
use serde_json::json;
use uuid::Uuid;

/// What a program can do to a pull request.
#[derive(Debug, Clone, Copy)]
enum ProgramAction {
    Merge,
    Update,
    Close,
}

fn of_program(action: &str) -> Option<ProgramAction> {
    Some(match action {
        "merge" => ProgramAction::Merge,
        "update" => ProgramAction::Update,
        "close" => ProgramAction::Close,
        _ => return None,
    })
}

/// Answers `POST /pulls/{projectId}/{id}/{action}`; an unknown action is 404.
pub(crate) async fn answer(
    access: &Access,
    pulls: &Pulls,
    request: &Request,
    (project, id, action): (&str, &str, &str),
) -> Response {
    let answer = async {
        let action = of_program(action).ok_or_else(|| HttpError::no_such_path(request.path()))?;
        if *request.method() == http::Method::OPTIONS {
            return Ok(Methods::POST.options());
        }
        Methods::POST.check(request.method())?;
        act(access, pulls, request, project, id, action).await
    };
    answer.await.unwrap_or_else(|error: HttpError| error.response(request.id(), ErrorShape::Error))
}

async fn act(
    access: &Access,
    pulls: &Pulls,
    request: &Request,
    project: &str,
    id: &str,
    action: ProgramAction,
) -> Result<Response, HttpError> {
    let credentials = Credentials {
        authorization: request.header(http::header::AUTHORIZATION).map(str::as_bytes),
        ip: Some(request.client()),
        origin: request.header(http::header::ORIGIN).map(str::as_bytes),
        ..Credentials::default()
    };
    let admitted = access.agent(&credentials, project, Scope::Write).await;
    let Principal { project, .. } = admitted.map_err(CallError::from)?;
    let missing = || HttpError::from(Refusal::not_found("there is no such pull request here; check the link"));
    let id = Uuid::try_parse(id).map_err(|_| missing())?;
    let record = pulls.record(&project.id, id).await.map_err(HttpError::internal)?.ok_or_else(missing)?;
    if record.state != PullState::Open {
        return Err(Refusal::conflict(format!(
            "pull request {} is already {}; open a new job for further changes",
            record.number,
            record.state.as_str()
        ))
        .into());
    }
    let shown = |record: PullRecord| json!({ "number": record.number, "state": record.state.as_str() });
    let done = match action {
        ProgramAction::Merge => pulls.merge(&project, &record).await.map(shown),
        ProgramAction::Close => pulls.close(&project, &record).await.map(shown),
        ProgramAction::Update => pulls.update(&project, &record).await.map(|updated| {
            let is_updated = updated == Updated::Merged;
            json!({ "number": record.number, "state": record.state.as_str(), "updated": is_updated })
        }),
    };
    Ok(respond::json(StatusCode::OK, &done.map_err(refusal)?))
}

/// An error of the local forge as a refusal.
pub(crate) fn refusal(error: MergeError) -> HttpError {
    match error {
        MergeError::Refused(sentence) | MergeError::Conflict(sentence) => {
            HttpError::Refused(Refusal::conflict(sentence))
        }
        MergeError::Failed(source) => HttpError::internal(source),
    }
}
