//! Signing in: with a password, at the identity provider, or for the first time with a one-time link.

use docent_operators::{
    AuthorizationResponse, IdentityError, LinkTarget, OperatorName, SessionToken, SignInError, WriteError,
};
use docent_types::{Refusal, error_chain};
use docent_web::{HttpError, Request, Response, respond};
use http::{Method, StatusCode};
use maud::{Markup, html};

use crate::assets;
use crate::dashboard::{Dashboard, page, redirect};
use crate::form::Form;
use crate::guard::{Cookie, TOKEN, check_pre_session, pre_session_token};
use crate::layout::bare;
use crate::parts::notice;
use crate::route::PageRoute;
use crate::text::in_url;

/// How long a browser keeps the session's cookie after it was last set, in seconds: as long as an idle session lives.
pub(crate) const SESSION_SECONDS: u64 = 14 * 24 * 3600;
/// How long a browser keeps the pre-session cookie, in seconds: the maximum time for signing in.
const PRE_SESSION_SECONDS: u64 = 3600;
/// The page to go to after signing in, unless another one is requested.
const HOME: &str = "/dashboard";

/// The pages for those who are not signed in.
pub(crate) async fn serve(
    dashboard: &Dashboard,
    route: PageRoute<'_>,
    request: &mut Request,
    is_write: bool,
) -> Result<Response, HttpError> {
    match route {
        PageRoute::SignIn if is_write => sign_in(dashboard, request).await,
        PageRoute::SignIn => {
            let to = request.query("to").map(|to| to.into_owned()).unwrap_or_default();
            let is_done = request.query("done").as_deref() == Some("signed-out");
            let is_first = !dashboard.parts.operators.has_any().await.map_err(HttpError::internal)?;
            form_page(dashboard, request, StatusCode::OK, "Sign in", |token| {
                html! {
                    @if is_done { (notice("good", &html! { p { "You are signed out." } })) }
                    @if is_first { (first_run()) (provider_button(dashboard, &to)) } @else { (sign_in_form(dashboard, token, &to, "", None)) }
                }
            })
        }
        PageRoute::SignInElsewhere => begin_at_provider(dashboard, request).await,
        PageRoute::SignInReturn => return_from_provider(dashboard, request).await,
        PageRoute::Join(link) if is_write => join(dashboard, request, link).await,
        PageRoute::Join(link) => {
            let target = dashboard.parts.operators.peek_link(link).await.map_err(HttpError::internal)?;
            let target = target.ok_or_else(link_used_up)?;
            if matches!(target, LinkTarget::SignIn(_)) && *request.method() == Method::GET {
                return sign_in_by_link(dashboard, request, link).await;
            }
            form_page(dashboard, request, StatusCode::OK, join_title(&target), |token| {
                join_form(token, &target, "", None)
            })
        }
        PageRoute::Asset(name) => assets::of(name).ok_or_else(|| Refusal::not_found("There is no such file.").into()),
        _ => Ok(respond::empty(StatusCode::NOT_FOUND)),
    }
}

async fn sign_in(dashboard: &Dashboard, request: &mut Request) -> Result<Response, HttpError> {
    let form = Form::read(request).await?;
    check_pre_session(&form, dashboard.cookies.read(request, Cookie::PreSession))?;
    let (name, to) = (form.text("name").to_owned(), form.text("to").to_owned());
    let sign_in_result = dashboard.parts.operators.sign_in(&name, form.exact("password"), request.client()).await;
    match sign_in_result {
        Ok((session, _)) => Ok(signed_in(dashboard, &session, safe_return_path(&to))),
        Err(error) => {
            let (status, sentence) = refusal(error)?;
            let form = |token: &str| sign_in_form(dashboard, token, &to, &name, Some(&sentence));
            form_page(dashboard, request, status, "Sign in", form)
        }
    }
}

/// Signs in by a link that needs no name and no password.
async fn sign_in_by_link(dashboard: &Dashboard, request: &Request, link: &str) -> Result<Response, HttpError> {
    match dashboard.parts.operators.redeem(link, None, "", request.client()).await {
        Ok((session, _)) => Ok(signed_in(dashboard, &session, HOME)),
        Err(SignInError::Write(WriteError::NoLink)) => Err(link_used_up()),
        Err(error) => not_signed_in(dashboard, request, error, HOME),
    }
}

/// Redirects to the identity provider. This is a link and not a form, because the page's Content Security Policy
/// restricts where forms may lead.
async fn begin_at_provider(dashboard: &Dashboard, request: &Request) -> Result<Response, HttpError> {
    let (pre_session, to) = (pre_session_of(dashboard, request)?, request.query("to").unwrap_or_default().into_owned());
    match dashboard.parts.operators.begin_at_provider(&pre_session, safe_return_path(&to), request.client()).await {
        Ok(url) => {
            let mut response = redirect(&url);
            dashboard.cookies.set(&mut response, Cookie::PreSession, &pre_session, PRE_SESSION_SECONDS);
            Ok(response)
        }
        Err(error) => not_signed_in(dashboard, request, error, &to),
    }
}

