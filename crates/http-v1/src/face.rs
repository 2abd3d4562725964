//! From a request to its verb, and from whatever comes of it to an answer.

use docent_access::{Access, Credentials, Scope};
use docent_discovery::{Answering, Readers, is_shared, preflight};
use docent_jobs::{Entry, Jobs, ModelNames};
use docent_types::{CallError, JobEvent, Refusal};
use docent_web::{ErrorShape, Handler, HttpError, Request, Response, catch_panic, respond};
use http::Method;
use http::header::{AUTHORIZATION, ORIGIN};

use crate::deprecation::deprecate;
use crate::route::{Route, Verb};
use crate::{ask, create_job, get_session, list_sessions, resume};

/// What a request asks of this face: its path is one of those that this version has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked(Route);

impl Asked {
    /// `None` when the path is nobody's here. A server with several faces asks each, and leaves what is nobody's to any.
    pub fn by(request: &Request) -> Option<Self> {
        Route::of(&request.segments()).map(Self)
    }
}

/// The first version of the API, over the cores it speaks for.
#[derive(Debug)]
pub struct Face {
    pub access: Access,
    pub jobs: Jobs,
    pub models: ModelNames,
    pub answering: Answering,
    /// What an entry of a job's journal tells, in order.
    pub tell: fn(&Entry) -> Vec<JobEvent>,
}

impl Face {
    /// Refuses a request before anything is asked of its key, as a server does that drains.
    pub fn refused(&self, request: &Request, refusal: Refusal) -> Response {
        let mut response = HttpError::from(refusal).response(request.id(), ErrorShape::Error);
        if is_shared(request) {
            Readers::any().share(request, &mut response);
        }
        deprecate(request, response)
    }

    /// `readers` are narrowed to the origins of the key, as soon as it is known.
    async fn dispatch(
        &self,
        route: &Route,
        request: &mut Request,
        readers: &mut Readers,
    ) -> Result<Response, HttpError> {
        let method = route.methods().check(request.method())?;
        match route {
            Route::Agent { project, verb } => {
                let need = if request.method().is_safe() { Scope::Read } else { Scope::Write };
                let admitted = self.access.agent(&credentials(request), project, need).await;
                let principal = admitted.map_err(CallError::from)?;
                match verb {
                    Verb::Create => create_job::create_job(self, request, &principal).await,
                    Verb::Get { id } => get_session::get_session(self, request, &principal, id).await,
                    Verb::List => list_sessions::list_sessions(self, request, &principal.project).await,
                }
            }
            Route::Message { domain } => {
                let principal = readers.admit(&self.access, request, domain).await?;
                if *method == Method::GET {
                    resume::resume(self, request, &principal)
                } else {
                    ask::ask(self, request, &principal).await
                }
            }
        }
    }

    /// Answers a request that [asks](Asked::by) this.
    pub async fn answer(&self, Asked(route): Asked, mut request: Request) -> Response {
        let shared = is_shared(&request);
        if request.method() == Method::OPTIONS {
            let methods = route.methods();
            let response = if shared { preflight(&request, methods) } else { methods.options() };
            return deprecate(&request, response);
        }
        let mut readers = Readers::any();
        let answered = catch_panic(self.dispatch(&route, &mut request, &mut readers)).await;
        let mut response = answered.unwrap_or_else(|error| error.response(request.id(), ErrorShape::Error));
        // Behind each door is what only the holder of a key may see.
        respond::not_to_be_stored(&mut response);
        if shared {
            readers.share(&request, &mut response);
        }
        deprecate(&request, response)
    }
}

impl Handler for Face {
    /// Answers every request, unknown paths with 404.
    async fn handle(&self, request: Request) -> Response {
        match Asked::by(&request) {
            Some(asked) => self.answer(asked, request).await,
            None => HttpError::no_such_path(request.path()).response(request.id(), ErrorShape::Error),
        }
    }
}

fn credentials(request: &Request) -> Credentials<'_> {
    Credentials::shown(request.header_values(AUTHORIZATION), request.header_values(ORIGIN), request.client())
}
