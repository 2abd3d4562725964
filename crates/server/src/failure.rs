//! The error type of commands.

use std::fmt;

use docent_types::{BoxError, error_chain, error_chain_of, without_os_number};

/// An error sentence and its cause.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The invalid option, if there is one, for example `--repo`.
    option: Option<&'static str>,
    sentence: String,
    source: Option<BoxError>,
    usage: bool,
}

impl Failure {
    /// `sentence` says what was tried; `source` why it failed.
    pub(crate) fn new(sentence: impl Into<String>, source: impl Into<BoxError>) -> Self {
        Self { option: None, sentence: sentence.into(), source: Some(source.into()), usage: false }
    }

    pub(crate) fn plain(sentence: impl Into<String>) -> Self {
        Self { option: None, sentence: sentence.into(), source: None, usage: false }
    }

    /// An error in the command line.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self { option: None, sentence: sentence.into(), source: None, usage: true }
    }

    /// An option of the command line that is invalid, or does not match the repository.
    pub(crate) fn option(option: &'static str, sentence: impl Into<String>) -> Self {
        Self::usage(sentence).of(option)
    }

    /// The same failure, attributed to this option.
    pub(crate) fn of(self, option: &'static str) -> Self {
        Self { option: Some(option), ..self }
    }

    /// The invalid option, if there is one; and the sentence without it.
    pub(crate) fn parts(&self) -> (Option<&'static str>, String) {
        let sentence = match &self.source {
            Some(source) => format!("{}: {}", self.sentence, error_chain_of(&**source, without_os_number)),
            None => self.sentence.clone(),
        };
        (self.option, sentence)
    }

    /// Adds the consequence of the failure for the command.
    pub(crate) fn then(self, more: &str) -> Self {
        let (option, sentence) = self.parts();
        Self { option, sentence: format!("{sentence}; {more}"), source: None, usage: self.usage }
    }

    /// The exit code: 2 for a mistake on the command line, otherwise 1.
    pub(crate) const fn exit_code(&self) -> u8 {
        if self.usage { 2 } else { 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (Some(option), sentence) => write!(f, "{option}: {sentence}"),
            (None, sentence) => f.write_str(&sentence),
        }
    }
}

macro_rules! failures {
    ($($source:ty),* $(,)?) => {
        $(impl From<$source> for Failure {
            fn from(error: $source) -> Self {
                let sentence = error.to_string();
                // The sentence is the error's own message, so only its source is added.
                let cause = std::error::Error::source(&error).map(|cause| BoxError::from(error_chain(cause)));
                Self { option: None, sentence, source: cause, usage: false }
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
    docent_store::RestoreError,
    docent_types::IdError,
    docent_types::StoreError,
    docent_workspace::GitError,
);

#[cfg(feature = "postgres")]
failures!(docent_store_postgres::OpenError);
