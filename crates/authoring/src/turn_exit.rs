//! Why a turn stops, how often a job tries again after a failure of its model, and how a failure is worded.

use std::error::Error;

use docent_forge::ForgeError;
use docent_jobs::{Failure, Interrupted, Outcome};
use docent_llm::{ModelError, ModelErrorKind, Retry};
use docent_types::{Halt, error_chain_of, is_out_of_files, without_os_number};
use docent_workspace::{GitError, PushError};

use crate::wording::secret_in_text;

/// Why the loop stops: the turn has an outcome, or the attempt cannot continue.
pub(crate) enum TurnExit {
    /// The transcript stays: the next turn continues from it.
    Ended(Outcome),
    /// The turn failed and its work is discarded. The next turn must not believe that it was done.
    Dropped {
        halt: Halt,
        message: String,
    },
    Failure(Failure),
}

impl From<Failure> for TurnExit {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Interrupted> for TurnExit {
    fn from(halted: Interrupted) -> Self {
        Self::Failure(halted.into())
    }
}

/// The turn failed permanently.
pub(crate) fn failed(halt: Halt, message: impl Into<String>) -> TurnExit {
    TurnExit::Dropped { halt, message: message.into() }
}

/// A failure after which a retry may succeed.
pub(crate) fn retryable(why: &dyn Error, halt: Halt) -> TurnExit {
    TurnExit::Failure(Failure::Retry { why: one_line(why), halt, after: None, attempts: None })
}

impl From<GitError> for TurnExit {
    /// An unreachable repository may be back soon; any other failure needs a person.
    fn from(error: GitError) -> Self {
        if matches!(error, GitError::OutOfFiles { .. }) {
            return TurnExit::Failure(Failure::Wait { why: one_line(&error) });
        }
        if error.is_transient() {
            let (why, after) = (one_line(&error), error.retry_after());
            return TurnExit::Failure(Failure::Retry { why, halt: Halt::GitMisconfigured, after, attempts: None });
        }
        failed(Halt::GitMisconfigured, format!("The repository could not be used: {}.", one_line(&error)))
    }
}

impl From<PushError> for TurnExit {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Git(error) => error.into(),
            error => failed(Halt::GitMisconfigured, format!("The changes could not be pushed: {}.", one_line(&error))),
        }
    }
}

impl From<ForgeError> for TurnExit {
    fn from(error: ForgeError) -> Self {
        match error {
            ForgeError::Refused { .. } | ForgeError::NoChanges { .. } | ForgeError::HeadMissing { .. } => {
                failed(Halt::GitMisconfigured, format!("The pull request could not be opened: {}.", one_line(&error)))
            }
            error if is_out_of_files(&error) => TurnExit::Failure(Failure::Wait { why: one_line(&error) }),
            ForgeError::Unavailable { retry_after: after, .. } => {
                let (why, halt) = (one_line(&error), Halt::GitMisconfigured);
                TurnExit::Failure(Failure::Retry { why, halt, after, attempts: None })
            }
            ForgeError::Store(error) => Interrupted::Store(error).into(),
        }
    }
}

/// Attempts in a row, the first included, for a model that is overloaded or limits us (usually for minutes), one that is
/// unreachable (restarted within a minute, or not at all), and one whose reply was cut off.
const OVERLOADED_ATTEMPTS: u32 = 10;
const UNREACHABLE_ATTEMPTS: u32 = 7;
const INTERRUPTED_ATTEMPTS: u32 = 6;

/// A call of the model configured under this name failed.
pub(crate) fn model_failed(error: &ModelError, name: &str) -> TurnExit {
    if is_out_of_files(error) {
        return TurnExit::Failure(Failure::Wait { why: one_line(error) });
    }
    let attempts = match error.kind {
        ModelErrorKind::RateLimited { .. } | ModelErrorKind::Overloaded { .. } => OVERLOADED_ATTEMPTS,
        ModelErrorKind::Unreachable => UNREACHABLE_ATTEMPTS,
        _ => INTERRUPTED_ATTEMPTS,
    };
    let after = match error.kind.retry() {
        Retry::Soon => None,
        Retry::After(wait) => Some(wait),
        Retry::Never => return failed(Halt::Error, permanent_failure(error, name)),
    };
    let why = failure_words(error);
    TurnExit::Failure(Failure::Retry { why, halt: Halt::Error, after, attempts: Some(attempts) })
}

/// Why a call failed, in words that may be shown.
pub(crate) fn failure_words(error: &ModelError) -> String {
    without_secrets(one_line(error), "the model failed in words that hold what looks like a secret")
}

/// A model's refusal, and the remedy.
pub(crate) fn refusal(error: &ModelError) -> String {
    format!("{}. Word the instruction differently, or use another model", failure_words(error))
}

