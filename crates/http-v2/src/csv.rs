//! Tables as CSV (RFC 4180), which spreadsheets open.

use docent_types::Refusal;
use docent_web::{HttpError, Request, Response, respond};
use http::header::{CONTENT_DISPOSITION, HeaderName};
use http::{HeaderValue, StatusCode};

use crate::conversations::not_for_caches;
use crate::parameter::given;

/// The form of an answer, as the parameter `format` names it.
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

/// A table with a header, built row by row.
#[derive(Debug)]
pub(crate) struct Csv(String);

impl Csv {
    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Self {
        let mut table = Self(String::new());
        table.row(header);
        table
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        for (at, cell) in cells.into_iter().enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            self.cell(cell);
        }
        self.0.push_str("\r\n");
    }

    /// Readers write these texts, so none may run as a formula: one that begins like a formula gets an apostrophe in front.
    fn cell(&mut self, text: &str) {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let is_quoted = text.contains(['"', ',', '\r', '\n']);
        if is_quoted {
            self.0.push('"');
        }
        if is_formula {
            self.0.push('\'');
        }
        if is_quoted {
            self.0.push_str(&text.replace('"', "\"\""));
            self.0.push('"');
        } else {
            self.0.push_str(text);
        }
    }

    /// A file to be downloaded; `disposition` names it. `next` is the cursor of the next page, in the header
    /// `X-Next-Cursor`.
    pub(crate) fn response(self, disposition: &'static str, next: Option<&str>) -> Result<Response, HttpError> {
        let mut response = respond::bytes_of(StatusCode::OK, "text/csv; charset=utf-8; header=present", self.0);
        response.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
        if let Some(next) = next {
            let next = HeaderValue::from_str(next).map_err(HttpError::internal)?;
            response.headers_mut().insert(HeaderName::from_static("x-next-cursor"), next);
        }
        Ok(not_for_caches(response))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_is_never_a_formula() {
        for (text, expected) in [
            ("", ""),
            ("plain text", "plain text"),
            ("a, b", "\"a, b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@a", "'@a"),
            ("=A1,\"B\"", "\"'=A1,\"\"B\"\"\""),
            ("\t=1", "'\t=1"),
        ] {
            assert_eq!(Csv::new([text, "z"]).0, format!("{expected},z\r\n"), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_reader_gets_back_any_text(text in "[a=,\"\r\n é+-]{0,12}") {
            let table = Csv::new([text.as_str()]).0;
            let cell = table.strip_suffix("\r\n").expect("a line's end");
            let read = match cell.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')) {
                Some(inside) => inside.replace("\"\"", "\""),
                None => cell.to_owned(),
            };
            prop_assert_eq!(read.strip_prefix('\'').unwrap_or(&read), text);
            prop_assert!(!read.starts_with(['=', '+', '-', '@']));
        }
    }
}
