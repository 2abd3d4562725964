//! The steps that call the model.

use std::time::Duration;

use docent_agent::{self as agent, Compaction, ModelReply};
use docent_llm::{Event, ModelError, ModelErrorKind, Request, Retry};
use docent_types::Role;

use crate::events::LiveText;
use crate::notes;
use crate::progress::AgentTurn;
use crate::record::Record;
use crate::session::Session;
use crate::turn_exit::{TurnExit, failure_words, model_failed, refusal};

/// How long a turn whose time is over still waits for the model's summary.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(120);

impl Session<'_> {
    pub(crate) async fn ask(&mut self, turn: &AgentTurn, mut request: Request) -> Result<(), TurnExit> {
        for note in notes::for_the_model(turn, &self.progress, self.handle.job(), &self.project.branch) {
            request.system.push_str("\n\n");
            request.system.push_str(&note);
        }
        // The text of a model that answers at once is not streamed.
        let mut live_text = self.costs().then(|| LiveText::new(self.handle.live_events()));
        let on_event = move |event: &Event| {
            if let Some(live_text) = &mut live_text {
                live_text.receive(event);
            }
        };
        match self.call(request, on_event).await? {
            Some(ModelReply { message, reason, usage }) => {
                self.record(Record::Replied { message, reason, usage });
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(crate) async fn compact(&mut self, compaction: Compaction) -> Result<(), TurnExit> {
        let Compaction { request, upto } = compaction;
        let Some(reply) = self.call(request, |_: &Event| ()).await? else { return Ok(()) };
        if let agent::TranscriptEntry::Compacted { summary, upto, usage } = agent::compacted(&reply, upto) {
            self.record(Record::Compacted { summary, upto, usage });
        }
        Ok(())
    }

    /// Calls the model for as long as the turn has time. On `None`, the journal has the reason, and the next step
    /// follows from it.
    async fn call(
        &mut self,
        request: Request,
        on_event: impl FnMut(&Event) + Send,
    ) -> Result<Option<ModelReply>, TurnExit> {
        let model = self.model.clone();
        // A model that costs nothing is code of this process.
        let _mark = match self.costs() {
            true => None,
            false => Some(self.author.config.quarantine.begin(&self.marked_step("carrying out the instruction")?)),
        };
        let time = if self.has_expired() { SUMMARY_TIMEOUT } else { self.time_left() };
        let outcome = tokio::time::timeout(time, agent::call_model(model.as_ref(), request, on_event)).await;
        match outcome {
            Ok(Ok(reply)) => return Ok(Some(reply)),
            Ok(Err(error)) if error.kind == ModelErrorKind::ContextTooLong => self.record(Record::TooLong),
            Ok(Err(error)) if error.kind == ModelErrorKind::Refused => {
                self.record(Record::Refused { why: refusal(&error) });
            }
            // The wait before the next attempt counts as the turn's time.
            Ok(Err(error)) if !self.has_expired() && self.outlasts_the_turn(&error) => {
                let minutes = self.author.config.limits.minutes;
                let why = failure_words(&error);
                self.record(Record::Expired {
                    why: format!("its {minutes} minutes would be over before the model could be asked again ({why})"),
                });
            }
            // A missing summary must not lose the work.
            Ok(Err(error)) if !self.has_expired() => return Err(model_failed(&error, &self.handle.job().model)),
            Ok(Err(_)) | Err(_) => self.expire(),
        }
        Ok(None)
    }

    /// Whether the model would be asked again only when the turn's time is over.
    fn outlasts_the_turn(&mut self, error: &ModelError) -> bool {
        let after = match error.kind.retry() {
            Retry::Never => return false,
            Retry::Soon => None,
            Retry::After(wait) => Some(wait),
        };
        self.handle.retry_delay(after) >= self.time_left()
    }

    /// Whether the journal says that the time granted with the last message from outside is over.
    fn has_expired(&self) -> bool {
        let entries = self.progress.transcript.entries().iter().rev();
        let mut since = entries.take_while(
            |entry| !matches!(entry, agent::TranscriptEntry::Said { message } if message.role == Role::User),
        );
        since.any(|entry| matches!(entry, agent::TranscriptEntry::Expired { .. }))
    }

    fn time_left(&mut self) -> Duration {
        let used = self.progress.time_used.count_until(self.handle.now());
        self.limit().saturating_sub(used)
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(60 * u64::from(self.author.config.limits.minutes))
    }

    /// Whether the turn's time is over and the journal does not say so yet.
    pub(crate) fn is_out_of_time(&mut self) -> bool {
        !self.has_expired() && self.time_left().is_zero()
    }

    pub(crate) fn expire(&mut self) {
        let minutes = self.author.config.limits.minutes;
        self.record(Record::Expired { why: format!("its {minutes} minutes were over") });
    }
}
