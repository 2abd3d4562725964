//! `/pulls/{projectId}/{id}`: look at a pull request of the local forge, update it, merge it, close it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docent_access::{Access, AccessError, Credentials, Principal, Scope};
use docent_authoring::{MergeError, Pulls, Updated};
use docent_forge::{PullRecord, State};
use docent_types::{Project, ProjectId, Refusal, RefusalKind};
use docent_web::{ErrorShape, HttpError, Methods, Request, Response, respond};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::warn;
use uuid::Uuid;

use crate::page::{self, View};

/// Most pages in memory at a time, those still being sent included.
const PAGES: usize = 64;

const STYLE: &str = include_str!("pull.css");
const SCRIPT: &str = include_str!("pull.js");

/// The target of a path under `/pulls`.
enum Route<'a> {
    Style,
    Script,
    Page { project: &'a str, id: &'a str },
    Act { project: &'a str, id: &'a str, action: Action },
}

/// An action on an open pull request.
#[derive(Debug, Clone, Copy)]
enum Action {
    Merge,
    Close,
    Update,
}

impl<'a> Route<'a> {
    fn of(segments: &[&'a str]) -> Option<Self> {
        match segments {
            ["pulls", "pull.css"] => Some(Self::Style),
            ["pulls", "pull.js"] => Some(Self::Script),
            ["pulls", project, id] => Some(Self::Page { project, id }),
            ["pulls", project, id, action] => {
                let action = match *action {
                    "merge" => Action::Merge,
                    "close" => Action::Close,
                    "update" => Action::Update,
                    _ => return None,
                };
                Some(Self::Act { project, id, action })
            }
            _ => None,
        }
    }

    const fn methods(&self) -> Methods {
        match self {
            Self::Style | Self::Script | Self::Page { .. } => Methods::GET,
            Self::Act { .. } => Methods::POST,
        }
    }
}

/// The pages of the local forge.
#[derive(Debug, Clone)]
pub struct PullPages {
    access: Access,
    pulls: Pulls,
    pages: Arc<Semaphore>,
}

/// A page that counts as in memory until its last byte is sent.
struct Page {
    html: String,
    _place: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        self.html.as_bytes()
    }
}

impl PullPages {
    pub fn new(access: Access, pulls: Pulls) -> Self {
        Self { access, pulls, pages: Arc::new(Semaphore::new(PAGES)) }
    }

    /// Answers requests below `/pulls`; `None` for any other path.
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
            Route::Page { project, id } => self.page(project, id, requested_view(request)?).await,
            Route::Act { project, id, action } => self.act(project, id, action, request).await,
        }
    }

    async fn page(&self, project: &str, id: &str, look: View) -> Result<Response, HttpError> {
        let name = ProjectId::parse(project).map_err(|_| gone())?;
        let project = self.pulls.project(&name).await.map_err(HttpError::internal)?.ok_or_else(gone)?;
        let record = self.record(&project, id).await?;
        let diff = self.pulls.changes(&project, &record, look.view()).await;
        if let Err(error) = &diff {
            warn!(project = %project.id, error = error as &dyn std::error::Error, "cannot show the changes");
        }
        let place = Arc::clone(&self.pages).try_acquire_owned().map_err(|_| busy())?;
        let writes = move || page::pull_request(&project, &record, &look, diff.as_ref().ok()).into_string();
        let html = tokio::task::spawn_blocking(writes).await.map_err(HttpError::internal)?;
        let page = Bytes::from_owner(Page { html, _place: place });
        let mut response = respond::bytes_of(StatusCode::OK, "text/html; charset=utf-8", page);
        let headers: [(HeaderName, &str); 3] = [
            (
                CONTENT_SECURITY_POLICY,
                "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; \
                 base-uri 'none'; form-action 'self'",
            ),
            // The link is a capability, so it must not be sent to other sites as a referrer.
            (REFERRER_POLICY, "no-referrer"),
            (CACHE_CONTROL, "no-store"),
        ];
        for (name, value) in headers {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        Ok(response)
    }

    async fn act(&self, project: &str, id: &str, action: Action, request: &Request) -> Result<Response, HttpError> {
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
        let answer = |record: PullRecord| json!({ "number": record.number, "state": record.state.as_str() });
        let done = match action {
            Action::Merge => self.pulls.merge(&project, &record).await.map(answer),
            Action::Close => self.pulls.close(&project, &record).await.map(answer),
            Action::Update => self.pulls.update(&project, &record).await.map(|updated| {
                let is_updated = updated == Updated::Merged;
                json!({ "number": record.number, "state": record.state.as_str(), "updated": is_updated })
            }),
        };
        let answer = done.map_err(|error| match error {
            MergeError::Refused(sentence) => HttpError::Refused(Refusal::conflict(sentence)),
            MergeError::Failed(source) => HttpError::internal(source),
        })?;
        Ok(respond::json(StatusCode::OK, &answer))
    }

    async fn record(&self, project: &Project, id: &str) -> Result<PullRecord, HttpError> {
        let id = Uuid::try_parse(id).map_err(|_| gone())?;
        self.pulls.record(&project.id, id).await.map_err(HttpError::internal)?.ok_or_else(gone)
    }
}

/// The part of the changes that a request asks for.
fn requested_view(request: &Request) -> Result<View, HttpError> {
    let number = |name| Ok::<_, HttpError>(request.query_number(name, 1..=u32::MAX, 1)? as usize - 1);
    Ok(match request.query("file") {
        Some(path) => View::File { path: path.into_owned(), line: number("line")? },
        None => View::Files { first: number("from")? },
    })
}

fn busy() -> HttpError {
    let sentence = "Too many pages of pull requests are being looked at. Try again in a few seconds.";
    Refusal::new(RefusalKind::Unavailable(Duration::from_secs(5)), sentence).into()
}

fn gone() -> HttpError {
    Refusal::new(RefusalKind::NotFound, "there is no such pull request here; check the link").into()
}
