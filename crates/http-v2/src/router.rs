//! Dispatches a request to its endpoint, and turns the outcome into a response.

use docent_access::{Principal, Scope};
use docent_discovery::{Readers, credentials, is_shared, preflight};
use docent_types::{CallError, Refusal};
use docent_web::{ErrorShape, Handler, HttpError, Methods, Request, Response, catch_panic, respond};
use http::Method;

use crate::api::Api;
use crate::conversations::ConversationList;
use crate::route::{AgentVerb, AnalyticsVerb, DiscoveryVerb, NamedResource, Route, SiteVerb};
use crate::{
    archive_job, ask, conversations, create_job, events, feedback, gap_groups, get_job, list_jobs, message_job, openai,
    page, ratings, resume, search, searches, site_files, summary, thread,
};

impl Api {
    /// Refuses a request before its key is checked, as a draining server does, with the body shape and headers of its
    /// path's errors.
    pub fn refused(&self, request: &Request, refusal: Refusal) -> Response {
        let shape = Route::parse(request).map_or(ErrorShape::Error, Route::shape);
        let mut response = HttpError::from(refusal).response(request.id(), shape);
        if is_shared(request) {
            Readers::any().share(request, &mut response);
        }
        response
    }

    /// Admits a caller with an admin key to a project.
    async fn admit(&self, request: &Request) -> Result<Principal, HttpError> {
        let need = if request.method().is_safe() { Scope::Read } else { Scope::Write };
        let admitted = self.access.agent(&credentials(request), NamedResource::Project.by(request), need).await;
        Ok(admitted.map_err(CallError::from)?)
    }

    /// `readers` is narrowed to the origins of the key, as soon as the key is known.
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
                    AgentVerb::List => list_jobs::list_jobs(self, request, project).await,
                    AgentVerb::Events => events::events(self, request, &principal).await,
                    AgentVerb::Create => create_job::create_job(self, request, project).await,
                    AgentVerb::Get => get_job::get_job(self, request, &principal).await,
                    AgentVerb::Message => message_job::message_job(self, request, project).await,
                    AgentVerb::Archive => archive_job::archive_job(self, request, project).await,
                }
            }
            Route::Analytics(verb) => {
                let project = self.admit(request).await?.project;
                let list = |list| conversations::conversations(self, request, &project, list);
                match verb {
                    AnalyticsVerb::Conversations => list(ConversationList::All).await,
                    AnalyticsVerb::Feedback => list(ConversationList::Rated).await,
                    AnalyticsVerb::FeedbackByPage => ratings::by_page(self, request, &project).await,
                    AnalyticsVerb::Gaps => list(ConversationList::Unanswered).await,
                    AnalyticsVerb::GapGroups => gap_groups::gap_groups(self, request, &project).await,
                    AnalyticsVerb::Searches => searches::searches(self, request, &project).await,
                    AnalyticsVerb::Summary => summary::summary(self, request, &project).await,
                    AnalyticsVerb::Thread => thread::thread(self, request, &project).await,
                }
            }
            Route::Discovery(verb) => self.discover(verb, request, readers).await,
            Route::Site(verb) => {
                let (domain, assistant) = (NamedResource::Site.by(request), &self.answering.assistant);
                let reader = readers.admit_reader(&self.access, assistant, request, domain, Scope::Read).await?;
                let docs = self.answering.readable(&reader).await?;
                let answered = match verb {
                    SiteVerb::Page => site_files::page(request, &docs),
                    SiteVerb::List => site_files::list(request, &docs),
                    SiteVerb::Full => Ok(site_files::full(request, docs)),
                };
                answered.map(|response| site_files::cacheable(response, reader.is_anybody()))
            }
        }
    }

    async fn discover(
        &self,
        verb: DiscoveryVerb,
        request: &mut Request,
        readers: &mut Readers,
    ) -> Result<Response, HttpError> {
        let principal = readers.admit(&self.access, request, NamedResource::Domain.by(request)).await?;
        let project = &*principal.project;
        match verb {
            DiscoveryVerb::Ask => ask::ask(self, request, &principal).await,
            DiscoveryVerb::Resume if request.method() == Method::DELETE => Ok(resume::stop(self, request, &principal)),
            DiscoveryVerb::Resume => resume::resume(self, request, &principal),
            DiscoveryVerb::Feedback => feedback::feedback(self, request, project).await,
            DiscoveryVerb::Search => search::search(self, request, project).await,
            DiscoveryVerb::Page => page::page(self, request, project).await,
            DiscoveryVerb::Complete => openai::complete(self, request, &principal).await,
            DiscoveryVerb::Models => Ok(openai::models(project)),
            DiscoveryVerb::Model => openai::one_model(request, project),
        }
    }

    /// Answers a request. `None` means an unknown path, which is a 404.
    pub async fn answer(&self, route: Option<Route>, mut request: Request) -> Response {
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
        // These answers are only for the holder of the key.
        respond::not_to_be_stored(&mut response);
        if shared {
            readers.share(&request, &mut response);
        }
        response
    }
}

impl Handler for Api {
    /// Answers every request, unknown paths with 404.
    async fn handle(&self, request: Request) -> Response {
        self.answer(Route::parse(&request), request).await
    }
}
