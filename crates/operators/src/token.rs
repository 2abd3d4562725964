//! Secret tokens of sessions and links, and the hashes that are stored instead.

use std::fmt;

use docent_access::system_randomness;
use docent_types::{StoreError, hex};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const TOKEN_BYTES: usize = 32;

/// The SHA-256 of a token: what is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of a secret.
    pub(crate) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Parses the 64 digits that [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if !is_hex(text) {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

macro_rules! token {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $type(String);

        impl $type {
            /// 32 random bytes, as 64 hexadecimal digits.
            pub(crate) fn random() -> Result<Self, StoreError> {
                let mut bytes = [0; TOKEN_BYTES];
                system_randomness(&mut bytes).map_err(|error| StoreError::new("make a token", error))?;
                Ok(Self(hex(&bytes)))
            }

            /// Parses a text of the right form. The token may still be unknown.
            pub fn parse(text: &str) -> Option<Self> {
                is_hex(text).then(|| Self(text.to_owned()))
            }

            /// The secret in full.
            pub fn expose(&self) -> &str {
                &self.0
            }

            pub fn hash(&self) -> TokenHash {
                TokenHash::of(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($type), "(…)"))
            }
        }
    };
}

token! {
    /// The token of a session, which the browser sends with each request: 64 hexadecimal digits.
    SessionToken
}
token! {
    /// The secret part of a one-time link: 64 hexadecimal digits.
    LinkToken
}

impl SessionToken {
    pub fn csrf(&self) -> CsrfToken {
        let digest = Sha256::new().chain_update("docent csrf").chain_update(&self.0).finalize();
        CsrfToken(hex(&digest))
    }
}

/// The CSRF token in the forms of a session, which no other site can know. It is a hash of the session's token, which
/// cannot be derived from it.
#[derive(Clone)]
pub struct CsrfToken(String);

impl CsrfToken {
    /// The value for a form.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether a form was sent with this token. Compares in constant time.
    pub fn fits(&self, sent: &str) -> bool {
        self.0.as_bytes().ct_eq(sent.as_bytes()).into()
    }
}

impl fmt::Debug for CsrfToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CsrfToken(…)")
    }
}

fn is_hex(text: &str) -> bool {
    text.len() == 2 * TOKEN_BYTES && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_token_is_random_and_read_back() {
        let token = SessionToken::random().expect("randomness");
        assert_ne!(token.hash(), SessionToken::random().expect("randomness").hash());
        let read = SessionToken::parse(token.expose()).expect("a whole token");
        assert_eq!((read.hash(), read.csrf().expose()), (token.hash(), token.csrf().expose()));
        assert_eq!(TokenHash::parse(&token.hash().to_string()), Some(token.hash()));
    }

    #[test]
    fn secrets_do_not_show_themselves() {
        let token = SessionToken::random().expect("randomness");
        let link = LinkToken::random().expect("randomness");
        assert_eq!(
            format!("{token:?} {:?} {:?} {link:?}", token.hash(), token.csrf()),
            "SessionToken(…) TokenHash(…) CsrfToken(…) LinkToken(…)"
        );
    }

    #[test]
    fn a_form_needs_the_token_of_its_own_session() {
        let [one, other] = ["a", "b"].map(|digit| SessionToken::parse(&digit.repeat(64)).expect("a token").csrf());
        assert!(one.fits(one.expose()));
        for bad in [other.expose(), "", &one.expose()[1..], &one.expose().to_uppercase(), &"a".repeat(64)] {
            assert!(!one.fits(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn nothing_else_is_a_token(text: String, digits in "[0-9a-fA-F]{60,68}") {
            for text in [text, digits] {
                let right = text.len() == 64 && text.bytes().all(|b| b"0123456789abcdef".contains(&b));
                prop_assert_eq!(LinkToken::parse(&text).is_some(), right);
                prop_assert_eq!(TokenHash::parse(&text).is_some(), right);
            }
        }
    }
}
