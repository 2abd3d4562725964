//! API keys: their format, check characters and hash.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub(crate) const RANDOM: usize = 32;
const CHECK: usize = 6;

/// The kind of a key, which determines the endpoints it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// A server-side secret for the agent endpoints.
    Admin,
    /// A public key for the assistant, search and page endpoints.
    Assistant,
}

impl KeyKind {
    pub const ALL: [Self; 2] = [Self::Admin, Self::Assistant];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Assistant => "assistant",
        }
    }

    /// The prefix of every key of this kind.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Admin => "docent_admin_",
            Self::Assistant => "docent_assistant_",
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An API key: the secret. It is readable only through [`Key::expose`].
#[derive(Clone)]
pub struct Key {
    kind: KeyKind,
    text: String,
}

impl Key {
    /// Parses a key that is well-formed and has valid check characters. It may still be unknown.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self { kind: kind_of(text.as_bytes())?, text: text.to_owned() })
    }

    /// Builds a key of this many random characters, each below 62.
    pub(crate) fn assemble(kind: KeyKind, random: [u8; RANDOM]) -> Self {
        let mut text = kind.prefix().to_owned();
        text.extend(random.iter().map(|n| char::from(ALPHABET[usize::from(n % 62)])));
        let check = check_of(text.as_bytes());
        text.extend(check.into_iter().map(char::from));
        Self { kind, text }
    }

    pub const fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The key in full, to be shown once to the person who created it.
    pub fn expose(&self) -> &str {
        &self.text
    }

    pub fn hash(&self) -> KeyHash {
        KeyHash::digest(self.text.as_bytes())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}…)", self.kind.prefix())
    }
}

/// The kind of a key, if it is well-formed and its check characters are valid.
fn kind_of(text: &[u8]) -> Option<KeyKind> {
    let kind = KeyKind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix().as_bytes()))?;
    let rest = &text[kind.prefix().len()..];
    if rest.len() != RANDOM + CHECK || !rest.iter().all(u8::is_ascii_alphanumeric) {
        return None;
    }
    let (checked, check) = text.split_at(text.len() - CHECK);
    (check == check_of(checked)).then_some(kind)
}

fn check_of(text: &[u8]) -> [u8; CHECK] {
    let mut left = u64::from(crc32fast::hash(text));
    let mut check = [b'0'; CHECK];
    for place in check.iter_mut().rev() {
        *place = ALPHABET[(left % 62) as usize];
        left /= 62;
    }
    check
}

/// The SHA-256 of a key, which is stored instead of the key. Compared in constant time.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash of the key with this text, if it is well-formed and its check characters are valid. The key itself is
    /// not stored.
    pub fn of(text: &[u8]) -> Option<Self> {
        kind_of(text).map(|_| Self::digest(text))
    }

    fn digest(text: &[u8]) -> Self {
        Self(Sha256::digest(text).into())
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::hash::Hash for KeyHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for KeyHash {}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(kind: KeyKind, random: [u8; RANDOM]) -> Key {
        Key::assemble(kind, random.map(|n| n % 62))
    }

    #[test]
    fn a_key_has_a_prefix_a_body_and_check_characters() {
        let admin = key(KeyKind::Admin, [0; RANDOM]);
        assert_eq!(admin.expose(), "docent_admin_000000000000000000000000000000001Ceepr");
        assert_eq!(admin.expose().len(), "docent_admin_".len() + 38);
        let assistant = key(KeyKind::Assistant, std::array::from_fn(|n| n as u8 + 30));
        assert!(assistant.expose().starts_with("docent_assistant_UVWXYZabc"));
    }

    #[test]
    fn a_key_does_not_show_itself() {
        let key = key(KeyKind::Admin, [7; RANDOM]);
        assert_eq!(format!("{key:?}"), "Key(docent_admin_…)");
        assert_eq!(format!("{:?}", key.hash()), "KeyHash(…)");
    }

    proptest! {
        #[test]
        fn a_key_is_read_back(random: [u8; RANDOM], admin: bool) {
            let kind = if admin { KeyKind::Admin } else { KeyKind::Assistant };
            let key = key(kind, random);
            let read = Key::parse(key.expose()).expect("a whole key");
            prop_assert_eq!(read.kind(), kind);
            prop_assert_eq!(read.hash(), key.hash());
            prop_assert_eq!(KeyHash::of(key.expose().as_bytes()), Some(key.hash()));
        }

        #[test]
        fn hashes_are_the_same_when_all_their_bytes_are(bytes: [u8; 32], at in 0usize..32, to: u8) {
            let mut other = bytes;
            other[at] = to;
            prop_assert_eq!(KeyHash::from_bytes(bytes) == KeyHash::from_bytes(other), bytes == other);
        }

        #[test]
        fn one_changed_character_is_noticed(random: [u8; RANDOM], admin: bool, at: prop::sample::Index, to: char) {
            let kind = if admin { KeyKind::Admin } else { KeyKind::Assistant };
            let mut text: Vec<char> = key(kind, random).expose().chars().collect();
            let at = at.index(text.len());
            prop_assume!(text[at] != to);
            text[at] = to;
            prop_assert!(Key::parse(&text.into_iter().collect::<String>()).is_none());
        }

        #[test]
        fn one_changed_key_character_is_noticed(random: [u8; RANDOM], at in 13usize..51, to in 0usize..62) {
            let mut text = key(KeyKind::Admin, random).expose().as_bytes().to_vec();
            prop_assume!(text[at] != ALPHABET[to]);
            text[at] = ALPHABET[to];
            prop_assert!(Key::parse(&String::from_utf8(text).expect("ASCII")).is_none());
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String, tail in "[0-9A-Za-z]{0,40}") {
            let _ = Key::parse(&text);
            let _ = Key::parse(&format!("docent_admin_{text}{tail}"));
        }
    }
}
