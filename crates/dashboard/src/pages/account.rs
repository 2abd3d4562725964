//! One's own account: password, sessions, signing out.

use docent_operators::{Credential, SignInError};
use docent_types::Refusal;
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::{Visit, see};
use crate::guard::Cookie;
use crate::layout::{Section, button, token};
use crate::pages::operators::refusal;
use crate::text::Foreign;

pub(crate) fn account(visit: &Visit<'_>) -> Result<Response, HttpError> {
    let operator = &visit.signed_in.operator;
    let body = html! {
        p { "You are " strong { (operator.name) } ", in the role " strong { (operator.role.as_str()) } "." }
        @if let Credential::Identity(identity) = &operator.credential {
            p { "You sign in at " (Foreign(&identity.issuer)) ", where your groups give the role." }
        } @else {
            (password_form(visit))
        }
        h2 { "Sessions" }
        p { "A session ends when it was not used for 14 days, and after 90 days in any case; one from an identity provider after a day." }
        (button(visit.signed_in, "/dashboard/-/account/sign-out-everywhere", "Sign out everywhere"))
    };
    Ok(visit.page("Your account", Section::Account, None, &body))
}

fn password_form(visit: &Visit<'_>) -> Markup {
    let operator = &visit.signed_in.operator;
    html! {
        h2 { "Password" }
        form.fields method="post" {
            (token(visit.signed_in))
            input type="text" name="username" value=(operator.name) autocomplete="username" hidden;
            div { label for="old" { "Password now" } input #old type="password" name="old" autocomplete="current-password" required maxlength="256"; }
            div { label for="new" { "New password" } small.hint #new-hint { "At least 12 characters." } input #new aria-describedby="new-hint" type="password" name="new" autocomplete="new-password" required minlength="12" maxlength="256"; }
            div { label for="repeated" { "New password again" } input #repeated type="password" name="repeated" autocomplete="new-password" required minlength="12" maxlength="256"; }
            div { button type="submit" { "Change password" } }
        }
    }
}

pub(crate) async fn change_password(visit: &Visit<'_>) -> Result<Response, HttpError> {
    let (old, new) = (visit.form.exact("old"), visit.form.exact("new"));
    if new != visit.form.exact("repeated") {
        return Err(Refusal::invalid("The two new passwords differ. Type the same one twice.").into());
    }
    visit.parts().operators.change_password(visit.signed_in, old, new).await.map_err(|error| match error {
        SignInError::Write(error) => refusal(error),
        SignInError::Hash(source) => HttpError::Internal(source),
        SignInError::Wrong => Refusal::invalid("The password now is wrong. Nothing was changed.").into(),
        other => Refusal::invalid(other.to_string()).into(),
    })?;
    Ok(see("/dashboard/-/account?done=password"))
}

pub(crate) async fn sign_out(visit: &Visit<'_>) -> Result<Response, HttpError> {
    visit.parts().operators.sign_out(visit.signed_in).await.map_err(HttpError::internal)?;
    Ok(signed_out(visit))
}

pub(crate) async fn sign_out_everywhere(visit: &Visit<'_>) -> Result<Response, HttpError> {
    visit.parts().operators.sign_out_everywhere(visit.signed_in.operator.id).await.map_err(HttpError::internal)?;
    Ok(signed_out(visit))
}

fn signed_out(visit: &Visit<'_>) -> Response {
    let mut response = see("/dashboard/-/sign-in?done=signed-out");
    visit.dashboard.cookies.set(&mut response, Cookie::Session, "", 0);
    response
}
