//! Admission of readers, and which scripts may read the answer.
//!
//! An assistant key is public in browsers, so scripts on pages of any origin may read every answer, errors included;
//! unless the key lists origins, and then only those.

use docent_access::{Access, AccessError, Credentials, Denial, Principal, Scope};
use docent_types::CallError;
use docent_web::cors::{self, Origins};
use docent_web::{HttpError, Methods, Request, Response};
use http::header::{AUTHORIZATION, ORIGIN};

/// The headers that scripts may read.
const EXPOSED: &str = "X-Thread-Id, X-Thread-Key, X-Request-Id, Retry-After, RateLimit";

/// Whether scripts of any page may request this: everything below `/discovery`, unknown paths included.
pub fn is_shared(request: &Request) -> bool {
    request.segments().first() == Some(&"discovery")
}

/// The credentials in a request.
pub fn credentials(request: &Request) -> Credentials<'_> {
    Credentials::from_headers(request.header_values(AUTHORIZATION), request.header_values(ORIGIN), request.client())
}

/// The answer to OPTIONS. A preflight has no key, so it is answered for any page; the key decides about the request
/// itself.
pub fn preflight(request: &Request, methods: Methods) -> Response {
    let mut response = cors::preflight(request.headers(), methods, &Origins::Any);
    Readers::any().share(request, &mut response);
    response
}

/// The origins whose scripts may read an answer: any, until the key is known.
#[derive(Debug)]
pub struct Readers(Origins);

impl Readers {
    pub const fn any() -> Self {
        Self(Origins::Any)
    }

    /// Admits a caller with an assistant key to the docs of a domain, and restricts the origins to those of the key.
    ///
    /// # Errors
    /// Those of [`Access::assistant`], as answers.
    pub async fn admit(&mut self, access: &Access, request: &Request, domain: &str) -> Result<Principal, HttpError> {
        let required_scope = if request.method().is_safe() { Scope::Read } else { Scope::Write };
        let admitted = access.assistant(&credentials(request), domain, required_scope).await;
        match &admitted {
            Ok(principal) if principal.key.grant.allow_origin.is_empty() => {}
            Ok(principal) => {
                let listed = principal.key.grant.allow_origin.iter().map(|origin| origin.as_str().to_owned());
                self.0 = Origins::Only(listed.collect());
            }
            // The page's origin is not on the key's list, so its script may not even read the error.
            Err(AccessError::Denied(Denial::Origin)) => self.0 = Origins::Only(Vec::new()),
            Err(_) => {}
        }
        Ok(admitted.map_err(CallError::from)?)
    }

    /// Sets the CORS headers of an answer.
    pub fn share(&self, request: &Request, response: &mut Response) {
        cors::add_headers(request.headers(), response.headers_mut(), &self.0, EXPOSED);
    }
}
