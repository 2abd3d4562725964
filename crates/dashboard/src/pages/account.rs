//! One's own account: password, sessions, signing out.

use docent_operators::{Credential, SignInError};
use docent_types::Refusal;
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{AuthorizedRequest, redirect};
use crate::guard::Cookie;
use crate::layout::{Section, button, token};
use crate::pages::operators::refusal;
use crate::text::Untrusted;

pub(crate) fn account(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let operator = &request.signed_in.operator;
    let body = html! {
        p { "You are " strong { (operator.name) } ", in the role " strong { (operator.role.as_str()) } "." }
        @if let Credential::Identity(identity) = &operator.credential {
            p { "You sign in at " (Untrusted(&identity.issuer)) ", where your groups give the role." }
        } @else {
            (password_form(request))
        }
        h2 { "Sessions" }
        p { "A session ends when it was not used for 14 days, and after 90 days in any case; one from an identity provider after a day." }
        (button(request.signed_in, "/dashboard/-/account/sign-out-everywhere", "Sign out everywhere"))
    };
    Ok(request.page("Your account", Section::Account, None, &body))
}

fn password_form(request: &AuthorizedRequest<'_>) -> Markup {
    let operator = &request.signed_in.operator;
    html! {
        h2 { "Password" }
        form.fields method="post" {
            (token(request.signed_in))
            input type="text" name="username" value=(operator.name) autocomplete="username" hidden;
            div { label for="old" { "Password now" } input #old type="password" name="old" autocomplete="current-password" required maxlength="256"; }
            div { label for="new" { "New password" } small.hint #new-hint { "At least 12 characters." } input #new aria-describedby="new-hint" type="password" name="new" autocomplete="new-password" required minlength="12" maxlength="256"; }
            div { label for="repeated" { "New password again" } input #repeated type="password" name="repeated" autocomplete="new-password" required minlength="12" maxlength="256"; }
            div { button type="submit" { "Change password" } }
        }
    }
}

pub(crate) async fn change_password(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let (old, new) = (request.form.exact("old"), request.form.exact("new"));
    if new != request.form.exact("repeated") {
        return Err(Refusal::invalid("The two new passwords differ. Type the same one twice.").into());
    }
    request.parts().operators.change_password(request.signed_in, old, new).await.map_err(|error| match error {
        SignInError::Write(error) => refusal(error),
        SignInError::Hash(source) => HttpError::Internal(source),
        SignInError::Wrong => Refusal::invalid("The password now is wrong. Nothing was changed.").into(),
        other => Refusal::invalid(other.to_string()).into(),
    })?;
    Ok(redirect("/dashboard/-/account?done=password"))
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
