//! The methods that a path accepts.

use http::header::ALLOW;
use http::{HeaderValue, Method, StatusCode};

use crate::error::HttpError;
use crate::respond::{self, Response};

/// The methods of one path. GET implies HEAD, and every path answers OPTIONS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Methods(&'static [Method]);

impl Methods {
    pub const GET: Self = Self(&[Method::GET]);
    pub const POST: Self = Self(&[Method::POST]);

    /// `methods` must not name HEAD or OPTIONS.
    pub const fn new(methods: &'static [Method]) -> Self {
        Self(methods)
    }

    /// The method to serve: GET for HEAD, whose body the server leaves out.
    ///
    /// # Errors
    /// [`HttpError::MethodNotAllowed`] (405 with `Allow`) when the path does not take `method`.
    pub fn check(self, method: &Method) -> Result<&'static Method, HttpError> {
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        self.0
            .iter()
            .find(|allowed| *allowed == wanted)
            .ok_or_else(|| HttpError::MethodNotAllowed { method: method.clone(), allowed: self })
    }

    /// The answer to OPTIONS: 204 with `Allow`.
    pub fn options(self) -> Response {
        let mut response = respond::empty(StatusCode::NO_CONTENT);
        response.headers_mut().insert(ALLOW, self.header());
        response
    }

    /// The value of `Allow`.
    pub fn header(self) -> HeaderValue {
        let mut list = self.sentence_list(", ");
        if self.0.contains(&Method::GET) {
            list.push_str(", HEAD");
        }
        list.push_str(", OPTIONS");
        // Method names are visible ASCII, the custom ones too.
        HeaderValue::try_from(list).unwrap_or_else(|_| HeaderValue::from_static("OPTIONS"))
    }

    pub(crate) fn sentence_list(self, separator: &str) -> String {
        self.0.iter().map(Method::as_str).collect::<Vec<_>>().join(separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_served_as_get() {
        assert_eq!(Methods::GET.check(&Method::HEAD).unwrap(), Method::GET);
        assert!(Methods::POST.check(&Method::HEAD).is_err());
    }

    #[test]
    fn allow_names_what_comes_along() {
        const BOTH: Methods = Methods::new(&[Method::GET, Method::DELETE]);
        assert_eq!(BOTH.header(), "GET, DELETE, HEAD, OPTIONS");
        assert_eq!(Methods::POST.options().headers()[ALLOW], "POST, OPTIONS");
    }
}
