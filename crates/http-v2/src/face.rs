//! From a request to its verb, and from whatever comes of it to an answer.

use docent_access::{Access, Credentials, Principal, Scope};
use docent_assistant::Which;
use docent_discovery::{Answering, Readers, is_shared, preflight};
use docent_jobs::{Entry, Jobs, ModelNames};
use docent_types::{CallError, JobEvent, Refusal};
use docent_web::{ErrorShape, Handler, HttpError, Methods, Request, Response, catch_panic, respond};
use http::Method;
use http::header::{AUTHORIZATION, ORIGIN};

use crate::route::{AgentVerb, AnalyticsVerb, DiscoveryVerb, Named, Route};
use crate::shown::Shown;
use crate::{
    archive_job, ask, conversations, create_job, events, feedback, get_job, list_jobs, message_job, page, resume,
    search, thread,
};

/// What a request asks of this face: its path is one of those that this version has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked(Route);

impl Asked {
    /// `None` when the path is nobody's here. A server with several faces asks each, and leaves what is nobody's to any.
    pub fn by(request: &Request) -> Option<Self> {
        Route::of(&request.segments()).map(Self)
    }
}

/// The second version of the API, over the cores it speaks for.
#[derive(Debug)]
pub struct Face {
    pub access: Access,
    pub jobs: Jobs,
    pub models: ModelNames,
    pub answering: Answering,
    /// What an entry of a job's journal tells, in order.
    pub tell: fn(&Entry) -> Vec<JobEvent>,
    /// Empty to begin with.
    pub shown: Shown,
}

impl Face {
    /// Refuses a request before anything is asked of its key, as a server does that drains, in the shape and with the headers
    /// its path has for errors.
    pub fn refused(&self, request: &Request, refusal: Refusal) -> Response {
        let shape = Route::of(&request.segments()).map_or(ErrorShape::Error, Route::shape);
        let mut response = HttpError::from(refusal).response(request.id(), shape);
        if is_shared(request) {
            Readers::any().share(request, &mut response);
        }
        response
    }

    /// Lets a caller with an admin key in to a project.
    async fn admit(&self, request: &Request) -> Result<Principal, HttpError> {
        let need = if request.method().is_safe() { Scope::Read } else { Scope::Write };
        let admitted = self.access.agent(&credentials(request), Named::Project.by(request), need).await;
        Ok(admitted.map_err(CallError::from)?)
    }

    /// `readers` are narrowed to the origins of the key, as soon as it is known.
    ///
    /// What is asked for most often, looking at a job, is done in place. All else has a box of its own: every request moves as
    /// much memory as the largest of what is done in place needs.
    async fn dispatch(
        &self,
        route: Route,
        request: &mut Request,
        readers: &mut Readers,
    ) -> Result<Response, HttpError> {
        match route {
            Route::Agent(verb) => {
                let principal = self.admit(request).await?;
                let project = &*principal.project;
                match verb {
                    AgentVerb::List => Box::pin(list_jobs::list_jobs(self, request, project)).await,
                    AgentVerb::Events => Box::pin(events::events(self, request, &principal)).await,
                    AgentVerb::Create => Box::pin(create_job::create_job(self, request, project)).await,
                    AgentVerb::Get => get_job::get_job(self, request, &principal).await,
                    AgentVerb::Message => Box::pin(message_job::message_job(self, request, project)).await,
                    AgentVerb::Archive => Box::pin(archive_job::archive_job(self, request, project)).await,
                }
            }
            Route::Analytics(verb) => {
                let project = self.admit(request).await?.project;
                let list = |which| Box::pin(conversations::conversations(self, request, &project, which));
                match verb {
                    AnalyticsVerb::Conversations => list(Which::All).await,
                    AnalyticsVerb::Feedback => list(Which::Rated).await,
                    AnalyticsVerb::Gaps => list(Which::Unanswered).await,
                    AnalyticsVerb::Thread => Box::pin(thread::thread(self, request, &project)).await,
                }
            }
            Route::Discovery(verb) => Box::pin(self.discover(verb, request, readers)).await,
        }
    }

    async fn discover(
        &self,
        verb: DiscoveryVerb,
        request: &mut Request,
        readers: &mut Readers,
    ) -> Result<Response, HttpError> {
        let principal = readers.admit(&self.access, request, Named::Domain.by(request)).await?;
        let project = &*principal.project;
        match verb {
            DiscoveryVerb::Ask => ask::ask(self, request, &principal).await,
            DiscoveryVerb::Resume => Ok(resume::resume(self, request, &principal)),
            DiscoveryVerb::Feedback => feedback::feedback(self, request, project).await,
            DiscoveryVerb::Search => search::search(self, request, project).await,
            DiscoveryVerb::Page => page::page(self, request, project).await,
        }
    }

    /// Answers a request. `asked` is what it [asks](Asked::by); without that the path is unknown, which is 404.
    pub async fn answer(&self, asked: Option<Asked>, mut request: Request) -> Response {
        let route = asked.map(|Asked(route)| route);
        let shared = route.map_or_else(|| is_shared(&request), Route::is_shared);
        if request.method() == Method::OPTIONS && (route.is_some() || shared) {
            let methods = route.map_or(Methods::POST, Route::methods);
            return if shared { preflight(&request, methods) } else { methods.options() };
        }
        let shape = route.map_or(ErrorShape::Error, Route::shape);
        let mut readers = Readers::any();
        let work = async {
            let route = route.ok_or_else(|| HttpError::no_such_path(request.path()))?;
            route.methods().check(request.method())?;
            self.dispatch(route, &mut request, &mut readers).await
        };
        let answered = catch_panic(work).await;
        let mut response = answered.unwrap_or_else(|error| error.response(request.id(), shape));
        // Behind each door is what only the holder of a key may see.
        respond::not_to_be_stored(&mut response);
        if shared {
            readers.share(&request, &mut response);
        }
        response
    }
}

impl Handler for Face {
    /// Answers every request, unknown paths with 404.
    async fn handle(&self, request: Request) -> Response {
        self.answer(Asked::by(&request), request).await
    }
}

fn credentials(request: &Request) -> Credentials<'_> {
    Credentials::shown(request.header_values(AUTHORIZATION), request.header_values(ORIGIN), request.client())
}
