//! Handles requests: finds the route, the operator and the required role, and serves the page.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use docent_access::{Access, Keys, Projects};
use docent_assistant::{Assistant, SearchLog};
use docent_authoring::Pulls;
use docent_jobs::{JobSearch, JobWork, Jobs, ModelNames};
use docent_operators::{AuditEntry, OperatorRole, Operators, SignedIn};
use docent_search::Snapshot;
use docent_types::{Clock, Domain, JobStatus, Project, ProjectId, Refusal, RefusalKind, Timestamp, error_chain};
use docent_web::{ErrorShape, HttpError, Methods, Request, Response, respond};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, LOCATION, REFERRER_POLICY, RETRY_AFTER};
use http::{HeaderValue, Method, StatusCode};
use maud::{Markup, html};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::assets;
use crate::cost::Prices;
use crate::flash::{self, Flash};
use crate::form::Form;
use crate::guard::{Cookie, Cookies, TOKEN, stale};
use crate::layout::{self, ActiveJobs, Frame, Page, Section, View};
use crate::operations::Operations;
use crate::pages::{self, KeptAnswers};
use crate::parts::{copy_button, notice};
use crate::prefix::Prefix;
use crate::pull_api;
use crate::route::{Needs, PagePath, PageRoute};
use crate::text::{Sentence, Untrusted, in_url};
use crate::turns::TurnSums;

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
/// Maximum number of large pages that are rendered at a time. They take megabytes or seconds: changes of a repository,
/// filtered journals.
const MAX_LARGE_PAGES: usize = 8;

/// Active jobs of which it is looked up whether they run or wait, the newest; the older ones have had their turn.
const MAX_EXAMINED: usize = 50;

/// Interval at which the session behind a stream is checked.
const SESSION_CHECK_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

/// What the dashboard shows and changes.
#[derive(Debug, Clone)]
pub struct DashboardParts {
    pub operators: Operators,
    pub access: Access,
    pub projects: Arc<dyn Projects>,
    pub keys: Arc<dyn Keys>,
    pub jobs: Jobs,
    pub models: ModelNames,
    /// What stands behind the name of each model, for people.
    pub models_behind: BTreeMap<String, String>,
    /// Whether a model is configured, so that instructions may be in any words.
    pub has_language_model: bool,
    pub assistant: Arc<Assistant>,
    pub searches: SearchLog,
    /// An assistant for each configured model, by the model's name, for the playground.
    pub assistants: Vec<(String, Arc<Assistant>)>,
    pub pulls: Pulls,
    pub operations: Arc<dyn Operations>,
    pub clock: Arc<dyn Clock>,
    /// The configured prices of models.
    pub prices: Prices,
    /// The address at which people reach the server, if that is configured.
    pub public_url: Option<String>,
    /// The address at which the server is reached on its own machine, for links where `public_url` is not configured.
    /// What a browser names as the host may come from anybody, and is in no link.
    pub local_url: String,
}

/// The dashboard.
#[derive(Debug, Clone)]
pub struct Dashboard {
    pub(crate) parts: DashboardParts,
    pub(crate) cookies: Cookies,
    pub(crate) prefix: Prefix,
    pub(crate) large_pages: Arc<Semaphore>,
    pub(crate) turns: TurnSums,
    pub(crate) answers: KeptAnswers,
    /// The active jobs, and the number of changes at which they were counted.
    active_jobs: Arc<Mutex<Option<(u64, ActiveJobs)>>>,
}

/// An authorized request of a signed-in operator.
pub(crate) struct AuthorizedRequest<'v> {
    pub(crate) dashboard: &'v Dashboard,
    pub(crate) http: &'v Request,
    pub(crate) signed_in: &'v SignedIn,
    /// The form of a write, its token checked; empty for a read.
    pub(crate) form: &'v Form,
    pub(crate) frame: &'v Frame,
}

