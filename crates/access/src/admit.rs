//! The admission decision: may a caller with these credentials do this?

use std::net::IpAddr;

use docent_types::{ProjectId, Refusal, RefusalKind, Timestamp};
use thiserror::Error;

use crate::key::{KeyHash, KeyKind};
use crate::origin::Origin;
use crate::record::{Grant, KeyRecord, Scope};

/// The credentials that a caller presents.
#[derive(Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// The bytes of the `Authorization` header.
    pub authorization: Option<&'a [u8]>,
    /// The caller's IP address, if it is known.
    pub ip: Option<IpAddr>,
    /// The bytes of the `Origin` header.
    pub origin: Option<&'a [u8]>,
    /// The bytes of the `Host` header, if a browser says (`Sec-Fetch-Site: same-origin`) that the page is from there. With
    /// requests that only read, browsers send no `Origin` to it.
    pub own_host: Option<&'a [u8]>,
}

impl<'a> Credentials<'a> {
    /// The credentials of a request, from all of its `Authorization` and `Origin` headers. A repeated header is
    /// invalid: proxies disagree on which one counts.
    pub fn from_headers(
        authorization: impl IntoIterator<Item = &'a [u8]>,
        origin: impl IntoIterator<Item = &'a [u8]>,
        ip: IpAddr,
    ) -> Self {
        Self { authorization: once(authorization), ip: Some(ip), origin: once(origin), own_host: None }
    }

    /// Sets the `Host` header of a request that comes from a page of the same origin, as a browser says.
    #[must_use]
    pub fn with_own_host(self, host: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self { own_host: once(host), ..self }
    }
}

fn once<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    let mut values = values.into_iter();
    let value = values.next()?;
    // A repeated header becomes a value that is neither a key nor an origin.
    Some(if values.next().is_some() { b"twice" } else { value })
}

impl std::fmt::Debug for Credentials<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("ip", &self.ip).finish_non_exhaustive()
    }
}

/// The action that a caller requests.
#[derive(Debug, Clone, Copy)]
pub struct Action<'a> {
    /// The kind of key that the action requires.
    pub kind: KeyKind,
    pub need: Scope,
    /// The project that the action affects; `None` if the caller named one that does not exist.
    pub project: Option<&'a ProjectId>,
}

/// Why a caller was not admitted. The sentence says what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Denial {
    #[error("no API key was given: send the header `Authorization: Bearer <API_KEY>`")]
    NoKey,
    #[error("the Authorization header does not hold an API key: write it as `Authorization: Bearer <API_KEY>`")]
    NotBearer,
    #[error(
        "the API key is not a whole Docent key: it begins with `docent_admin_` or `docent_assistant_` and 38 letters and \
         digits follow; copy it again"
    )]
    Malformed,
    #[error("the API key is not known here: check that it belongs to this server, or create a new one")]
    Unknown,
    #[error("the API key was revoked: create a new one")]
    Revoked,
    #[error("the API key expired at {at}: create a new one")]
    Expired { at: Timestamp },
    #[error("this endpoint takes an {need} key and was given an {given} key: use a key that begins with `{}`", need.prefix())]
    OtherKind { given: KeyKind, need: KeyKind },
    #[error("the API key is not for the {} in the path: check the path, or use a key of that project", match need {
        KeyKind::Admin => "project",
        KeyKind::Assistant => "domain",
    })]
    OtherProject { need: KeyKind },
    #[error("the API key may only read: use a key with the `write` scope")]
    ReadOnly,
    #[error("the API key may not be used from this address: use it from an address it allows, or another key")]
    Address,
    #[error("the API key may not be used from this origin: use it on a site it allows, or another key")]
    Origin,
}

impl Denial {
    /// Whether the caller is unauthenticated (401) or not permitted (403).
    pub const fn kind(&self) -> RefusalKind {
        match self {
            Self::NoKey | Self::NotBearer | Self::Malformed | Self::Unknown | Self::Revoked | Self::Expired { .. } => {
                RefusalKind::Unauthenticated
            }
            Self::OtherKind { .. } | Self::OtherProject { .. } | Self::ReadOnly | Self::Address | Self::Origin => {
                RefusalKind::Forbidden
            }
        }
    }
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Refusal {
        Refusal::new(denial.kind(), denial.to_string())
    }
}

impl Credentials<'_> {
    /// The hash of the key in the `Authorization` header, if the key is well-formed.
    pub fn key(&self) -> Result<KeyHash, Denial> {
        let header = self.authorization.unwrap_or_default().trim_ascii();
        if header.is_empty() {
            return Err(Denial::NoKey);
        }
        let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
        let (scheme, token) = header.split_at(end);
        if !scheme.eq_ignore_ascii_case(b"bearer") {
            return Err(Denial::NotBearer);
        }
        match token.trim_ascii() {
            b"" => Err(Denial::NoKey),
            token => KeyHash::of(token).ok_or(Denial::Malformed),
        }
    }

    fn is_from_one_of(&self, allowed: &[Origin]) -> bool {
        let is_allowed = |origin: &str| origin.parse().is_ok_and(|origin| allowed.contains(&origin));
        let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        match (self.origin, self.own_host) {
            (Some(origin), _) => is_allowed(text(origin)),
            // A proxy may speak TLS for us, so the scheme is not known.
            (None, Some(host)) => {
                ["https", "http"].iter().any(|scheme| is_allowed(&format!("{scheme}://{}", text(host))))
            }
            (None, None) => false,
        }
    }
}

/// Checks that a key is valid, and returns what it permits.
pub(crate) fn check_key<'a>(record: Option<&'a KeyRecord>, key: &KeyHash, now: Timestamp) -> Result<&'a Grant, Denial> {
    let record = record.filter(|record| record.hash == *key).ok_or(Denial::Unknown)?;
    let grant = &record.grant;
    if record.revoked_at.is_some() {
        return Err(Denial::Revoked);
    }
    match grant.expires_at.filter(|at| *at <= now) {
        Some(at) => Err(Denial::Expired { at }),
        None => Ok(grant),
    }
}

/// The admission decision. `key` is the hash of [the presented key](Credentials::key) and `record` its record. Checks
/// first whether the key is valid, then whether it permits the action.
pub fn admit(
    record: Option<&KeyRecord>,
    key: &KeyHash,
    credentials: &Credentials<'_>,
    action: &Action<'_>,
    now: Timestamp,
) -> Result<(), Denial> {
    let grant = check_key(record, key, now)?;
    if grant.kind != action.kind {
        return Err(Denial::OtherKind { given: grant.kind, need: action.kind });
    }
    if action.project != Some(&grant.project) {
        return Err(Denial::OtherProject { need: action.kind });
    }
    if grant.scope < action.need {
        return Err(Denial::ReadOnly);
    }
    let is_allowed = |ip| grant.allow_ip.iter().any(|range| range.contains(ip));
    if !grant.allow_ip.is_empty() && !credentials.ip.is_some_and(is_allowed) {
        return Err(Denial::Address);
    }
    if !grant.allow_origin.is_empty() && !credentials.is_from_one_of(&grant.allow_origin) {
        return Err(Denial::Origin);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