/// Completes a sign-in when the browser comes back from the identity provider.
async fn return_from_provider(dashboard: &Dashboard, request: &Request) -> Result<Response, HttpError> {
    let given = |name| request.query(name).map(|value| value.into_owned());
    let error_code = || given("error").unwrap_or_default().chars().filter(char::is_ascii_graphic).take(60).collect();
    let response = AuthorizationResponse {
        state: given("state").unwrap_or_default(),
        issuer: given("iss"),
        code: given("code").ok_or_else(error_code),
    };
    let pre_session = dashboard.cookies.read(request, Cookie::PreSession).unwrap_or_default();
    match dashboard.parts.operators.return_from_provider(pre_session, response, request.client()).await {
        Ok((session, _, to)) => Ok(signed_in(dashboard, &session, &to)),
        Err(error) => not_signed_in(dashboard, request, error, HOME),
    }
}

fn not_signed_in(
    dashboard: &Dashboard,
    request: &Request,
    error: SignInError,
    to: &str,
) -> Result<Response, HttpError> {
    let (status, sentence) = refusal(error)?;
    let form = |token: &str| sign_in_form(dashboard, token, to, "", Some(&sentence));
    form_page(dashboard, request, status, "Sign in", form)
}

/// Redirects to `to`, and sets the cookie of the session.
fn signed_in(dashboard: &Dashboard, session: &SessionToken, to: &str) -> Response {
    let mut response = redirect(to);
    dashboard.cookies.set(&mut response, Cookie::Session, session.expose(), SESSION_SECONDS);
    dashboard.cookies.set(&mut response, Cookie::PreSession, "", 0);
    response
}

async fn join(dashboard: &Dashboard, request: &mut Request, link: &str) -> Result<Response, HttpError> {
    let form = Form::read(request).await?;
    check_pre_session(&form, dashboard.cookies.read(request, Cookie::PreSession))?;
    let operators = &dashboard.parts.operators;
    let target = operators.peek_link(link).await.map_err(HttpError::internal)?.ok_or_else(link_used_up)?;
    let given = form.text("name").to_owned();
    let again = |dashboard: &Dashboard, request: &Request, status, sentence: &str| {
        form_page(dashboard, request, status, join_title(&target), |token| {
            join_form(token, &target, &given, Some(sentence))
        })
    };
    if form.exact("password") != form.exact("repeated") {
        return again(
            dashboard,
            request,
            StatusCode::BAD_REQUEST,
            "The two passwords differ. Type the same one twice.",
        );
    }
    let name = match form.given("name").map(OperatorName::parse).transpose() {
        Ok(name) => name,
        Err(error) => return again(dashboard, request, StatusCode::BAD_REQUEST, &error.to_string()),
    };
    match operators.redeem(link, name, form.exact("password"), request.client()).await {
        Ok((session, _)) => Ok(signed_in(dashboard, &session, HOME)),
        Err(error) => {
            let (status, sentence) = refusal(error)?;
            again(dashboard, request, status, &sentence)
        }
    }
}

/// The status and the sentence of a refusal; an internal error is passed on.
fn refusal(error: SignInError) -> Result<(StatusCode, String), HttpError> {
    match error {
        SignInError::Write(WriteError::Store(source)) => Err(HttpError::internal(source)),
        SignInError::Hash(source) => Err(HttpError::Internal(source)),
        SignInError::TooMany { .. } => Ok((StatusCode::TOO_MANY_REQUESTS, error.to_string())),
        SignInError::Wrong => Ok((StatusCode::UNAUTHORIZED, error.to_string())),
        SignInError::NoProvider => Err(Refusal::not_found(error.to_string()).into()),
        SignInError::NoGroup | SignInError::Declined(_) => Ok((StatusCode::FORBIDDEN, error.to_string())),
        SignInError::Identity(error) => {
            tracing::warn!(error = error_chain(&error), "nobody was signed in at the identity provider");
            let status = match error {
                IdentityError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
                IdentityError::Unproven(_) => StatusCode::FORBIDDEN,
            };
            Ok((status, error.to_string()))
        }
        other => Ok((StatusCode::BAD_REQUEST, other.to_string())),
    }
}

/// A page with a form for a visitor who is not signed in. The form's token is derived from the pre-session
/// cookie.
fn form_page(
    dashboard: &Dashboard,
    request: &Request,
    status: StatusCode,
    title: &str,
    body: impl FnOnce(&str) -> Markup,
) -> Result<Response, HttpError> {
    let pre_session = pre_session_of(dashboard, request)?;
    let mut response = page(status, bare(title, &body(&pre_session_token(&pre_session))));
    dashboard.cookies.set(&mut response, Cookie::PreSession, &pre_session, PRE_SESSION_SECONDS);
    Ok(response)
}