/// Why a retry is useless, and the remedy.
fn permanent_failure(error: &ModelError, name: &str) -> String {
    let why = format!("The model `{name}` could not be asked: {}.", one_line(error));
    let why = without_secrets(why, "The model failed in words that hold what looks like a secret.");
    match error.kind {
        ModelErrorKind::Auth => format!(
            "{why} Look at the key that `[models.{name}]` in the configuration names, then send the instruction again."
        ),
        ModelErrorKind::ContextTooLong => format!(
            "{why} What is asked and what it needs do not fit into the model's context: ask for less at a time, or \
             configure a model with a larger one."
        ),
        _ => format!("{why} Look at `[models.{name}]` in the configuration, and at the log."),
    }
}

/// A provider may quote the key that it refuses.
fn without_secrets(text: String, instead: &str) -> String {
    if secret_in_text(text.clone()).is_some() { instead.to_owned() } else { text }
}

/// An error and its causes, on one line and without a full stop. A cause that repeats the text before it is left out.
pub(crate) fn one_line(error: &dyn Error) -> String {
    error_chain_of(error, without_final_punctuation)
}

fn without_final_punctuation(message: &str) -> String {
    let text = without_os_number(message);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches(['.', ':', ';', ',']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn message(stop: TurnExit) -> String {
        match stop {
            TurnExit::Dropped { message, .. } => message,
            TurnExit::Failure(Failure::Retry { why, .. } | Failure::Wait { why }) => why,
            _ => panic!("another kind of stop"),
        }
    }

    #[test]
    fn a_failure_is_told_with_its_cause_once_and_ends_in_one_full_stop() {
        let refused = ForgeError::Refused { sentence: "the token may not write.".to_owned() };
        assert_eq!(message(refused.into()), "The pull request could not be opened: the token may not write.");
        let fatal = ModelError::new(ModelErrorKind::Fatal, "could not read the reply").because("not JSON.\n");
        let text = message(model_failed(&fatal, "sonnet"));
        assert!(
            text.starts_with("The model `sonnet` could not be asked: could not read the reply: not JSON. "),
            "{text}"
        );
        let busy = ModelError::new(ModelErrorKind::Interrupted, "the reply broke off").because("the reply broke off");
        assert_eq!(message(model_failed(&busy, "sonnet")), "the reply broke off");
    }

    #[test]
    fn a_job_waits_where_only_files_are_missing() {
        let out = || std::io::Error::from_raw_os_error(24);
        let forge = ForgeError::Unavailable { retry_after: None, source: out().into() };
        let model = ModelError::new(ModelErrorKind::Unreachable, "it could not be asked").because(out());
        let git = GitError::OutOfFiles { doing: "read a commit" };
        for stop in [forge.into(), model_failed(&model, "sonnet"), git.into()] {
            assert!(matches!(stop, TurnExit::Failure(Failure::Wait { .. })), "{}", message(stop));
        }
    }

    #[test]
    fn a_model_is_asked_again_as_often_and_as_late_as_its_failure_says() {
        let (wait, soon) = (Some(Duration::from_secs(7)), None);
        for (kind, expected) in [
            (ModelErrorKind::RateLimited { retry_after: wait }, (wait, 10)),
            (ModelErrorKind::Overloaded { retry_after: soon }, (soon, 10)),
            (ModelErrorKind::Unreachable, (soon, 7)),
            (ModelErrorKind::Interrupted, (soon, 6)),
        ] {
            match model_failed(&ModelError::new(kind, "no"), "sonnet") {
                TurnExit::Failure(Failure::Retry { after, attempts, halt, .. }) => {
                    assert_eq!(((after, attempts), halt), ((expected.0, Some(expected.1)), Halt::Error), "{kind:?}");
                }
                _ => panic!("{kind:?} is tried again"),
            }
        }
    }

    #[test]
    fn a_model_that_cannot_be_asked_says_what_to_do_and_gives_no_key_away() {
        for (kind, words) in [
            (ModelErrorKind::Auth, "`[models.opus]` in the configuration"),
            (ModelErrorKind::ContextTooLong, "ask for less"),
        ] {
            let text = message(model_failed(&ModelError::new(kind, "no"), "opus"));
            assert!(text.contains(words) && text.ends_with('.'), "{text}");
        }
        let key = format!("sk-{}", "a1B2c3D4".repeat(6));
        let error =
            ModelError::new(ModelErrorKind::Auth, "it was refused").because(format!("Incorrect API key: {key}"));
        let text = message(model_failed(&error, "opus"));
        assert!(!text.contains(&key) && text.contains("`[models.opus]`"), "{text}");
    }
}