impl Dashboard {
    pub fn new(parts: DashboardParts) -> Self {
        let cookies = Cookies::new(parts.public_url.as_deref());
        let prefix = Prefix::of(parts.public_url.as_deref());
        Self {
            parts,
            cookies,
            prefix,
            large_pages: Arc::new(Semaphore::new(MAX_LARGE_PAGES)),
            turns: TurnSums::default(),
            answers: KeptAnswers::default(),
            active_jobs: Arc::default(),
        }
    }

    /// Answers requests for `/`, below `/dashboard` and for the links of pull requests; `None` for any other path.
    pub async fn answer(&self, request: &mut Request) -> Option<Response> {
        let mut response = self.answer_at_root(request).await?;
        self.prefix.set(&mut response);
        Some(response)
    }

    async fn answer_at_root(&self, request: &mut Request) -> Option<Response> {
        if request.path() == "/" && matches!(*request.method(), Method::GET | Method::HEAD) {
            return Some(redirect("/dashboard"));
        }
        let path = request.path().to_owned();
        let segments: Vec<String> = request.segments().into_iter().map(str::to_owned).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if let ["pulls", project, id] = segments.as_slice() {
            return Some(match Methods::GET.check(request.method()) {
                _ if *request.method() == Method::OPTIONS => Methods::GET.options(),
                Ok(_) => self.old_pull(project, id, request.raw_query()).await,
                Err(error) => error.response(request.id(), ErrorShape::Error),
            });
        }
        if let ["pulls", project, id, action] = segments.as_slice() {
            let named = (*project, *id, *action);
            return Some(pull_api::answer(&self.parts.access, &self.parts.pulls, request, named).await);
        }
        let ("dashboard", rest) = segments.split_first().map(|(first, rest)| (*first, rest))? else { return None };
        let mut response = match PagePath::of(rest) {
            None => self.failed(request, &nowhere(), None).await,
            Some(target) if *request.method() == Method::OPTIONS => target.methods.options(),
            Some(PagePath { route: PageRoute::Asset(name), .. }) => match assets::of(name) {
                Some(response) => return Some(response),
                None => self.failed(request, &nowhere(), None).await,
            },
            Some(target) => self.page(target, request, &path).await,
        };
        secured(&mut response);
        Some(response)
    }

    async fn page(&self, target: PagePath<'_>, request: &mut Request, path: &str) -> Response {
        let token = self.cookies.read(request, Cookie::Session).map(str::to_owned);
        let signed_in = match &token {
            None => Ok(None),
            Some(token) => self.parts.operators.signed_in(token).await.map_err(HttpError::internal),
        };
        let signed_in = match signed_in {
            Ok(signed_in) => signed_in,
            Err(error) => return self.failed(request, &error, None).await,
        };
        let outcome = self.serve(target, request, signed_in.as_ref(), path).await;
        let mut response = match outcome {
            Ok(response) => response,
            Err(error) => self.failed(request, &error, signed_in.as_ref()).await,
        };
        // The cookie of a session is renewed with the session while it is used. The cookie of an ended session is
        // removed.
        let names_session = self.cookies.is_set(&response, Cookie::Session);
        match (&token, &signed_in) {
            (Some(token), Some(_)) if !names_session && response.status() == StatusCode::OK => {
                self.cookies.set(&mut response, Cookie::Session, token, pages::signing::SESSION_SECONDS);
            }
            (Some(_), None) if !names_session => self.cookies.set(&mut response, Cookie::Session, "", 0),
            _ => {}
        }
        response
    }

