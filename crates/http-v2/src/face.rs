//! From a request to its verb, and from whatever comes of it to an answer.

use std::sync::Arc;

use docent_access::{Access, AccessError, Credentials, Denial, Origin, Scope};
use docent_assistant::Assistant;
use docent_jobs::{Entry, Jobs, ModelNames};
use docent_types::{CallError, JobEvent, Refusal};
use docent_web::cors::{self, Origins};
use docent_web::{ErrorShape, Handler, HttpError, Methods, Request, Response, catch_panic};
use http::Method;
use http::header::{AUTHORIZATION, ORIGIN};

use crate::docs::Docs;
use crate::route::{AgentVerb, DiscoveryVerb, Route};
use crate::{archive_job, ask, create_job, events, get_job, list_jobs, message_job, page, resume, search};

/// How large a body of the assistant, search and page endpoints may be, in bytes: chat clients send the whole
/// conversation with every question, sources and all.
pub(crate) const ASSISTANT_BODY: usize = 4 * 1024 * 1024;

/// What scripts may read besides the body.
const EXPOSED: &str = "X-Thread-Id, X-Thread-Key, X-Request-Id, Retry-After, RateLimit";

/// The second version of the API, over the cores it speaks for.
#[derive(Debug)]
pub struct Face {
    pub access: Access,
    pub jobs: Jobs,
    pub models: ModelNames,
    pub assistant: Arc<Assistant>,
    pub docs: Arc<dyn Docs>,
    /// What an entry of a job's journal tells, in order.
    pub tell: fn(&Entry) -> Vec<JobEvent>,
}

impl Face {
    /// Whether a path is one of this face's. A server with several faces asks each, and leaves what is nobody's to any.
    pub fn takes(&self, request: &Request) -> bool {
        Route::of(&request.segments()).is_some()
    }

    /// Refuses a request before anything is asked of its key, in the shape and with the headers its path has for errors:
    /// for a server that drains or is overloaded, and hears no more of what it [takes](Self::takes).
    pub fn unavailable(&self, request: &Request, refusal: Refusal) -> Response {
        let shape = Route::of(&request.segments()).map_or(ErrorShape::Error, |route| route.shape());
        let mut response = HttpError::from(refusal).response(request.id(), shape);
        if is_shared(request) {
            cors::share(request.headers(), response.headers_mut(), &Origins::Any, EXPOSED);
        }
        response
    }

    /// `readers` are narrowed to the origins of the key, as soon as it is known.
    async fn dispatch(
        &self,
        route: &Route,
        request: &mut Request,
        readers: &mut Origins,
    ) -> Result<Response, HttpError> {
        let need = if request.method().is_safe() { Scope::Read } else { Scope::Write };
        match route {
            Route::Agent { project, verb } => {
                let admitted = self.access.agent(&credentials(request), project, need).await;
                let (_, project) = admitted.map_err(CallError::from)?;
                match verb {
                    AgentVerb::List => list_jobs::list_jobs(self, request, &project).await,
                    AgentVerb::Events { id } => events::events(self, request, &project, id).await,
                    AgentVerb::Create => create_job::create_job(self, request, &project).await,
                    AgentVerb::Get { id } => get_job::get_job(self, &project, id).await,
                    AgentVerb::Message { id } => message_job::message_job(self, request, &project, id).await,
                    AgentVerb::Archive { id } => archive_job::archive_job(self, &project, id).await,
                }
            }
            Route::Discovery { domain, verb } => {
                let admitted = self.access.assistant(&credentials(request), domain, need).await;
                match &admitted {
                    Ok((principal, _)) => narrow(readers, &principal.origins),
                    // The page's script is not among those the key is for, and reads not even why.
                    Err(AccessError::Denied(Denial::Origin)) => *readers = Origins::Only(Vec::new()),
                    Err(_) => {}
                }
                let (_, project) = admitted.map_err(CallError::from)?;
                match verb {
                    DiscoveryVerb::Ask => ask::ask(self, request, project).await,
                    DiscoveryVerb::Resume => Ok(resume::resume()),
                    DiscoveryVerb::Search => search::search(self, request, &project).await,
                    DiscoveryVerb::Page => page::page(self, request, &project).await,
                }
            }
        }
    }
}

impl Handler for Face {
    /// Answers every request, unknown paths with 404.
    async fn handle(&self, mut request: Request) -> Response {
        let route = Route::of(&request.segments());
        let shared = is_shared(&request);
        if request.method() == Method::OPTIONS && (route.is_some() || shared) {
            let methods = route.as_ref().map_or(Methods::POST, Route::methods);
            return options(&request, methods, shared);
        }
        let shape = route.as_ref().map_or(ErrorShape::Error, Route::shape);
        let mut readers = Origins::Any;
        let work = async {
            let route = route.as_ref().ok_or_else(|| HttpError::no_such_path(request.path()))?;
            route.methods().check(request.method())?;
            self.dispatch(route, &mut request, &mut readers).await
        };
        let answered = catch_panic(work).await;
        let mut response = answered.unwrap_or_else(|error| error.response(request.id(), shape));
        if shared {
            cors::share(request.headers(), response.headers_mut(), &readers, EXPOSED);
        }
        response
    }
}

fn credentials(request: &Request) -> Credentials<'_> {
    let ip = request.peer().ip();
    Credentials::shown(request.header_values(AUTHORIZATION), request.header_values(ORIGIN), ip)
}

/// What browsers may call from pages of anybody's.
fn is_shared(request: &Request) -> bool {
    request.segments().first() == Some(&"discovery")
}

fn narrow(readers: &mut Origins, listed: &[Origin]) {
    if !listed.is_empty() {
        *readers = Origins::Only(listed.iter().map(|origin| origin.as_str().to_owned()).collect());
    }
}

/// A preflight shows no key, so any page may ask; what it then gets to read is up to the key.
fn options(request: &Request, methods: Methods, shared: bool) -> Response {
    if !shared {
        return methods.options();
    }
    let mut response = cors::preflight(request.headers(), methods, &Origins::Any);
    cors::share(request.headers(), response.headers_mut(), &Origins::Any, EXPOSED);
    response
}
