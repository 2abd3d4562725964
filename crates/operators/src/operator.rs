//! A person who may sign in: name, role, id.

use std::fmt;
use std::hash::{Hash, Hasher};

use docent_types::{Timestamp, is_invisible, is_unprintable};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;
use uuid::Uuid;

use crate::identity::Identity;
use crate::password::PasswordHash;

const MAX_NAME_CHARS: usize = 100;
/// Maximum length of a name that gets a number behind it, in characters.
const MAX_NUMBERED_NAME_CHARS: usize = 90;

/// What an operator may do. Each role may do what the ones before it may: `role >= OperatorRole::Editor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorRole {
    /// May read.
    Viewer,
    /// May start and instruct jobs, work on pull requests, ask in the playground and have docs indexed.
    Editor,
    /// May manage keys, projects and operators, and see the audit list and the settings.
    Owner,
}

impl OperatorRole {
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Editor, Self::Owner];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for OperatorRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Identifies an operator, independently of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OperatorId(Uuid);

impl OperatorId {
    pub const fn new(id: Uuid) -> Self {
        Self(id)
    }

    /// Parses the hyphenated form, which is the only one accepted.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == uuid::fmt::Hyphenated::LENGTH).then(|| Uuid::try_parse(text).ok().map(Self)).flatten()
    }

    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

/// The name an operator signs in with. Two names are the same that look alike: those that differ only in letter case, in
/// the width of their letters, in letters of another script that look the same, or in characters that are not seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OperatorName(String);

/// The text is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a name has 1 to 100 characters that are seen, and no control characters: give one such as `Ann Meyer` or \
     `ann@example.com`"
)]
pub struct NameError;

impl OperatorName {
    /// Reads a name, without the white space around it.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let name = text.trim();
        let is_valid = (1..=MAX_NAME_CHARS).contains(&name.chars().count())
            && !name.contains(|c| c == '\t' || c == '\n' || is_unprintable(c))
            && !folded(name).is_empty();
        if is_valid { Ok(Self(name.to_owned())) } else { Err(NameError) }
    }

    /// A name, the same with a 2 behind it, with a 3, …
    pub fn numbered(base: &str) -> impl Iterator<Item = Self> {
        let short: String = base.chars().take(MAX_NUMBERED_NAME_CHARS).collect();
        let numbered = (2_u32..).filter_map(move |number| Self::parse(&format!("{short} {number}")).ok());
        Self::parse(base).into_iter().chain(numbered)
    }

    /// The name in its original letter case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form by which names are compared. It is no name to show: Cyrillic and Greek letters become Latin ones.
    pub fn folded(&self) -> String {
        folded(&self.0)
    }
}

fn folded(name: &str) -> String {
    // First in upper case: a letter with a mark may become two, and other marks then belong to the second.
    let upper = name.to_uppercase();
    let seen = upper.nfkd().filter(|c| !is_invisible(*c));
    let lower: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let folded: String = lower.nfkd().map(look_alike).collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The ASCII character in lower case that a character, itself in lower case, looks like in either case; else the
/// character itself. ASCII characters stay what they are, though `m` may look like `rn`.
fn look_alike(c: char) -> char {
    let ascii = |c: char| {
        let mut buffer = [0; 4];
        let mut skeleton = skeleton(c.encode_utf8(&mut buffer)).fuse();
        skeleton.next().filter(|first| first.is_ascii() && skeleton.next().is_none())
    };
    let upper = || c.to_uppercase().next().and_then(ascii);
    let look_alike = if c.is_ascii() { None } else { ascii(c).or_else(upper) };
    look_alike.map_or(c, |c| c.to_ascii_lowercase())
}

impl PartialEq for OperatorName {
    fn eq(&self, other: &Self) -> bool {
        self.folded() == other.folded()
    }
}

impl Eq for OperatorName {}

impl Hash for OperatorName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for OperatorName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<OperatorName> for String {
    fn from(name: OperatorName) -> Self {
        name.0
    }
}

/// What an operator signs in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    Password(PasswordHash),
    /// A sign-in at the identity provider, whose groups give the role at each sign-in.
    Identity(Identity),
}