/// The value of the browser's pre-session cookie, or a new one.
fn pre_session_of(dashboard: &Dashboard, request: &Request) -> Result<String, HttpError> {
    let known = dashboard.cookies.read(request, Cookie::PreSession).filter(|pre_session| is_pre_session(pre_session));
    known.map_or_else(new_pre_session, |pre_session| Ok(pre_session.to_owned()))
}

fn is_pre_session(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn new_pre_session() -> Result<String, HttpError> {
    let mut bytes = [0; 16];
    docent_access::system_randomness(&mut bytes).map_err(HttpError::Internal)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The page to go to after signing in: only one of the dashboard's own.
fn safe_return_path(to: &str) -> &str {
    let is_plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_ours = to == HOME || to.starts_with("/dashboard/");
    if is_plain && is_ours && !to.starts_with("/dashboard/-/sign") { to } else { HOME }
}

fn problem(sentence: Option<&str>) -> Markup {
    html! { @if let Some(sentence) = sentence { (notice("bad", &html! { p #problem { (sentence) } })) } }
}

/// The button to sign in at the identity provider, if there is one.
fn provider_button(dashboard: &Dashboard, to: &str) -> Markup {
    html! {
        @if let Some(provider) = dashboard.parts.operators.provider() {
            p { a.button href=(format_args!("/dashboard/-/sign-in/openid?to={}", in_url(safe_return_path(to)))) { "Sign in with " (provider.label()) } }
        }
    }
}

fn sign_in_form(dashboard: &Dashboard, token: &str, to: &str, name: &str, sentence: Option<&str>) -> Markup {
    html! {
        (problem(sentence))
        (provider_button(dashboard, to))
        form.fields method="post" action="/dashboard/-/sign-in" {
            input type="hidden" name=(TOKEN) value=(token);
            input type="hidden" name="to" value=(to);
            div { label for="name" { "Name" } input #name name="name" value=(name) autocomplete="username" required maxlength="100"; }
            div { label for="password" { "Password" } input #password type="password" name="password" autocomplete="current-password" required maxlength="256"; }
            div { button type="submit" { "Sign in" } }
        }
        p.soft.small { "No password yet, or forgotten? An owner can make you a link on the page of operators; on the server, " code { "docent operator link" } " makes one." }
    }
}

fn first_run() -> Markup {
    html! {
        p { "Nobody can sign in yet. Make a one-time link on the machine this server runs on:" }
        pre { "docent operator link" }
        p { "Open the link it prints in this browser and choose a password." }
    }
}

const fn join_title(target: &LinkTarget) -> &'static str {
    match target {
        LinkTarget::New { .. } => "Choose a password",
        LinkTarget::Reset(_) => "Choose a new password",
        LinkTarget::SignIn(_) => "Sign in",
    }
}

fn join_form(token: &str, target: &LinkTarget, given: &str, sentence: Option<&str>) -> Markup {
    html! {
        (problem(sentence))
        @match target {
            LinkTarget::New { role, .. } => p { "You will sign in with this name and password, in the role " strong { (role.as_str()) } "." },
            LinkTarget::Reset(_) => p { "Your other sessions end when the password is changed." },
            LinkTarget::SignIn(_) => {}
        }
        form.fields method="post" {
            input type="hidden" name=(TOKEN) value=(token);
            @if let LinkTarget::New { name, .. } = target {
                @let prefilled = if given.is_empty() { name.as_ref().map(OperatorName::as_str).unwrap_or_default() } else { given };
                div { label for="name" { "Name" } small.hint #name-hint { "For example your e-mail address." } input #name aria-describedby="name-hint" name="name" value=(prefilled) autocomplete="username" required maxlength="100"; }
            }
            div { label for="password" { "Password" } small.hint #password-hint { "At least 12 characters. A few words in a row are easy to keep." } input #password aria-describedby="password-hint" type="password" name="password" autocomplete="new-password" required minlength="12" maxlength="256"; }
            div { label for="repeated" { "The password again" } input #repeated type="password" name="repeated" autocomplete="new-password" required minlength="12" maxlength="256"; }
            div { button type="submit" { "Sign in" } }
        }
    }
}

fn link_used_up() -> HttpError {
    Refusal::not_found(
        "This link was used already, is older than a day, or was not copied whole. Ask an owner for a new one, or run `docent \
         operator link` on the server.",
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_nowhere_else() {
        for safe_path in ["/dashboard", "/dashboard/acme/jobs?status=failed"] {
            assert_eq!(safe_return_path(safe_path), safe_path);
        }
        for unsafe_path in [
            "",
            "//evil.example",
            "https://evil.example",
            "/dashboardx",
            "/dashboard/\\evil",
            "/dashboard/a b",
            "/pulls/x",
            "/dashboard/-/sign-out",
            "/dashboard/\r\nset-cookie: a=b",
        ] {
            assert_eq!(safe_return_path(unsafe_path), HOME, "{unsafe_path:?}");
        }
    }
}
