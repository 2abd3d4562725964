//! Why a command failed, in words for the person who ran it.

use std::fmt;

use docent_types::{BoxError, error_chain, error_chain_of, without_os_number};

/// A sentence and what caused it.
#[derive(Debug)]
pub(crate) struct Failure {
    sentence: String,
    source: Option<BoxError>,
    usage: bool,
}

impl Failure {
    /// `sentence` says what was tried; `source` why it failed.
    pub(crate) fn new(sentence: impl Into<String>, source: impl Into<BoxError>) -> Self {
        Self { sentence: sentence.into(), source: Some(source.into()), usage: false }
    }

    pub(crate) fn plain(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), source: None, usage: false }
    }

    /// The command line was wrong.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), source: None, usage: true }
    }

    /// The same with what it means for the command.
    pub(crate) fn then(self, more: &str) -> Self {
        Self { sentence: format!("{self}; {more}"), source: None, usage: self.usage }
    }

    /// 1, or 2 for a mistake on the command line.
    pub(crate) const fn exit_code(&self) -> u8 {
        if self.usage { 2 } else { 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        match &self.source {
            Some(source) => write!(f, ": {}", error_chain_of(&**source, without_os_number)),
            None => Ok(()),
        }
    }
}

macro_rules! failures {
    ($($source:ty),* $(,)?) => {
        $(impl From<$source> for Failure {
            fn from(error: $source) -> Self {
                let sentence = error.to_string();
                // The sentence is the error's own; what is left to tell is what caused it.
                let cause = std::error::Error::source(&error).map(|cause| BoxError::from(error_chain(cause)));
                Self { sentence, source: cause, usage: false }
            }
        })*
    };
}

failures!(
    crate::commands::client::ClientError,
    docent_operators::SignInError,
    crate::config::ConfigError,
    docent_http_client::SecretSourceError,
    docent_access::AddError,
    docent_forge::ForgeError,
    docent_llm::ModelError,
    docent_operators::WriteError,
    docent_search::SearchError,
    docent_store::BackupError,
    docent_store::OpenError,
    docent_types::IdError,
    docent_types::StoreError,
    docent_workspace::GitError,
);
