//! What a query says.

use docent_web::Request;

/// A parameter that says something; one without a value counts as left out.
pub(crate) fn given(request: &Request, name: &str) -> Option<String> {
    request.query(name).filter(|given| !given.is_empty()).map(std::borrow::Cow::into_owned)
}
