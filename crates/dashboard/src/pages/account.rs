//! One's own account: password, sessions, signing out.

use docent_operators::{Credential, SignInError};
use docent_web::{HttpError, Response};
use http::StatusCode;
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, redirect};
use crate::guard::Cookie;
use crate::layout::{Section, token};
use crate::pages::operators::refusal;
use crate::parts::{FormProblem, button, field, form_problem};
use crate::text::Untrusted;

pub(crate) fn account(request: &AuthorizedRequest<'_>) -> Response {
    page_of(request, None)
}

fn page_of(request: &AuthorizedRequest<'_>, problem: Option<&FormProblem>) -> Response {
    let operator = &request.signed_in.operator;
    let body = html! {
        p { "You are " strong { (operator.name) } ", in the role " strong { (operator.role.as_str()) } "." }
        @if let Credential::Identity(identity) = &operator.credential {
            p { "You sign in at " (Untrusted(&identity.issuer)) ", where your groups give the role." }
        } @else {
            (password_form(request, problem))
        }
        h2 { "Sessions" }
        p { "A session ends when it was not used for 14 days, and after 90 days in any case; one from an identity provider after a day." }
        (button(request.signed_in, "/dashboard/-/account/sign-out-everywhere", "Sign out everywhere", "secondary"))
    };
    request.page("Your account", Section::Elsewhere, None, &body)
}

fn password_form(request: &AuthorizedRequest<'_>, problem: Option<&FormProblem>) -> Markup {
    let operator = &request.signed_in.operator;
    let password = |name: &'static str, label: &str, hint: &str, kept: &str, least: u32| {
        field(name, label, hint, problem, |tie| {
            html! {
                input id=(name) type="password" name=(name) aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autocomplete=(kept) required minlength=[Some(least).filter(|least| *least > 0)] maxlength="256";
            }
        })
    };
    html! {
        h2 { "Password" }
        (form_problem(problem))
        form.fields method="post" {
            (token(request.signed_in))
            input type="text" name="username" value=(operator.name) autocomplete="username" hidden;
            (password("old", "Password now", "", "current-password", 0))
            (password("new", "New password", "At least 12 characters.", "new-password", 12))
            (password("repeated", "New password again", "", "new-password", 12))
            div { button type="submit" { "Change password" } }
        }
    }
}

pub(crate) async fn change_password(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let (old, new) = (request.form.exact("old"), request.form.exact("new"));
    let refused = |problem: FormProblem| {
        let mut response = page_of(request, Some(&problem));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        Ok(response)
    };
    if new != request.form.exact("repeated") {
        return refused(FormProblem::of("repeated", "The two new passwords differ. Type the same one twice."));
    }
    match request.parts().operators.change_password(request.signed_in, old, new).await {
        Ok(_) => Ok(request.redirect_done("/dashboard/-/account", "password")),
        Err(SignInError::Write(error)) => Err(refusal(error)),
        Err(SignInError::Hash(source)) => Err(HttpError::Internal(source)),
        Err(SignInError::Wrong) => refused(FormProblem::of("old", "The password now is wrong. Nothing was changed.")),
        Err(other) => refused(FormProblem::of("new", other.to_string())),
    }
}

pub(crate) async fn sign_out(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    request.parts().operators.sign_out(request.signed_in).await.map_err(HttpError::internal)?;
    Ok(signed_out(request))
}

pub(crate) async fn sign_out_everywhere(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    request.parts().operators.sign_out_everywhere(request.signed_in.operator.id).await.map_err(HttpError::internal)?;
    Ok(signed_out(request))
}

fn signed_out(request: &AuthorizedRequest<'_>) -> Response {
    let mut response = redirect("/dashboard/-/sign-in?done=signed-out");
    request.dashboard.cookies.set(&mut response, Cookie::Session, "", 0);
    response
}