    async fn serve(
        &self,
        target: PagePath<'_>,
        request: &mut Request,
        signed_in: Option<&SignedIn>,
        path: &str,
    ) -> Result<Response, HttpError> {
        let is_write = *target.methods.check(request.method())? == Method::POST;
        if is_write {
            self.cookies.check_origin(request)?;
        }
        let signed_in = match (target.needs(is_write), signed_in) {
            (Needs::Nobody, _) => return pages::signing::serve(self, target.route, request, is_write).await,
            (Needs::SignedIn(_), None) if is_write => {
                // Who is signed out hears of that first, whatever was sent.
                let form = Form::read(request).await.unwrap_or_else(|_| Form::parse(b""));
                return Ok(self.failed_with(request, &signed_out(), None, &typed(&form)).await);
            }
            (Needs::SignedIn(_), None) => return Ok(sign_in_first(request, path)),
            (Needs::SignedIn(role), Some(signed_in)) if signed_in.operator.role < role => {
                return Err(Refusal::new(
                    RefusalKind::Forbidden,
                    format!(
                        "This is for the role `{}`, and yours is `{}`. An owner can change it on the page of operators.",
                        role.as_str(),
                        signed_in.operator.role.as_str()
                    ),
                )
                .into());
            }
            (Needs::SignedIn(_), Some(signed_in)) => signed_in,
        };
        let form = if is_write { Form::read(request).await? } else { Form::parse(b"") };
        if is_write && !signed_in.csrf.fits(form.text(TOKEN)) {
            return Ok(self.failed_with(request, &stale(), Some(signed_in), &typed(&form)).await);
        }
        let frame = self.frame(request).await;
        let authorized = AuthorizedRequest { dashboard: self, http: request, signed_in, form: &form, frame: &frame };
        match Box::pin(pages::serve(&authorized, target.route, is_write)).await {
            // What was written is shown once more.
            Err(error @ HttpError::Refused(_)) if is_write => {
                Ok(self.failed_with(request, &error, Some(signed_in), &typed(&form)).await)
            }
            answer => answer,
        }
    }

    async fn failed(&self, request: &Request, error: &HttpError, signed_in: Option<&SignedIn>) -> Response {
        self.failed_with(request, error, signed_in, &html! {}).await
    }

