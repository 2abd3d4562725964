//! Who gets in, and which scripts may read what is answered.
//!
//! An assistant key is in everybody's browser, so every answer can be read from pages of any origin, errors included;
//! unless the key lists origins, and then only from those.

use docent_access::{Access, AccessError, Credentials, Denial, Principal, Scope};
use docent_types::CallError;
use docent_web::cors::{self, Origins};
use docent_web::{HttpError, Methods, Request, Response};
use http::header::{AUTHORIZATION, ORIGIN};

/// What scripts may read besides the body.
const EXPOSED: &str = "X-Thread-Id, X-Thread-Key, X-Request-Id, Retry-After, RateLimit";

/// Whether browsers may ask this from pages of anybody's: whatever lies under `/discovery`, paths that are none included.
pub fn is_shared(request: &Request) -> bool {
    request.segments().first() == Some(&"discovery")
}

/// The answer to OPTIONS. A preflight shows no key, so any page may ask; what it then gets to read is up to the key.
pub fn preflight(request: &Request, methods: Methods) -> Response {
    let mut response = cors::preflight(request.headers(), methods, &Origins::Any);
    Readers::any().share(request, &mut response);
    response
}

/// The pages whose scripts may read an answer: any, until the key is known.
#[derive(Debug)]
pub struct Readers(Origins);

impl Readers {
    pub const fn any() -> Self {
        Self(Origins::Any)
    }

    /// Lets a caller with an assistant key in to the docs of a domain, and narrows the readers to those of the key.
    ///
    /// # Errors
    /// Those of [`Access::assistant`], as answers.
    pub async fn admit(&mut self, access: &Access, request: &Request, domain: &str) -> Result<Principal, HttpError> {
        let need = if request.method().is_safe() { Scope::Read } else { Scope::Write };
        let (authorization, origin) = (request.header_values(AUTHORIZATION), request.header_values(ORIGIN));
        let credentials = Credentials::shown(authorization, origin, request.client());
        let admitted = access.assistant(&credentials, domain, need).await;
        match &admitted {
            Ok(principal) if principal.key.grant.allow_origin.is_empty() => {}
            Ok(principal) => {
                let listed = principal.key.grant.allow_origin.iter().map(|origin| origin.as_str().to_owned());
                self.0 = Origins::Only(listed.collect());
            }
            // The page's script is not among those the key is for, and reads not even why.
            Err(AccessError::Denied(Denial::Origin)) => self.0 = Origins::Only(Vec::new()),
            Err(_) => {}
        }
        Ok(admitted.map_err(CallError::from)?)
    }

    /// Says on an answer who may read it.
    pub fn share(&self, request: &Request, response: &mut Response) {
        cors::share(request.headers(), response.headers_mut(), &self.0, EXPOSED);
    }
}
