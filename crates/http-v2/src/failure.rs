//! Whatever a verb ends in instead of an answer, on its way to HTTP.

use docent_access::AccessError;
use docent_assistant::AnswerError;
use docent_jobs::JobError;
use docent_types::{Refusal, RefusalKind, StoreError};
use docent_web::{HttpError, retry_after_seconds};

/// A thin coat around [`HttpError`], so that the errors of the cores turn into one by `?`.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) HttpError);

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self(refusal.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Denied(denial) => Refusal::from(denial).into(),
            AccessError::Limited(standing) => {
                let wait = match retry_after_seconds(standing.retry_after) {
                    1 => "1 second".to_owned(),
                    seconds => format!("{seconds} seconds"),
                };
                let sentence = format!("this docs site or this address has asked too often; try again in {wait}");
                Refusal::new(RefusalKind::Limited(standing), sentence).into()
            }
            AccessError::Store(error) => error.into(),
        }
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Refused(refusal) => refusal.into(),
            JobError::Store(error) => error.into(),
        }
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Refused(refusal) => refusal.into(),
            AnswerError::Store(error) => error.into(),
        }
    }
}
