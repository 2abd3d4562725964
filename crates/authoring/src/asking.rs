//! The steps that ask the model.

use std::time::Duration;

use docent_agent::{self as agent, Compaction, Reply};
use docent_llm::{Event, ModelErrorKind, Request};
use docent_types::Role;

use crate::events::LiveText;
use crate::notes;
use crate::progress::AgentTurn;
use crate::record::Record;
use crate::session::Session;
use crate::stop::{Stop, model_failed};

/// How long a turn whose time is over waits for the model to say what it did.
const LAST_WORDS: Duration = Duration::from_secs(120);

impl Session<'_> {
    pub(crate) async fn ask(&mut self, turn: &AgentTurn, mut request: Request) -> Result<(), Stop> {
        for note in notes::for_the_model(turn, &self.progress, self.handle.job()) {
            request.system.push_str("\n\n");
            request.system.push_str(&note);
        }
        // Nobody waits for the words of a model that has them all at once.
        let mut live_text = self.costs().then(|| LiveText::new(self.handle.live_events()));
        let hears = move |event: &Event| {
            if let Some(live_text) = &mut live_text {
                live_text.receive(event);
            }
        };
        match self.call(request, hears).await? {
            Some(Reply { message, reason, usage }) => {
                self.record(Record::Replied { message, reason, usage });
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(crate) async fn compact(&mut self, compaction: Compaction) -> Result<(), Stop> {
        let Compaction { request, upto } = compaction;
        let Some(reply) = self.call(request, |_: &Event| ()).await? else { return Ok(()) };
        if let agent::Entry::Compacted { summary, upto, usage } = agent::compacted(&reply, upto) {
            self.record(Record::Compacted { summary, upto, usage });
        }
        Ok(())
    }

    /// Calls the model for as long as the turn has time. `None`: why there is no reply is in the journal, and the next
    /// step knows what to make of it.
    async fn call(&mut self, request: Request, hears: impl FnMut(&Event) + Send) -> Result<Option<Reply>, Stop> {
        let model = self.model.clone();
        let time = if self.has_expired() { LAST_WORDS } else { self.time_left() };
        let called = tokio::time::timeout(time, agent::call_model(model.as_ref(), request, hears)).await;
        match called {
            Ok(Ok(reply)) => return Ok(Some(reply)),
            Ok(Err(error)) if error.kind == ModelErrorKind::ContextTooLong => self.record(Record::TooLong),
            // The work is not lost for want of words on it.
            Ok(Err(error)) if !self.has_expired() => return Err(model_failed(&error, &self.handle.job().model)),
            Ok(Err(_)) | Err(_) => self.expire(),
        }
        Ok(None)
    }

    /// Whether the time granted with the last word from outside is known to be over.
    fn has_expired(&self) -> bool {
        let entries = self.progress.transcript.entries().iter().rev();
        let mut since =
            entries.take_while(|entry| !matches!(entry, agent::Entry::Said { message } if message.role == Role::User));
        since.any(|entry| matches!(entry, agent::Entry::Expired { .. }))
    }

    fn time_left(&mut self) -> Duration {
        let used = self.progress.time_used.works_until(self.handle.now());
        self.limit().saturating_sub(used)
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(60 * u64::from(self.author.config.limits.minutes))
    }

    /// Whether the turn's time ran out and nobody wrote it down yet.
    pub(crate) fn is_out_of_time(&mut self) -> bool {
        !self.has_expired() && self.time_left().is_zero()
    }

    pub(crate) fn expire(&mut self) {
        let minutes = self.author.config.limits.minutes;
        self.record(Record::Expired { why: format!("its {minutes} minutes were over") });
    }
}