    /// A page with an error, and with what the form had that was not accepted. An internal error is logged here and nowhere else.
    async fn failed_with(
        &self,
        request: &Request,
        error: &HttpError,
        signed_in: Option<&SignedIn>,
        typed: &Markup,
    ) -> Response {
        let sentence = match error {
            HttpError::Internal(source) => {
                tracing::error!(error = error_chain(&**source), "could not answer a request");
                format!("Something failed on our side. Try again; the server's log has more under {}.", request.id())
            }
            other => other.to_string(),
        };
        let status = error.status();
        let title = match status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::FORBIDDEN => "Not allowed",
            StatusCode::UNAUTHORIZED => "Signed out",
            StatusCode::TOO_MANY_REQUESTS => "Too many attempts",
            status if status.is_server_error() => "Not now",
            _ => "Not done",
        };
        // A form is sent to an address that is no page.
        let is_write = *request.method() == Method::POST;
        let back = self.page_before(request).filter(|back| is_write && back != "/dashboard");
        let here = if is_write { back.as_deref().unwrap_or("/dashboard") } else { request.path() };
        let sign_in = format!("/dashboard/-/sign-in?to={}", in_url(here));
        let body = html! {
            (notice("bad", &html! { p { (Sentence(&sentence)) } }))
            (typed)
            @if signed_in.is_none() && status == StatusCode::UNAUTHORIZED { p { a.button href=(sign_in) { "Sign in" } } }
            @else {
                p.actions {
                    @if let Some(back) = &back { a.button.secondary href=(back) { "Back to the page" } }
                    a.button.secondary.quiet[back.is_some()] href="/dashboard" { "To the dashboard" }
                }
            }
        };
        let html = match signed_in {
            None => layout::bare(title, &body),
            Some(signed_in) => {
                let frame = self.frame(request).await;
                let view = View::new(title, Section::Elsewhere, None);
                Page { view, frame: &frame, signed_in, done: None }.html(&body)
            }
        };
        let mut response = page(status, html);
        if let HttpError::Refused(Refusal { kind: RefusalKind::Unavailable(wait), .. }) = error {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(docent_types::retry_after_seconds(*wait)));
        }
        response
    }

    /// The page of the dashboard that a request was sent from, as the browser says.
    fn page_before(&self, request: &Request) -> Option<String> {
        let (_, rest) = request.header(http::header::REFERER)?.split_once("://")?;
        let path = self.prefix.without(&rest[rest.find('/')?..])?;
        let is_ours = path == "/dashboard" || path.starts_with("/dashboard/") || path.starts_with("/dashboard?");
        is_ours.then(|| path.to_owned())
    }

    /// What the bar of a page shows. A page is shown without it rather than not at all.
    async fn frame(&self, request: &Request) -> Frame {
        let projects = self.parts.projects.projects().await.unwrap_or_default();
        let active_jobs = self.active_jobs(&projects).await.unwrap_or_default();
        let is_search = request.path() == "/dashboard/-/search";
        let sought = request.query("q").filter(|_| is_search).map(|text| text.into_owned()).unwrap_or_default();
        Frame { projects, active_jobs, sought }
    }

    /// How many jobs run and wait; counted again when a job was written since.
    async fn active_jobs(&self, projects: &[Project]) -> Option<ActiveJobs> {
        let changes = self.parts.jobs.changes();
        let counted = *self.active_jobs.lock();
        if let Some((_, count)) = counted.filter(|(at, _)| changes == Some(*at)) {
            return Some(count);
        }
        let (status, projects) = (JobStatus::Active, projects.iter().map(|project| project.id.clone()).collect());
        let search = JobSearch { projects, status: Some(status), limit: MAX_EXAMINED, ..JobSearch::default() };
        let found = self.parts.jobs.search(search).await.ok()?;
        let all = JobStatus::ALL.iter().zip(found.counts).find(|(known, _)| **known == status);
        let mut count = ActiveJobs { all: all.map_or(0, |(_, count)| count), waiting: 0 };
        for found in &found.jobs {
            let work = self.parts.jobs.work(&found.job.project, found.job.id).await.ok()?;
            count.waiting += u64::from(matches!(work, JobWork::Waits { .. }));
        }
        *self.active_jobs.lock() = changes.map(|at| (at, count));
        Some(count)
    }

    /// Redirects a link of the form `/pulls/{projectId}/{id}` to the page of the pull request.
    async fn old_pull(&self, project: &str, id: &str, query: Option<&str>) -> Response {
        let known = match ProjectId::parse(project) {
            Ok(project) => self.parts.projects.by_id(&project).await.ok().flatten(),
            Err(_) => None,
        };
        // An unknown project redirects to a page that is not found, and only after signing in, as for a wrong id.
        let domain = known.map_or_else(|| project.to_owned(), |project| project.domain.to_string());
        let (domain, id) = (in_url(&domain), in_url(id));
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        redirect(&format!("/dashboard/{domain}/pulls/{id}{query}"))
    }

    /// The project of a domain.
    pub(crate) async fn project(&self, domain: &str) -> Result<Project, HttpError> {
        let missing = || {
            HttpError::from(Refusal::not_found(
                "There is no project with this domain. Projects are listed under “Projects”.",
            ))
        };
        let domain = Domain::parse(domain).map_err(|_| missing())?;
        let found = self.parts.projects.by_domain(&domain).await.map_err(HttpError::internal)?;
        found.ok_or_else(missing)
    }
}

impl DashboardParts {
    /// The beginning of links that leave the dashboard.
    pub(crate) fn url(&self) -> &str {
        self.public_url.as_deref().unwrap_or(&self.local_url).trim_end_matches('/')
    }
}

