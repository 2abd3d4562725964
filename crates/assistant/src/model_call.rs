//! Calls a model while a reader waits: retries short failures, and words all others for the reader.
//!
//! A call is retried only while nothing of the reply has been sent. A failure after the first event is passed on
//! unchanged.

use std::time::Duration;

use docent_llm::{Event, EventStream, Model, ModelError, ModelErrorKind, Request, Retry};
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep};
use tracing::warn;

/// Maximum number of retries of a call, their total time limit, the longest delay that is accepted from a provider, and the delay
/// before the first retry where the provider names none; before the second it is twice as long.
const RETRIES: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(300);

/// A reply that has begun.
pub(crate) struct StartedReply {
    /// The first event, if there is one.
    first: Option<Event>,
    rest: EventStream,
}

impl StartedReply {
    pub(crate) fn events(self) -> EventStream {
        stream::iter(self.first.map(Ok)).chain(self.rest).boxed()
    }
}

/// Begins a reply and waits for its first event. `request` builds the request for a context size in tokens; if the
/// model still finds it too long, `request` is called again with half the size. The request is not kept.
pub(crate) async fn begin(
    model: &dyn Model,
    mut request: impl FnMut(u32) -> Request,
) -> Result<StartedReply, ModelError> {
    let context = model.describe().context_tokens;
    match begin_patiently(model, || request(context)).await {
        Err(failure) if failure.kind == ModelErrorKind::ContextTooLong => {
            warn!("the request was too long for the model and is made shorter");
            begin_patiently(model, || request(context / 2)).await
        }
        begun => begun,
    }
}

async fn begin_patiently(model: &dyn Model, mut request: impl FnMut() -> Request) -> Result<StartedReply, ModelError> {
    let since = Instant::now();
    let mut tries = 0;
    loop {
        let failure = match open(model, request()).await {
            Ok(begun) => return Ok(begun),
            Err(failure) => failure,
        };
        let wait = match failure.kind.retry() {
            Retry::Soon => PAUSE * (tries + 1),
            Retry::After(wait) if wait <= LONGEST_WAIT => wait,
            Retry::After(_) | Retry::Never => return Err(failure),
        };
        if tries == RETRIES || since.elapsed() + wait > PATIENCE {
            return Err(failure);
        }
        warn!(error = &failure as &dyn std::error::Error, "the model did not begin to answer; retrying");
        sleep(wait).await;
        tries += 1;
    }
}

async fn open(model: &dyn Model, request: Request) -> Result<StartedReply, ModelError> {
    let mut rest = model.stream(request).await?;
    let first = rest.next().await.transpose()?;
    Ok(StartedReply { first, rest })
}

/// The sentence for the reader if there is no answer, or only a part of one (`begun`).
pub(crate) fn sentence(kind: ModelErrorKind, begun: bool) -> String {
    let sentence = match kind {
        ModelErrorKind::RateLimited { retry_after: Some(wait) }
        | ModelErrorKind::Overloaded { retry_after: Some(wait) } => {
            return format!("Too much is asked of the assistant at the moment. {}", again(wait));
        }
        ModelErrorKind::RateLimited { retry_after: None } => {
            "Too much is asked of the assistant at the moment. Try again in a minute."
        }
        ModelErrorKind::Overloaded { .. } | ModelErrorKind::Unreachable | ModelErrorKind::Interrupted if begun => {
            "The answer broke off. Ask again."
        }
        ModelErrorKind::Overloaded { .. } | ModelErrorKind::Unreachable | ModelErrorKind::Interrupted => {
            "The assistant's model does not answer at the moment. Try again in a moment."
        }
        ModelErrorKind::ContextTooLong => {
            "This is too long for the assistant. Ask with less text, or begin a new conversation."
        }
        ModelErrorKind::Refused => "The assistant's model declines to answer this. Ask in other words.",
        ModelErrorKind::Auth => {
            "The assistant of this site is not set up correctly. Asking again does not help until its operator has \
             changed that."
        }
        ModelErrorKind::Fatal if begun => "The answer broke off. If it does so again, tell the operator of this site.",
        ModelErrorKind::Fatal => {
            "The assistant's model could not answer. If asking again does not help, tell the operator of this site."
        }
    };
    sentence.to_owned()
}

fn again(wait: Duration) -> String {
    match wait.as_secs().max(1) {
        1 => "Try again in a second.".to_owned(),
        seconds @ 2..=90 => format!("Try again in {seconds} seconds."),
        seconds => format!("Try again in {} minutes.", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_has_a_sentence_that_says_what_to_do() {
        let wait = |seconds| ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
        assert!(sentence(wait(7), false).ends_with("in 7 seconds."));
        assert!(sentence(wait(3_600), true).ends_with("in 60 minutes."));
        assert!(sentence(ModelErrorKind::Auth, false).contains("operator"));
        let cut = sentence(ModelErrorKind::Interrupted, true);
        assert_ne!(cut, sentence(ModelErrorKind::Interrupted, false));
    }
}
