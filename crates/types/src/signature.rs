//! The author of a commit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Most bytes of a name or an address.
const MAX_BYTES: usize = 200;

/// A name and an e-mail address as git writes them: `Ann Lee <ann@example.com>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    pub name: String,
    pub email: String,
}

/// Why a text is not a [`Signature`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SignatureError {
    #[error("write a name and an e-mail address, for example `Docs Bot <docs@example.com>`")]
    Form,
    #[error(
        "the name must hold a letter or a digit, no `<`, `>` or control character, and at most {MAX_BYTES} bytes; for example \
         `Docs Bot <docs@example.com>`"
    )]
    Name,
    #[error(
        "the e-mail address must hold an `@` with something on both sides, no space, `<`, `>` or control character, and at \
         most {MAX_BYTES} bytes; for example `Docs Bot <docs@example.com>`"
    )]
    Email,
}

impl Signature {
    /// The name and the address as git can write them: without control characters, `<` and `>`.
    pub fn sanitized(name: &str, email: &str) -> Self {
        let clean = |text: &str| text.replace(|c: char| c.is_control() || "<>".contains(c), "").trim().to_owned();
        Self { name: clean(name), email: clean(email) }
    }
}

impl FromStr for Signature {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Self, SignatureError> {
        let inner = text.trim().strip_suffix('>').ok_or(SignatureError::Form)?;
        let (name, email) = inner.split_once('<').ok_or(SignatureError::Form)?;
        let (name, email) = (name.trim(), email.trim());
        let is_plain =
            |text: &str| text.len() <= MAX_BYTES && !text.contains(|c: char| c.is_control() || "<>".contains(c));
        if !is_plain(name) || !name.contains(char::is_alphanumeric) {
            return Err(SignatureError::Name);
        }
        let has_sides = email.rsplit_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty());
        if !is_plain(email) || !has_sides || email.contains(char::is_whitespace) {
            return Err(SignatureError::Email);
        }
        Ok(Self { name: name.to_owned(), email: email.to_owned() })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_signature_is_a_name_and_an_address() {
        let read = |text: &str| text.parse::<Signature>().map(|signature| (signature.name, signature.email));
        let ann = ("Ann Lee".to_owned(), "ann@example.com".to_owned());
        assert_eq!(read("Ann Lee <ann@example.com>"), Ok(ann.clone()));
        assert_eq!(read("  Ann Lee<ann@example.com>  "), Ok(ann));
        assert!(read("Zoë (文档) <z@例え.jp>").is_ok());
        for (text, error) in [
            ("", SignatureError::Form),
            ("Ann Lee", SignatureError::Form),
            ("ann@example.com", SignatureError::Form),
            ("<ann@example.com>", SignatureError::Name),
            (".. <ann@example.com>", SignatureError::Name),
            ("Ann\nSigned-off-by: Eve <ann@example.com>", SignatureError::Name),
            ("Ann <>", SignatureError::Email),
            ("Ann <ann>", SignatureError::Email),
            ("Ann <ann@>", SignatureError::Email),
            ("Ann <ann@exa mple.com>", SignatureError::Email),
            ("Ann <a@b> <c@d>", SignatureError::Email),
        ] {
            assert_eq!(read(text), Err(error), "{text:?}");
        }
        assert_eq!(read(&format!("{} <a@b>", "x".repeat(201))), Err(SignatureError::Name));
    }

    proptest! {
        #[test]
        fn signatures_are_one_line_and_read_back(text in "[\\PC\n<>@ ]{0,40}|[a-zé .]{1,9} ?<[a-z.]{1,5}@[a-z.]{1,5}>") {
            if let Ok(signature) = text.parse::<Signature>() {
                let written = signature.to_string();
                prop_assert!(!written.contains(char::is_control));
                prop_assert_eq!(written.parse(), Ok(signature));
            }
        }
    }
}
