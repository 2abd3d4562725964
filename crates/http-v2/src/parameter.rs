//! Query parameters.

use docent_web::Request;

/// A parameter with a value; an empty one counts as missing.
pub(crate) fn given(request: &Request, name: &str) -> Option<String> {
    request.query(name).filter(|given| !given.is_empty()).map(std::borrow::Cow::into_owned)
}
