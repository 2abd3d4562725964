//! `/pulls/{projectId}/{id}`: look at a pull request of the local forge, merge it, close it.

use docent_access::{Access, AccessError, Credentials, Principal, Scope};
use docent_authoring::{MergeError, Pulls};
use docent_forge::{Record, State};
use docent_types::{Project, ProjectId, Refusal, RefusalKind};
use docent_web::{ErrorShape, HttpError, Methods, Request, Response, respond};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use tracing::warn;
use uuid::Uuid;

use crate::page;

const STYLE: &str = include_str!("pull.css");
const SCRIPT: &str = include_str!("pull.js");

/// What a path under `/pulls` names.
enum Route<'a> {
    Style,
    Script,
    Page { project: &'a str, id: &'a str },
    End { project: &'a str, id: &'a str, state: State },
}

impl<'a> Route<'a> {
    fn of(segments: &[&'a str]) -> Option<Self> {
        match segments {
            ["pulls", "pull.css"] => Some(Self::Style),
            ["pulls", "pull.js"] => Some(Self::Script),
            ["pulls", project, id] => Some(Self::Page { project, id }),
            ["pulls", project, id, "merge"] => Some(Self::End { project, id, state: State::Merged }),
            ["pulls", project, id, "close"] => Some(Self::End { project, id, state: State::Closed }),
            _ => None,
        }
    }

    const fn methods(&self) -> Methods {
        match self {
            Self::Style | Self::Script | Self::Page { .. } => Methods::GET,
            Self::End { .. } => Methods::POST,
        }
    }
}

/// The pages of the local forge.
#[derive(Debug, Clone)]
pub struct PullPages {
    access: Access,
    pulls: Pulls,
}

impl PullPages {
    pub const fn new(access: Access, pulls: Pulls) -> Self {
        Self { access, pulls }
    }

    /// Answers what lies under `/pulls`; `None` for any other path.
    pub async fn answer(&self, request: &Request) -> Option<Response> {
        let segments = request.segments();
        if segments.first() != Some(&"pulls") {
            return None;
        }
        let answer = match Route::of(&segments) {
            None => Err(HttpError::no_such_path(request.path())),
            Some(route) if request.method() == http::Method::OPTIONS => Ok(route.methods().options()),
            Some(route) => self.serve(&route, request).await,
        };
        Some(answer.unwrap_or_else(|error| error.response(request.id(), ErrorShape::Error)))
    }

    async fn serve(&self, route: &Route<'_>, request: &Request) -> Result<Response, HttpError> {
        route.methods().check(request.method())?;
        match *route {
            Route::Style => Ok(respond::bytes_of(StatusCode::OK, "text/css; charset=utf-8", STYLE)),
            Route::Script => Ok(respond::bytes_of(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT)),
            Route::Page { project, id } => self.page(project, id).await,
            Route::End { project, id, state } => self.end(project, id, state, request).await,
        }
    }

    async fn page(&self, project: &str, id: &str) -> Result<Response, HttpError> {
        let name = ProjectId::parse(project).map_err(|_| gone())?;
        let project = self.pulls.project(&name).await.map_err(HttpError::internal)?.ok_or_else(gone)?;
        let record = self.record(&project, id).await?;
        let changes = self.pulls.changes(&project, &record).await;
        if let Err(error) = &changes {
            warn!(project = %project.id, error = error as &dyn std::error::Error, "cannot show the changes");
        }
        let html = page::pull_request(&project, &record, changes.as_deref().ok()).into_string();
        let mut response = respond::bytes_of(StatusCode::OK, "text/html; charset=utf-8", html);
        let headers: [(HeaderName, &str); 3] = [
            (
                CONTENT_SECURITY_POLICY,
                "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; \
                 base-uri 'none'; form-action 'self'",
            ),
            // The link is a secret of sorts: no other site is told of it.
            (REFERRER_POLICY, "no-referrer"),
            (CACHE_CONTROL, "no-store"),
        ];
        for (name, value) in headers {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        Ok(response)
    }

    async fn end(&self, project: &str, id: &str, state: State, request: &Request) -> Result<Response, HttpError> {
        let credentials = Credentials {
            authorization: request.header(http::header::AUTHORIZATION).map(str::as_bytes),
            ip: Some(request.client()),
            origin: request.header(http::header::ORIGIN).map(str::as_bytes),
        };
        let admitted = self.access.agent(&credentials, project, Scope::Write).await;
        let Principal { project, .. } = admitted.map_err(|error| match error {
            AccessError::Denied(denial) => HttpError::Refused(denial.into()),
            other => HttpError::internal(other),
        })?;
        let record = self.record(&project, id).await?;
        if record.state != State::Open {
            return Err(Refusal::conflict(format!(
                "pull request {} is already {}; open a new job for further changes",
                record.number,
                record.state.as_str()
            ))
            .into());
        }
        let ended = match state {
            State::Merged => self.pulls.merge(&project, &record).await,
            State::Closed | State::Open => self.pulls.close(&project, &record).await,
        };
        let record = ended.map_err(|error| match error {
            MergeError::Refused(sentence) => HttpError::Refused(Refusal::conflict(sentence)),
            MergeError::Failed(source) => HttpError::internal(source),
        })?;
        Ok(respond::json(StatusCode::OK, &json!({ "number": record.number, "state": record.state.as_str() })))
    }

    async fn record(&self, project: &Project, id: &str) -> Result<Record, HttpError> {
        let id = Uuid::try_parse(id).map_err(|_| gone())?;
        self.pulls.record(&project.id, id).await.map_err(HttpError::internal)?.ok_or_else(gone)
    }
}

fn gone() -> HttpError {
    Refusal::new(RefusalKind::NotFound, "there is no such pull request here; check the link").into()
}