impl AuthorizedRequest<'_> {
    pub(crate) const fn parts(&self) -> &DashboardParts {
        &self.dashboard.parts
    }

    /// Whether the operator may do what editors may. Controls that are refused to viewers are not shown to them.
    pub(crate) fn is_editor(&self) -> bool {
        self.signed_in.operator.role >= OperatorRole::Editor
    }

    /// Whether the operator may do what owners may.
    pub(crate) fn is_owner(&self) -> bool {
        self.signed_in.operator.role == OperatorRole::Owner
    }

    /// Adds an entry to the audit list. If that fails, the entry goes to the log instead, and the request does not
    /// fail: the action was carried out.
    pub(crate) async fn audit(
        &self,
        action: &str,
        project: Option<&ProjectId>,
        subject: impl Into<String>,
        detail: Option<String>,
    ) {
        let entry = AuditEntry {
            at: self.parts().clock.now(),
            operator: Some(self.signed_in.operator.name.clone()),
            action: action.to_owned(),
            project: project.cloned(),
            subject: subject.into(),
            detail,
            address: Some(self.http.client()),
        };
        if let Err(error) = self.parts().operators.audit(entry.clone()).await {
            tracing::error!(error = &error as &dyn std::error::Error, ?entry, "the audit list lacks an entry");
        }
    }

    /// Waits until the session or the role of the operator ends: what is streamed ends then, too.
    pub(crate) fn session_ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let (operators, signed_in) = (self.parts().operators.clone(), self.signed_in.clone());
        async move {
            loop {
                tokio::time::sleep(SESSION_CHECK_INTERVAL).await;
                match operators.is_still_signed_in(&signed_in).await {
                    Ok(true) => {}
                    Ok(false) => return,
                    // If the store cannot be read, whoever was signed in remains so.
                    Err(error) => tracing::warn!(error = error_chain(&error), "could not look up a session"),
                }
            }
        }
    }

    /// Whether a table is requested as a CSV file.
    pub(crate) fn wants_csv(&self) -> bool {
        self.http.query("format").as_deref() == Some("csv")
    }

    /// The beginning of the day (in UTC) in this query parameter, if there is one.
    pub(crate) fn day(&self, name: &str) -> Result<Option<Timestamp>, HttpError> {
        let Some(text) = self.http.query(name).filter(|text| !text.trim().is_empty()) else { return Ok(None) };
        let midnight = Timestamp::parse(&format!("{}T00:00:00Z", text.trim()));
        Ok(Some(midnight.ok_or_else(|| Refusal::invalid(format!("{name}: a day is written 2026-01-31")))?))
    }

    /// The indexed docs of a project, if they were read.
    pub(crate) fn read_docs(&self, project: &Project) -> Option<Arc<Snapshot>> {
        self.parts().operations.docs(project).filter(|docs| docs.commit().is_some())
    }

    /// The name of a model, and what stands behind it where that is another name.
    pub(crate) fn model_name(&self, name: &str) -> String {
        let behind = self.parts().models_behind.get(name).filter(|behind| *behind != name);
        behind.map_or_else(|| name.to_owned(), |behind| format!("{name} → {behind}"))
    }

    /// The indexed docs of a project.
    pub(crate) fn docs(&self, project: &Project) -> Result<Arc<Snapshot>, HttpError> {
        self.read_docs(project).ok_or_else(|| {
            let sentence = "The docs of this project are still being read. Ask again in a moment; its overview says how far that is.";
            Refusal::new(RefusalKind::Unavailable(Duration::from_secs(5)), sentence).into()
        })
    }

    /// The address of the server for other programs, without a slash at the end.
    pub(crate) fn base_url(&self) -> String {
        let host = || self.http.header(http::header::HOST).unwrap_or("127.0.0.1");
        let base = self.parts().public_url.clone().unwrap_or_else(|| format!("http://{}", host()));
        base.trim_end_matches('/').to_owned()
    }

    /// A page of this dashboard.
    pub(crate) fn page(&self, title: &str, section: Section, project: Option<&Project>, body: &Markup) -> Response {
        self.show(View::new(title, section, project), body)
    }

    /// A page of this dashboard, with what stands above its title and beside it.
    pub(crate) fn show(&self, view: View<'_>, body: &Markup) -> Response {
        let flash = self.flash();
        let done = flash.as_ref().and_then(Flash::sentence);
        let page_of = Page { view, frame: self.frame, signed_in: self.signed_in, done };
        let mut response = page(StatusCode::OK, page_of.html(body));
        if flash.is_some() {
            self.dashboard.cookies.set(&mut response, Cookie::Flash, "", 0);
        }
        response
    }

    /// What this page is to say about what was just done. A page says it once: it then removes the cookie. What a script
    /// fetches says nothing.
    pub(crate) fn flash(&self) -> Option<Flash> {
        if self.http.header("sec-fetch-mode").is_some_and(|mode| mode != "navigate") {
            return None;
        }
        Flash::parse(self.dashboard.cookies.read(self.http, Cookie::Flash)?)
    }

    /// A redirect to a page that says what was done.
    pub(crate) fn redirect_after(&self, path: &str, flash: &Flash) -> Response {
        let mut response = redirect(path);
        self.dashboard.cookies.set(&mut response, Cookie::Flash, &flash.to_string(), flash::SECONDS);
        response
    }

    /// A redirect to a page that says what was done, by one of the words of [`Flash`].
    pub(crate) fn redirect_done(&self, path: &str, word: &'static str) -> Response {
        self.redirect_after(path, &Flash::Done(word))
    }
}

