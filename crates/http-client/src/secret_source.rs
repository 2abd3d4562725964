//! Where secrets are read from. They are read at each use, so a rotated one takes effect without a restart.

use std::env::{self, VarError};
use std::fmt;
use std::path::PathBuf;

use thiserror::Error;
use zeroize::Zeroizing;

use crate::secret::{Secret, SecretError};

/// The place of a secret, which may be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Variable(String),
    /// A file that contains only the secret.
    File(PathBuf),
}

/// Why there is no usable secret. Names the remedy, and no part of the secret.
#[derive(Debug, Error)]
pub enum SecretSourceError {
    #[error("the variable {0} is not set")]
    Unset(String),
    #[error("the file {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{0} does not hold text")]
    NotText(SecretSource),
    #[error("{holder} holds no key")]
    Unusable { holder: SecretSource, source: SecretError },
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}

impl SecretSource {
    /// The current secret, without surrounding white space.
    pub fn read(&self) -> Result<Secret, SecretSourceError> {
        Secret::parse(&self.text()?)
            .map_err(|error| SecretSourceError::Unusable { holder: self.clone(), source: error })
    }

    /// The whole text, for a secret of several lines.
    pub fn text(&self) -> Result<Zeroizing<String>, SecretSourceError> {
        let text = match self {
            Self::Variable(name) => env::var(name).map_err(|error| match error {
                VarError::NotPresent => SecretSourceError::Unset(name.clone()),
                VarError::NotUnicode(_) => SecretSourceError::NotText(self.clone()),
            })?,
            Self::File(path) => std::fs::read_to_string(path)
                .map_err(|source| SecretSourceError::Unreadable { path: path.clone(), source })?,
        };
        Ok(Zeroizing::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_anew_and_judged_each_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let source = SecretSource::File(path.clone());
        assert!(matches!(source.read(), Err(SecretSourceError::Unreadable { .. })));
        for (content, secret) in
            [("one\n", Some("one")), ("  two ", Some("two")), ("\n", None), ("a\nb", None), ("ä", None)]
        {
            std::fs::write(&path, content).expect("written");
            let read = source.read();
            assert_eq!(read.as_ref().ok().map(Secret::expose), secret, "{content:?}");
            assert!(!format!("{read:?}").contains("one"), "{read:?}");
        }
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let source = SecretSource::Variable("DOCENT_NO_SUCH_VARIABLE".to_owned());
        assert_eq!(source.read().expect_err("not set").to_string(), "the variable DOCENT_NO_SUCH_VARIABLE is not set");
    }
}
