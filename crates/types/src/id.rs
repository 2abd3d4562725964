//! Names and ids. Each kind is its own type, so that a thread id is never looked up as a job.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use crate::clock::Timestamp;

/// Why a project id or a domain was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{given}` is not a name: use 1 to 64 lower-case letters, digits, `-`, `_` or `.`, beginning with a letter or a digit"
)]
pub struct IdError {
    given: String,
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    first
        && text.len() <= 64
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte))
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $type(String);

        impl $type {
            pub fn parse(text: &str) -> Result<Self, IdError> {
                text.to_owned().try_into()
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        /// Allows lookups in maps by `str`.
        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl TryFrom<String> for $type {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                if is_name(&text) { Ok(Self(text)) } else { Err(IdError { given: text.chars().take(80).collect() }) }
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0
            }
        }

        impl std::str::FromStr for $type {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }
    };
}

name! {
    /// The name of a project: the `{projectId}` of the agent paths.
    ProjectId
}
name! {
    /// The name of a docs site: the `{domain}` of the assistant paths.
    Domain
}

macro_rules! id {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $type(Uuid);

        impl $type {
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// Parses the hyphenated form, which is the only one accepted.
            pub fn parse(text: &str) -> Option<Self> {
                if text.len() != uuid::fmt::Hyphenated::LENGTH { return None; }
                Uuid::try_parse(text).ok().map(Self)
            }

            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }
    };
}

id! {
    /// The identity of a project, independent of its name: created when the project is added, so that a later project
    /// of the same name is another one. Data of a project is stored under this id.
    ProjectUid
}
id! {
    /// One agent job. Sorts by creation time.
    JobId
}

impl JobId {
    /// The lowest id of a job that is created at this time or later.
    pub fn first_at(at: Timestamp) -> Self {
        let millis = u64::try_from(at.millis()).unwrap_or(0);
        Self::new(Uuid::from_u128(u128::from(millis) << 80))
    }
}
id! {
    /// One conversation with the assistant. Unguessable.
    ThreadId
}
id! {
    /// One message of a conversation.
    MessageId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_lower_case_and_path_safe() {
        for good in ["acme", "a", "acme-docs", "9lives", "a.b_c"] {
            assert!(ProjectId::parse(good).is_ok(), "{good}");
        }
        let long = "a".repeat(65);
        for bad in ["", "Acme", "-acme", "..", ".a", "a/b", "a b", "ä", long.as_str()] {
            assert!(ProjectId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_fills_the_width_it_is_given() {
        let id = ProjectId::parse("acme").expect("a name");
        assert_eq!(format!("{id:<6}|{id:>6}|{id}"), "acme  |  acme|acme");
    }

    #[test]
    fn a_job_id_is_read_back_from_its_hyphenated_form_only() {
        let id = JobId::new(Uuid::from_u128(7));
        assert_eq!(JobId::parse(&id.to_string()), Some(id));
        assert_eq!(JobId::parse("00000000000000000000000000000007"), None);
        assert_eq!(JobId::parse("../../../../../../../../../../../etc"), None);
    }
}
