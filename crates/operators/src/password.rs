//! Passwords: which are accepted, and how they are stored.

use std::fmt;
use std::sync::Arc;

use argon2::password_hash::Error as HashError;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use docent_access::system_randomness;
use docent_types::BoxError;
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::operator::OperatorName;

const MIN_CHARS: usize = 12;
const MAX_CHARS: usize = 256;
/// Maximum number of concurrent hashes. Each takes 19 MiB and a core for tens of milliseconds.
const MAX_CONCURRENT_HASHES: usize = 2;
const SALT_BYTES: usize = 16;

/// The stored form of a password: a PHC string with algorithm, cost, salt and hash.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// A hash from storage.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// Why a password is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PasswordError {
    #[error("the password is too short: choose one of at least 12 characters, for example four words")]
    TooShort,
    #[error("the password is too long: choose one of at most 256 characters")]
    TooLong,
    #[error("the password is the name: choose one that nobody can guess")]
    IsName,
}

/// Checks a password for an operator of this name.
pub(crate) fn check(password: &str, name: &OperatorName) -> Result<(), PasswordError> {
    if OperatorName::parse(password).is_ok_and(|password| password == *name) {
        return Err(PasswordError::IsName);
    }
    match password.chars().count() {
        ..MIN_CHARS => Err(PasswordError::TooShort),
        MIN_CHARS..=MAX_CHARS => Ok(()),
        _ => Err(PasswordError::TooLong),
    }
}

/// Hashes passwords, away from the threads that serve requests.
#[derive(Debug, Clone)]
pub(crate) struct Passwords {
    cost: Params,
    permits: Arc<Semaphore>,
}

impl Passwords {
    /// Argon2id with 19 MiB, two passes and one lane, as OWASP advises.
    pub(crate) fn new() -> Self {
        Self { cost: Params::DEFAULT, permits: Arc::new(Semaphore::new(MAX_CONCURRENT_HASHES)) }
    }

    #[cfg(test)]
    pub(crate) fn cheap() -> Self {
        Self { cost: Params::new(8, 1, 1, None).expect("the least cost"), ..Self::new() }
    }

    pub(crate) async fn hash(&self, password: &str) -> Result<PasswordHash, BoxError> {
        let (argon2id, password) = (self.argon2id(), password.to_owned());
        self.run_blocking(move || {
            let mut salt = [0; SALT_BYTES];
            system_randomness(&mut salt)?;
            Ok(PasswordHash(argon2id.hash_password_with_salt(password.as_bytes(), &salt)?.to_string()))
        })
        .await
    }

    /// Whether the password matches the hash. `None` is the hash of an unknown operator: it never matches, in the same
    /// time.
    pub(crate) async fn verify(&self, password: &str, hash: Option<&PasswordHash>) -> Result<bool, BoxError> {
        let Some(hash) = hash.cloned() else { return self.hash(password).await.map(|_| false) };
        let (argon2id, password) = (self.argon2id(), password.to_owned());
        self.run_blocking(move || match argon2id.verify_password(password.as_bytes(), hash.as_str()) {
            Ok(()) => Ok(true),
            Err(HashError::PasswordInvalid) => Ok(false),
            Err(error) => Err(error.into()),
        })
        .await
    }

    fn argon2id(&self) -> Argon2<'static> {
        Argon2::new(Algorithm::Argon2id, Version::V0x13, self.cost.clone())
    }

    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, BoxError> + Send + 'static,
    ) -> Result<T, BoxError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await?;
        // The work continues when its caller is dropped, so it holds the permit itself.
        tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        })
        .await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_and_not_the_name() {
        let name = OperatorName::parse("Ann Meyer-Schmidt").expect("a name");
        let (longest, too_long) = ("ü".repeat(256), "ü".repeat(257));
        for (password, expected) in [
            ("", Err(PasswordError::TooShort)),
            ("elevenchars", Err(PasswordError::TooShort)),
            ("twelve chars", Ok(())),
            ("üüüüüüüüüüüü", Ok(())),
            (&*longest, Ok(())),
            (&*too_long, Err(PasswordError::TooLong)),
            (" ann meyer-SCHMIDT", Err(PasswordError::IsName)),
        ] {
            assert_eq!(check(password, &name), expected, "{password}");
        }
    }

    #[tokio::test]
    async fn a_hash_fits_its_password_alone_and_is_salted() {
        let passwords = Passwords::new();
        let hash = passwords.hash("correct horse").await.expect("hashes");
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.as_str());
        assert_ne!(passwords.hash("correct horse").await.expect("hashes"), hash);
        assert_eq!(format!("{hash:?}"), "PasswordHash(…)");
        for (password, fits) in [("correct horse", true), ("correct horse ", false), ("", false)] {
            assert_eq!(passwords.verify(password, Some(&hash)).await.expect("hashes"), fits, "{password}");
        }
        assert!(!passwords.verify("correct horse", None).await.expect("hashes"));
        assert!(passwords.verify("x", Some(&PasswordHash::from_stored("torn"))).await.is_err());
    }

    #[tokio::test]
    async fn a_hash_of_another_cost_is_still_checked() {
        let hash = Passwords::cheap().hash("correct horse").await.expect("hashes");
        assert!(Passwords::new().verify("correct horse", Some(&hash)).await.expect("hashes"));
    }
}
