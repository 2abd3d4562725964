//! Tables as files for spreadsheets (RFC 4180).

use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};

use crate::{HttpError, Response, respond};

/// A table with a header, row by row.
#[derive(Debug)]
pub struct Csv(String);

impl Csv {
    pub fn new<'c>(columns: impl IntoIterator<Item = &'c str>) -> Self {
        let mut table = Self(String::new());
        table.row(columns);
        table
    }

    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) {
        for (at, cell) in cells.into_iter().enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            self.cell(cell);
        }
        self.0.push_str("\r\n");
    }

    /// Readers write these texts, and a spreadsheet evaluates a cell that begins like a formula: such a text gets an
    /// apostrophe as prefix.
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

    /// The table as a download. `name` has no extension.
    pub fn response(self, name: &str) -> Result<Response, HttpError> {
        let mut response = respond::bytes_of(StatusCode::OK, "text/csv; charset=utf-8; header=present", self.0);
        let file = format!("attachment; filename=\"{name}.csv\"");
        response.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::try_from(file).map_err(HttpError::internal)?);
        Ok(response)
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
