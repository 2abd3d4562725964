//! The fields of a form that a browser sent.

use docent_types::Refusal;
use docent_web::{HttpError, Request};

/// Largest body of a form, in bytes: a prompt has at most 100,000 characters, each of which may take twelve.
const MAX_FORM_BYTES: usize = 2 << 20;

/// The fields of a form, decoded, in order.
#[derive(Debug)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// 413 for a body over 2 MiB; 415 for another content type than that of forms.
    pub(crate) async fn read(request: &mut Request) -> Result<Self, HttpError> {
        let kind = request.header(http::header::CONTENT_TYPE).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let sentence = "The body must be a form: `application/x-www-form-urlencoded`.";
            return Err(HttpError::UnsupportedMediaType(sentence.to_owned()));
        }
        let body = request.body(MAX_FORM_BYTES).await?;
        Ok(Self::parse(&body))
    }

    pub(crate) fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// The first field of a name, without white space around it; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.exact(name).trim()
    }

    /// The first field of a name as it was sent: for passwords.
    pub(crate) fn exact(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// The first field of a name, or `None` where it is missing or white space.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Whether a box is ticked.
    pub(crate) fn is_ticked(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// The lines of a field that are not empty.
    pub(crate) fn lines(&self, name: &str) -> impl Iterator<Item = &str> {
        self.text(name).lines().map(str::trim).filter(|line| !line.is_empty())
    }

    /// One of several values.
    ///
    /// # Errors
    /// 400, naming the field and what it may be.
    pub(crate) fn one_of<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Result<T, HttpError> {
        let given = self.text(name);
        values.iter().find(|(value, _)| *value == given).map(|(_, value)| *value).ok_or_else(|| {
            let values: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
            Refusal::invalid(format!("{name}: choose one of {}", values.join(", "))).into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_write_them() {
        let form = Form::parse(b"a=one+two%21&b=&a=late&lines=x%0D%0A%0D%0A+y&tick=on&p=+secret+");
        assert_eq!((form.text("a"), form.text("b"), form.text("none")), ("one two!", "", ""));
        assert_eq!((form.given("a"), form.given("b")), (Some("one two!"), None));
        assert_eq!(form.lines("lines").collect::<Vec<_>>(), ["x", "y"]);
        assert!(form.is_ticked("tick") && !form.is_ticked("tock"));
        assert_eq!(form.exact("p"), " secret ", "a password keeps its spaces");
        assert!(form.one_of("a", &[("x", 1)]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_some_form(bytes: Vec<u8>) {
            let form = Form::parse(&bytes);
            let _ = (form.text("a"), form.lines("a").count());
        }
    }
}
