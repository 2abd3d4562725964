//! The valid order of a reply's events, as a state machine that accepts events or names the violation.

use std::collections::HashSet;
use std::sync::Arc;

use docent_types::StreamEvent;
use thiserror::Error;

/// Checks one reply and refuses the first event that is out of order.
///
/// ```text
///            Start          StepStart            StepFinish
///   Fresh ──────────▶ Between ─────────▶ InStep ───────────▶ Between
///                        │ Finish                             (at least one step)
///                        ▼
///                      Over ◀── Error, from anywhere after Start or before it
/// ```
///
/// Inside a step, tool results answer calls of the reply, a source occurs once, and text parts open and close by id,
/// with none left open at the end of the step. `Data` and `KeepAlive` may occur anywhere before the end.
#[derive(Debug, Default)]
pub struct Grammar {
    phase: Phase,
    steps: usize,
    calls: HashSet<String>,
    answered: HashSet<String>,
    sources: HashSet<String>,
    texts: HashSet<String>,
    open_text: Option<Arc<str>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    Fresh,
    Between,
    InStep,
    Over,
}

/// The violation of the order.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct GrammarError(String);

impl Grammar {
    /// Checks a complete reply, including its end.
    pub fn check<'a>(events: impl IntoIterator<Item = &'a StreamEvent>) -> Result<(), GrammarError> {
        let mut grammar = Self::default();
        for event in events {
            grammar.accept(event)?;
        }
        if grammar.is_over() { Ok(()) } else { Err(GrammarError("the reply ended without Finish or Error".to_owned())) }
    }

    /// Whether `Finish` or `Error` was seen.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Checks the next event.
    pub fn accept(&mut self, event: &StreamEvent) -> Result<(), GrammarError> {
        use StreamEvent as E;
        if self.phase == Phase::Over {
            return self.out_of_place(event);
        }
        match (event, self.phase) {
            (E::Error { .. }, _) => self.phase = Phase::Over,
            (E::KeepAlive, _) | (E::Data { .. }, Phase::Between | Phase::InStep) => {}
            (E::Start { .. }, Phase::Fresh) => self.phase = Phase::Between,
            (E::StepStart, Phase::Between) => self.phase = Phase::InStep,
            (E::StepFinish { .. }, Phase::InStep) if self.open_text.is_none() => {
                self.phase = Phase::Between;
                self.steps += 1;
            }
            (E::Finish { .. }, Phase::Between) if self.steps > 0 => self.phase = Phase::Over,
            (E::ToolCall { id, .. }, Phase::InStep) => return once(&mut self.calls, id, "tool call"),
            (E::ToolResult { id, .. }, Phase::InStep) if self.calls.contains(id) => {
                return once(&mut self.answered, id, "tool result");
            }
            (E::Source { id, .. }, Phase::InStep) => return once(&mut self.sources, id, "source"),
            (E::TextStart { id }, Phase::InStep) if self.open_text.is_none() => {
                self.open_text = Some(Arc::clone(id));
                return once(&mut self.texts, id, "text");
            }
            (E::TextDelta { id, .. }, Phase::InStep) if self.open_text.as_ref() == Some(id) => {}
            (E::TextEnd { id }, Phase::InStep) if self.open_text.as_ref() == Some(id) => self.open_text = None,
            _ => return self.out_of_place(event),
        }
        Ok(())
    }

    fn out_of_place(&self, event: &StreamEvent) -> Result<(), GrammarError> {
        let text = self.open_text.as_deref().map_or(String::new(), |id| format!(", text `{id}` open"));
        Err(GrammarError(format!("{event:?} is out of place ({:?}, {} steps done{text})", self.phase, self.steps)))
    }
}

fn once(seen: &mut HashSet<String>, id: &str, what: &str) -> Result<(), GrammarError> {
    if seen.insert(id.to_owned()) { Ok(()) } else { Err(GrammarError(format!("{what} `{id}` came twice"))) }
}

#[cfg(test)]
mod tests {
    use docent_types::{FinishReason, MessageId, ToolOutput, Usage};
    use serde_json::json;

    use super::*;

    fn start() -> StreamEvent {
        StreamEvent::Start { message_id: MessageId::new(uuid::Uuid::from_u128(1)), thread_id: None }
    }

    fn step_finish() -> StreamEvent {
        StreamEvent::StepFinish { reason: FinishReason::Stop, usage: Usage::default() }
    }

    fn finish() -> StreamEvent {
        StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::default(), thread_id: None }
    }

    fn text(id: &str) -> [StreamEvent; 3] {
        [
            StreamEvent::TextStart { id: id.into() },
            StreamEvent::TextDelta { id: id.into(), text: "hi".into() },
            StreamEvent::TextEnd { id: id.into() },
        ]
    }

    #[test]
    fn a_reply_with_a_tool_and_two_steps_is_well_formed() {
        let mut reply = vec![
            start(),
            StreamEvent::StepStart,
            StreamEvent::ToolCall { id: "c".into(), name: "search".into(), input: json!({}) },
            StreamEvent::KeepAlive,
            StreamEvent::ToolResult { id: "c".into(), output: ToolOutput::Passages(vec![]) },
            step_finish(),
            StreamEvent::StepStart,
        ];
        reply.extend(text("0"));
        reply.extend([step_finish(), finish()]);
        assert_eq!(Grammar::check(&reply), Ok(()));
    }

    #[test]
    fn an_error_may_end_a_reply_anywhere_and_nothing_follows_it() {
        let error = StreamEvent::Error { sentence: "The model went away.".into() };
        assert_eq!(Grammar::check([&error]), Ok(()));
        assert_eq!(Grammar::check([&start(), &StreamEvent::StepStart, &error]), Ok(()));
        assert!(Grammar::check([&start(), &error, &finish()]).is_err());
    }

    #[test]
    fn parts_out_of_order_are_refused() {
        let [open, delta, close] = text("0");
        let step = StreamEvent::StepStart;
        let result = StreamEvent::ToolResult { id: "c".into(), output: ToolOutput::Json(json!(1)) };
        for (why, reply) in [
            ("no start", vec![step.clone(), step_finish(), finish()]),
            ("no step", vec![start(), finish()]),
            ("no end", vec![start(), step.clone(), step_finish()]),
            ("delta without start", vec![start(), step.clone(), delta.clone()]),
            ("text left open", vec![start(), step.clone(), open.clone(), step_finish()]),
            ("text id used twice", vec![start(), step.clone(), open.clone(), close.clone(), open.clone()]),
            ("result without call", vec![start(), step.clone(), result]),
            ("text outside a step", vec![start(), open]),
            ("step in a step", vec![start(), step.clone(), step]),
        ] {
            assert!(Grammar::check(&reply).is_err(), "{why}");
        }
    }
}
