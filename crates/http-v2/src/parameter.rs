//! Parses query parameters.

use docent_types::Refusal;
use docent_web::{Csv, HttpError, Request, Response};
use http::HeaderValue;
use http::header::HeaderName;

/// The value of a parameter; an empty one counts as missing.
pub(crate) fn given(request: &Request, name: &str) -> Option<String> {
    request.query(name).filter(|given| !given.is_empty()).map(std::borrow::Cow::into_owned)
}

/// The format of an answer, given by the parameter `format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
}

impl Format {
    pub(crate) fn of(request: &Request) -> Result<Self, Refusal> {
        match given(request, "format").as_deref() {
            None | Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some(_) => Err(Refusal::invalid("format: it must be `json` or `csv`; `json` is usual")),
        }
    }
}

/// A page of a list as a table. The cursor of the next page is in the header `X-Next-Cursor`.
pub(crate) fn page_of_table(table: Csv, name: &str, next: Option<String>) -> Result<Response, HttpError> {
    let mut response = table.response(name)?;
    if let Some(next) = next {
        let next = HeaderValue::try_from(next).map_err(HttpError::internal)?;
        response.headers_mut().insert(HeaderName::from_static("x-next-cursor"), next);
    }
    Ok(response)
}
