//! Sessions: how long an operator stays signed in.

use std::time::Duration;

use docent_types::Timestamp;

use crate::operator::{Credential, Operator, OperatorId};
use crate::token::{CsrfToken, SessionToken, TokenHash};

/// Maximum time of a session without a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(14 * 24 * 3600);
/// Maximum length of a session.
const MAX_LIFETIME: Duration = Duration::from_secs(90 * 24 * 3600);
/// Maximum length of a session that began at an identity provider: changes there take effect at the next sign-in.
const MAX_LIFETIME_BY_IDENTITY: Duration = Duration::from_secs(24 * 3600);
/// Precision of the time of the last request, which is stored at most once in this interval.
const TOUCH_INTERVAL: Duration = Duration::from_secs(60);

/// One browser in which an operator is signed in, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorSession {
    pub hash: TokenHash,
    pub operator: OperatorId,
    pub created_at: Timestamp,
    /// Precise to the minute.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
}

impl OperatorSession {
    pub(crate) fn begin(token: &SessionToken, operator: OperatorId, credential: &Credential, now: Timestamp) -> Self {
        let expires_at = now.plus(IDLE_TIMEOUT.min(max_lifetime(credential)));
        Self { hash: token.hash(), operator, created_at: now, seen_at: now, expires_at }
    }

    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }

    /// The new expiry time if a request comes now; `None` if it need not be stored, because less than
    /// [`TOUCH_INTERVAL`] has passed.
    pub(crate) fn renewed_expiry(&self, credential: &Credential, now: Timestamp) -> Option<Timestamp> {
        (now.since(self.seen_at) >= TOUCH_INTERVAL)
            .then(|| now.plus(IDLE_TIMEOUT).min(self.created_at.plus(max_lifetime(credential))))
    }
}

const fn max_lifetime(credential: &Credential) -> Duration {
    match credential {
        Credential::Password(_) => MAX_LIFETIME,
        Credential::Identity(_) => MAX_LIFETIME_BY_IDENTITY,
    }
}

/// The operator who sent a request, and the session.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub operator: Operator,
    pub session: TokenHash,
    pub csrf: CsrfToken,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::password::PasswordHash;

    #[test]
    fn a_session_slides_and_ends_all_the_same() {
        let at = |days: u64| Timestamp::from_millis(0).plus(Duration::from_secs(days * 24 * 3600));
        let token = SessionToken::random().expect("randomness");
        let password = Credential::Password(PasswordHash::from_stored(""));
        let mut session = OperatorSession::begin(&token, OperatorId::new(uuid::Uuid::nil()), &password, at(0));
        assert!(!session.is_expired(at(13)) && session.is_expired(at(14)));
        assert_eq!(
            session.renewed_expiry(&password, at(0).plus(TOUCH_INTERVAL - Duration::from_millis(1))),
            None,
            "once a minute is enough"
        );
        for day in (13..=89).step_by(10) {
            assert!(!session.is_expired(at(day)), "day {day}");
            session.expires_at = session.renewed_expiry(&password, at(day)).expect("a day later");
            session.seen_at = at(day);
            assert_eq!(session.expires_at, at(90).min(at(day + 14)));
        }
        assert!(session.is_expired(at(90)));
    }

    #[test]
    fn a_session_that_began_at_a_provider_ends_within_a_day() {
        let at = |hours: u64| Timestamp::from_millis(0).plus(Duration::from_secs(hours * 3600));
        let token = SessionToken::random().expect("randomness");
        let identity = Credential::Identity(Identity { issuer: "https://id.test".to_owned(), subject: "1".to_owned() });
        let session = OperatorSession::begin(&token, OperatorId::new(uuid::Uuid::nil()), &identity, at(0));
        assert_eq!(session.expires_at, at(24));
        assert_eq!(session.renewed_expiry(&identity, at(23)), Some(at(24)));
    }
}
