//! Tables as files for spreadsheets (RFC 4180).

use docent_web::{Request, Response, respond};
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};

/// A table, row by row.
pub(crate) struct Csv {
    name: &'static str,
    text: String,
}

/// Whether a request wants the file of a table.
pub(crate) fn is_wanted(request: &Request) -> bool {
    request.query("format").as_deref() == Some("csv")
}

impl Csv {
    /// `name`: of the file, without ending.
    pub(crate) fn new(name: &'static str, columns: &[&str]) -> Self {
        let mut csv = Self { name, text: String::new() };
        csv.row(columns.iter().copied());
        csv
    }

    pub(crate) fn row<'f>(&mut self, fields: impl IntoIterator<Item = &'f str>) {
        for (at, field) in fields.into_iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.field(field);
        }
        self.text.push_str("\r\n");
    }

    /// A spreadsheet takes a field that begins like a formula for one, so that such a field gets an apostrophe before it.
    fn field(&mut self, field: &str) {
        let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
        self.text.push('"');
        if is_formula {
            self.text.push('\'');
        }
        self.text.push_str(&field.replace('"', "\"\""));
        self.text.push('"');
    }

    pub(crate) fn response(self) -> Response {
        let mut response = respond::bytes_of(StatusCode::OK, "text/csv; charset=utf-8", self.text);
        if let Ok(name) = HeaderValue::try_from(format!("attachment; filename=\"{}.csv\"", self.name)) {
            response.headers_mut().insert(CONTENT_DISPOSITION, name);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_no_field_is_a_formula() {
        let mut csv = Csv::new("x", &["a", "b"]);
        csv.row(["say \"hi\"\nthere", "=1+1"]);
        assert_eq!(csv.text, "\"a\",\"b\"\r\n\"say \"\"hi\"\"\nthere\",\"'=1+1\"\r\n");
    }
}