/// A person who may sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    pub id: OperatorId,
    pub name: OperatorName,
    pub role: OperatorRole,
    pub credential: Credential,
    pub created_at: Timestamp,
    /// Precise to the minute.
    pub last_seen_at: Option<Timestamp>,
}

impl Operator {
    /// The hash of the password; `None` if the operator signs in at the identity provider.
    pub const fn password(&self) -> Option<&PasswordHash> {
        match &self.credential {
            Credential::Password(hash) => Some(hash),
            Credential::Identity(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_role_may_what_the_ones_before_it_may() {
        assert!(OperatorRole::ALL.is_sorted());
        for role in OperatorRole::ALL {
            assert_eq!(OperatorRole::parse(role.as_str()), Some(role));
        }
        assert_eq!(OperatorRole::parse("Owner"), None);
    }

    #[test]
    fn a_name_is_one_readable_line() {
        let longest = "é".repeat(100);
        for (given, name) in
            [(" Ann ", "Ann"), ("日本", "日本"), ("ann@example.com", "ann@example.com"), (&*longest, &*longest)]
        {
            assert_eq!(OperatorName::parse(given).expect(given).as_str(), name);
        }
        let too_long = "é".repeat(101);
        for bad in ["", "  ", "a\nb", "a\tb", "a\u{1b}[2J", "a\u{202e}b", &*too_long] {
            assert_eq!(OperatorName::parse(bad), Err(NameError), "{bad:?}");
        }
    }

    #[test]
    fn letter_case_makes_no_other_name() {
        let name = |text| OperatorName::parse(text).expect("a name");
        assert_eq!(name("Jörg"), name("JÖRG"));
        assert_ne!(name("Jörg"), name("Jorg"));
        assert_eq!(name("Jörg").to_string(), "Jörg");
    }

    #[test]
    fn names_that_look_alike_are_one() {
        let name = |text| OperatorName::parse(text).expect("a name");
        for (one, other) in [
            ("Ann", "Ａｎｎ"),
            ("ann", "\u{430}nn"),
            ("Bob", "\u{412}ob"),
            ("Bob", "\u{432}ob"),
            ("paul", "\u{3c1}aul"),
            ("Ann Meyer", "Ann\u{200b} Me\u{ad}yer"),
            ("Ann Meyer", "Ann\u{a0} Meyer"),
            ("Jo\u{308}rg", "J\u{f6}rg"),
            ("ΝΙΚΟΣ", "νικος"),
            ("Straße", "STRASSE"),
        ] {
            assert_eq!(name(one), name(other), "{one} {other}");
        }
        for (one, other) in
            [("Marno", "Mamo"), ("ann1", "annl"), ("Анна", "Инна"), ("søren", "soren"), ("日本", "日木")]
        {
            assert_ne!(name(one), name(other), "{one} {other}");
        }
        for unseen in ["\u{200b}", "\u{ad}\u{2060}", "\u{3164}"] {
            assert_eq!(OperatorName::parse(unseen), Err(NameError), "{unseen:?}");
        }
    }

    #[test]
    fn letter_case_does_not_matter_where_marks_follow_a_letter_that_becomes_two() {
        let [one, other] =
            ["\u{1f80}\u{1e000}", "\u{1f08}\u{399}\u{1e000}"].map(|text| OperatorName::parse(text).expect("a name"));
        assert_eq!(one, other);
    }

    proptest! {
        #[test]
        fn letter_case_never_matters(text: String) {
            let (one, other) = (OperatorName::parse(&text), OperatorName::parse(&text.to_uppercase()));
            if let (Ok(one), Ok(other)) = (one, other) {
                prop_assert_eq!(one, other);
            }
        }

        #[test]
        fn a_name_is_read_back(text: String) {
            if let Ok(name) = OperatorName::parse(&text) {
                let again = OperatorName::parse(name.as_str()).expect("a name");
                prop_assert_eq!(again.as_str(), name.as_str());
            }
        }

        #[test]
        fn an_id_is_read_back(bytes: [u8; 16]) {
            let id = OperatorId::new(Uuid::from_bytes(bytes));
            prop_assert_eq!(OperatorId::parse(&id.to_string()), Some(id));
        }
    }
}