/// A page as a response.
pub(crate) fn page(status: StatusCode, html: Markup) -> Response {
    respond::bytes_of(status, "text/html; charset=utf-8", html.into_string())
}

/// A redirect to another page, which the browser fetches with GET.
pub(crate) fn redirect(path: &str) -> Response {
    let mut response = respond::empty(StatusCode::SEE_OTHER);
    if let Ok(path) = HeaderValue::try_from(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}

fn sign_in_first(request: &Request, path: &str) -> Response {
    // A live stream or a fragment cannot show the sign-in form.
    if request.header("sec-fetch-mode").is_some_and(|mode| mode != "navigate") {
        return respond::json(
            StatusCode::UNAUTHORIZED,
            &serde_json::json!({ "error": "You are signed out. Sign in again." }),
        );
    }
    let query = request.raw_query().map(|query| format!("?{query}")).unwrap_or_default();
    redirect(&format!("/dashboard/-/sign-in?to={}", in_url(&format!("{path}{query}"))))
}

fn signed_out() -> HttpError {
    let sentence = "You are signed out, so nothing was done. Sign in, and send the form of the page once more.";
    Refusal::new(RefusalKind::Unauthenticated, sentence).into()
}

/// What somebody wrote into a form that was not accepted, to be copied.
fn typed(form: &Form) -> Markup {
    // The fields of texts; others are quickly filled again, or secret.
    let text = form.given("comment").or(form.given("message")).or(form.given("prompt")).or(form.given("q"));
    html! {
        @if let Some(text) = text {
            h2 { "What you wrote" }
            pre #typed { (Untrusted(text)) }
            p { (copy_button("typed", "Copy it")) }
        }
    }
}

fn nowhere() -> HttpError {
    Refusal::not_found("There is no page at this address.").into()
}

/// Sets the security headers of all dashboard responses except assets.
fn secured(response: &mut Response) {
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 5] = [
        (CONTENT_SECURITY_POLICY, CSP),
        // With `no-referrer`, browsers would not send the `Origin` of forms.
        (REFERRER_POLICY, "same-origin"),
        (http::header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (http::header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// The refusal when too many large pages are being rendered.
pub(crate) fn busy() -> HttpError {
    let sentence = "Too many large pages are being written. Try again in a few seconds.";
    Refusal::new(RefusalKind::Unavailable(Duration::from_secs(5)), sentence).into()
}
