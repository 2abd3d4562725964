//! A reply from its beginning to its end, for clients that read no stream.

use std::sync::Arc;
use std::time::Duration;

use docent_types::{FinishReason, MessageId, Passage, Refusal, RefusalKind, StreamEvent, Usage};
use futures::stream::{Stream, StreamExt};

/// Value of `Retry-After` after a reply that failed.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// A reply that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeReply {
    pub id: Option<MessageId>,
    /// Markdown.
    pub text: String,
    /// The pages that the reply is based on, each once; none when it holds no answer.
    pub sources: Vec<Arc<Passage>>,
    pub reason: FinishReason,
    pub usage: Usage,
}

impl WholeReply {
    /// Reads a reply to its end.
    ///
    /// # Errors
    /// 503 with the reply's own sentence when it fails.
    pub(crate) async fn gather(mut events: impl Stream<Item = StreamEvent> + Send + Unpin) -> Result<Self, Refusal> {
        let failed = |sentence: String| Refusal::new(RefusalKind::Unavailable(RETRY_AFTER), sentence);
        let (mut id, mut text, mut sources) = (None, String::new(), Vec::new());
        while let Some(event) = events.next().await {
            match event {
                StreamEvent::Start { message_id, .. } => id = Some(message_id),
                StreamEvent::TextStart { .. } if !text.is_empty() => text.push_str("\n\n"),
                StreamEvent::TextDelta { text: delta, .. } => text.push_str(&delta),
                StreamEvent::Source { passage, .. } => sources.push(passage),
                StreamEvent::Finish { reason, usage, .. } => return Ok(Self { id, text, sources, reason, usage }),
                StreamEvent::Error { sentence } => return Err(failed(sentence)),
                _ => {}
            }
        }
        Err(failed("The answer broke off. Ask again.".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, stream};

    use super::*;

    fn text(id: &str, text: &str) -> [StreamEvent; 3] {
        let delta = StreamEvent::TextDelta { id: id.into(), text: text.into() };
        [StreamEvent::TextStart { id: id.into() }, delta, StreamEvent::TextEnd { id: id.into() }]
    }

    fn gathered(events: Vec<StreamEvent>) -> Result<WholeReply, Refusal> {
        WholeReply::gather(stream::iter(events)).now_or_never().expect("it does not wait")
    }

    #[test]
    fn a_reply_is_its_texts_and_one_that_fails_is_none() {
        let usage = Usage::of(3, 4);
        let finish = StreamEvent::Finish { reason: FinishReason::Stop, usage, thread_id: None };
        let texts = [text("1", "One."), text("2", "Two.")].concat();
        let whole = gathered([texts.clone(), vec![finish]].concat()).expect("a reply");
        assert_eq!((whole.text.as_str(), whole.usage, whole.sources.len()), ("One.\n\nTwo.", usage, 0));
        assert!(gathered(texts.clone()).is_err(), "it just stops");
        let error = StreamEvent::Error { sentence: "No.".into() };
        assert_eq!(gathered([texts, vec![error]].concat()).expect_err("an error").sentence, "No.");
    }
}
