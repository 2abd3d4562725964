//! The stored record of a key, and how one is created.

use std::fmt;
use std::time::Duration;

use docent_types::{BoxError, ProjectId, Timestamp, hex};
use serde::{Deserialize, Serialize};

use crate::address::AddressRange;
use crate::key::{Key, KeyHash, KeyKind, RANDOM};
use crate::origin::Origin;

/// Default lifetime of a key: 90 days.
pub const LIFETIME: Duration = Duration::from_secs(90 * 24 * 3600);

/// The scope of a key. Writing includes reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Read,
    /// Everything, the default.
    #[default]
    Write,
}

impl Scope {
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The public id of a key: `key_` and 16 hexadecimal digits of its hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(String);

impl KeyId {
    /// Takes any text: an unknown id names no key.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&KeyHash> for KeyId {
    fn from(hash: &KeyHash) -> Self {
        Self(format!("key_{}", hex(&hash.as_bytes()[..8])))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The record of a key: everything except the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: KeyId,
    pub hash: KeyHash,
    pub grant: Grant,
    /// The name that a person gave to the key.
    pub name: Option<String>,
    /// The name of the operator who created the key; `None` for the command line.
    pub made_by: Option<String>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// The time of the last admission, to the minute; `None` if it was never used.
    pub used_at: Option<Timestamp>,
}

/// The permissions that a key grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub kind: KeyKind,
    pub project: ProjectId,
    pub scope: Scope,
    /// `None` means that the key never expires.
    pub expires_at: Option<Timestamp>,
    /// Addresses from which the key may be used; empty means any.
    #[serde(default)]
    pub allow_ip: Vec<AddressRange>,
    /// Web origins from which the key may be used; empty means any origin, and requests without one.
    #[serde(default)]
    pub allow_origin: Vec<Origin>,
}

impl Grant {
    /// Full access to one project, from anywhere, for [`LIFETIME`].
    pub fn new(kind: KeyKind, project: ProjectId, now: Timestamp) -> Self {
        let expires_at = Some(now.plus(LIFETIME));
        Self { kind, project, scope: Scope::default(), expires_at, allow_ip: Vec::new(), allow_origin: Vec::new() }
    }
}

/// Creates a key and its record. `randomness` fills the slice with random bytes; its error is passed on.
pub fn mint<E>(
    grant: Grant,
    now: Timestamp,
    mut randomness: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<(Key, KeyRecord), E> {
    let mut random = [0; RANDOM];
    let mut filled = 0;
    while filled < RANDOM {
        let mut bytes = [0; RANDOM];
        randomness(&mut bytes)?;
        // The bytes from 248 on are skipped: they would make the first 8 characters of the alphabet more likely than
        // the others.
        for byte in bytes.into_iter().filter(|byte| *byte < 248).take(RANDOM - filled) {
            random[filled] = byte % 62;
            filled += 1;
        }
    }
    let key = Key::assemble(grant.kind, random);
    let hash = key.hash();
    let id = KeyId::from(&hash);
    Ok((
        key,
        KeyRecord { id, hash, grant, name: None, made_by: None, created_at: now, revoked_at: None, used_at: None },
    ))
}

/// Random bytes from the operating system, for [`mint`].
pub fn system_randomness(bytes: &mut [u8]) -> Result<(), BoxError> {
    getrandom::fill(bytes).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn grant() -> Grant {
        Grant::new(KeyKind::Admin, ProjectId::parse("acme").expect("a name"), Timestamp::from_millis(5))
    }

    #[test]
    fn the_same_randomness_makes_the_same_key() {
        let mint = || {
            let mut next = 200u8;
            let counting = |bytes: &mut [u8]| {
                for byte in bytes {
                    *byte = next;
                    next = next.wrapping_add(7);
                }
                Ok::<_, Infallible>(())
            };
            mint(grant(), Timestamp::from_millis(5), counting).expect("it counts")
        };
        let (key, record) = mint();
        assert_eq!(mint().0.expose(), key.expose());
        assert_eq!(record.hash, key.hash());
        assert!(Key::parse(key.expose()).is_some());
        assert_eq!(record.id.as_str().len(), 20);
    }

    #[test]
    fn a_minted_key_is_whole_and_lives_90_days() {
        let now = Timestamp::from_millis(5);
        let (key, record) = mint(grant(), now, system_randomness).expect("randomness");
        let (other, _) = mint(grant(), now, system_randomness).expect("randomness");
        assert!(Key::parse(key.expose()).is_some());
        assert_ne!(key.hash(), other.hash());
        assert_eq!(record.grant.expires_at, Some(Timestamp::from_millis(5 + 90 * 24 * 3600 * 1000)));
        assert_eq!(record.grant.scope, Scope::Write);
    }

    #[test]
    fn failing_randomness_makes_no_key() {
        assert_eq!(mint(grant(), Timestamp::from_millis(5), |_: &mut [u8]| Err("dry")).map(|_| ()), Err("dry"));
    }
}
