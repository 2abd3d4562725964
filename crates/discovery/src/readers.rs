//! Admission of readers, and which scripts may read the answer.
//!
//! An assistant key is public in browsers, so scripts on pages of any origin may read every answer, errors included;
//! unless the key lists origins, and then only those.

use docent_access::{Access, AccessError, Credentials, Denial, KeyRecord, Principal, Reader, Scope};
use docent_assistant::Assistant;
use docent_types::{CallError, Project};
use docent_web::cors::{self, Origins};
use docent_web::{HttpError, Methods, Request, Response};
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The headers that scripts may read.
const EXPOSED: &str = "X-Thread-Id, X-Thread-Key, X-Request-Id, Retry-After, RateLimit";

/// Whether scripts of any page may request this: everything below `/discovery`, unknown paths included.
pub fn is_shared(request: &Request) -> bool {
    request.segments().first() == Some(&"discovery")
}

/// The credentials in a request.
pub fn credentials(request: &Request) -> Credentials<'_> {
    let credentials = Credentials::from_headers(
        request.header_values(AUTHORIZATION),
        request.header_values(ORIGIN),
        request.client(),
    );
    if request.header_values(SEC_FETCH_SITE).eq([b"same-origin"]) {
        credentials.with_own_host(request.header_values(HOST))
    } else {
        credentials
    }
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

    /// Scripts of no origin.
    pub const fn none() -> Self {
        Self(Origins::Only(Vec::new()))
    }

    /// Admits a caller with an assistant key to the docs of a domain, and restricts the origins to those of the key.
    ///
    /// # Errors
    /// Those of [`Access::assistant`], as answers.
    pub async fn admit(&mut self, access: &Access, request: &Request, domain: &str) -> Result<Principal, HttpError> {
        let required_scope = if request.method().is_safe() { Scope::Read } else { Scope::Write };
        let admitted = access.assistant(&credentials(request), domain, required_scope).await;
        self.restrict(admitted.as_ref().map(|principal| Some(&*principal.key)));
        Ok(admitted.map_err(CallError::from)?)
    }

    /// Admits a reader of the docs of a domain: a caller with an assistant key, and anybody where the owners of the site
    /// have made it public.
    ///
    /// # Errors
    /// Those of [`Access::reader`], as answers.
    pub async fn admit_reader(
        &mut self,
        access: &Access,
        assistant: &Assistant,
        request: &Request,
        domain: &str,
        need: Scope,
    ) -> Result<Reader, HttpError> {
        let is_public = |project: &Project| assistant.site(project.uid).public;
        let admitted = access.reader(&credentials(request), domain, need, is_public).await;
        self.restrict(admitted.as_ref().map(|reader| match reader {
            Reader::Holder(principal) => Some(&*principal.key),
            Reader::Anybody(_) => None,
        }));
        Ok(admitted.map_err(CallError::from)?)
    }

    /// Restricts the origins to those of the key of an admitted caller.
    fn restrict(&mut self, admitted: Result<Option<&KeyRecord>, &AccessError>) {
        match admitted {
            Ok(Some(key)) if !key.grant.allow_origin.is_empty() => {
                let listed = key.grant.allow_origin.iter().map(|origin| origin.as_str().to_owned());
                self.0 = Origins::Only(listed.collect());
            }
            // The page's origin is not on the key's list, so its script may not even read the error.
            Err(AccessError::Denied(Denial::Origin)) => self.0 = Origins::Only(Vec::new()),
            _ => {}
        }
    }

    /// Sets the CORS headers of an answer.
    pub fn share(&self, request: &Request, response: &mut Response) {
        cors::add_headers(request.headers(), response.headers_mut(), &self.0, EXPOSED);
    }
}
