//! Why a turn stops, and how a failure is told.

use std::error::Error;

use docent_forge::ForgeError;
use docent_jobs::{Failure, Halted, Outcome};
use docent_llm::{ModelError, Retry};
use docent_types::Halt;
use docent_workspace::{GitError, PushError};

/// Why the loop stops: the turn has an outcome, or the attempt cannot go on.
pub(crate) enum Stop {
    /// The transcript stays: the next turn goes on from it.
    Ended(Outcome),
    /// The turn failed and what it did is nowhere. The next turn must not believe that it was done.
    Dropped {
        halt: Halt,
        message: String,
    },
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Halted> for Stop {
    fn from(halted: Halted) -> Self {
        Self::Failure(halted.into())
    }
}

/// The turn failed for good.
pub(crate) fn failed(halt: Halt, message: impl Into<String>) -> Stop {
    Stop::Dropped { halt, message: message.into() }
}

fn again(why: &dyn Error, halt: Halt) -> Stop {
    Stop::Failure(Failure::Retry { why: told(why), halt, after: None, attempts: None })
}

impl From<GitError> for Stop {
    /// A repository that could not be reached may be there again soon; anything else somebody has to mend.
    fn from(error: GitError) -> Self {
        if error.is_transient() {
            return again(&error, Halt::GitMisconfigured);
        }
        failed(Halt::GitMisconfigured, format!("The repository could not be used: {}.", told(&error)))
    }
}

impl From<PushError> for Stop {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Git(error) => error.into(),
            error => failed(Halt::GitMisconfigured, format!("The changes could not be pushed: {}.", told(&error))),
        }
    }
}

impl From<ForgeError> for Stop {
    fn from(error: ForgeError) -> Self {
        match error {
            ForgeError::Refused { .. } => {
                failed(Halt::GitMisconfigured, format!("The pull request could not be opened: {}.", told(&error)))
            }
            ForgeError::Unavailable { .. } => again(&error, Halt::GitMisconfigured),
            ForgeError::Store(error) => Halted::Store(error).into(),
        }
    }
}

impl From<ModelError> for Stop {
    fn from(error: ModelError) -> Self {
        match error.kind.retry() {
            Retry::Never => failed(Halt::Error, format!("The model could not be asked: {}.", told(&error))),
            Retry::Soon | Retry::After(_) => again(&error, Halt::Error),
        }
    }
}

/// An error and what caused it, on one line and without a full stop. What was said already is not said again.
fn told(error: &dyn Error) -> String {
    let mut text = bare(error);
    let mut source = error.source();
    while let Some(cause) = source {
        let why = bare(cause);
        if !text.contains(&why) {
            text = format!("{text}: {why}");
        }
        source = cause.source();
    }
    text
}

fn bare(error: &dyn Error) -> String {
    let text = error.to_string();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches(['.', ':', ';', ',']).to_owned()
}

#[cfg(test)]
mod tests {
    use docent_llm::ModelErrorKind;

    use super::*;

    fn message(stop: Stop) -> String {
        match stop {
            Stop::Dropped { message, .. } => message,
            Stop::Failure(Failure::Retry { why, .. }) => why,
            _ => panic!("another kind of stop"),
        }
    }

    #[test]
    fn a_failure_is_told_with_its_cause_once_and_ends_in_one_full_stop() {
        let refused = ForgeError::Refused { sentence: "the token may not write.".to_owned() };
        assert_eq!(message(refused.into()), "The pull request could not be opened: the token may not write.");
        let fatal = ModelError::new(ModelErrorKind::Fatal, "could not read the reply").because("not JSON.\n");
        assert_eq!(message(fatal.into()), "The model could not be asked: could not read the reply: not JSON.");
        let busy = ModelError::new(ModelErrorKind::Interrupted, "the reply broke off").because("the reply broke off");
        assert_eq!(message(busy.into()), "the reply broke off");
    }
}
