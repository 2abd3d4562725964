//! Dispatches a request to its endpoint, and turns the outcome into a response.

use docent_access::Scope;
use docent_discovery::{Readers, credentials, is_shared, preflight};
use docent_types::{CallError, Refusal};
use docent_web::{ErrorShape, Handler, HttpError, Request, Response, catch_panic, respond};
use http::Method;

use crate::api::Api;
use crate::deprecation::deprecate;
use crate::route::{Route, Verb};
use crate::{ask, create_job, get_session, list_sessions, resume};

impl Api {
    /// Refuses a request before its key is checked, as a draining server does.
    pub fn refused(&self, request: &Request, refusal: Refusal) -> Response {
        let mut response = HttpError::from(refusal).response(request.id(), ErrorShape::Error);
        if is_shared(request) {
            Readers::any().share(request, &mut response);
        }
        deprecate(request, response)
    }

    /// `readers` is narrowed to the origins of the key, as soon as the key is known.
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

    /// Answers a request with this route.
    pub async fn answer(&self, route: Route, mut request: Request) -> Response {
        let shared = is_shared(&request);
        if request.method() == Method::OPTIONS {
            let methods = route.methods();
            let response = if shared { preflight(&request, methods) } else { methods.options() };
            return deprecate(&request, response);
        }
        let mut readers = Readers::any();
        let answered = catch_panic(self.dispatch(&route, &mut request, &mut readers)).await;
        let mut response = answered.unwrap_or_else(|error| error.response(request.id(), ErrorShape::Error));
        // These answers are only for the holder of the key.
        respond::not_to_be_stored(&mut response);
        if shared {
            readers.share(&request, &mut response);
        }
        deprecate(&request, response)
    }
}

impl Handler for Api {
    /// Answers every request, unknown paths with 404.
    async fn handle(&self, request: Request) -> Response {
        match Route::parse(&request) {
            Some(route) => self.answer(route, request).await,
            None => HttpError::no_such_path(request.path()).response(request.id(), ErrorShape::Error),
        }
    }
}
