//! Parses a streamed chat completion: chunks with pieces of text or of calls, one with the finish reason, optionally
//! one with the token counts, optionally `[DONE]`.
//!
//! Thinking (`reasoning_content`) and unknown fields are skipped. The reply is complete once it has a finish reason, or
//! `[DONE]` from servers that send no reason. Calls are emitted at the end, because only then no piece can be missing.

use docent_llm::{Event, MOST_CALLS, ToolSpec};
use docent_types::{FinishReason, Usage};
use serde_json_borrow::Value;

use super::calls::{self, Call};
use super::held_text::HeldText;
use super::text_calls::KnownTool;
use crate::decoder::{ReplyError, ReplyParser};
use crate::input::CallIds;

/// A completion being received.
#[derive(Debug, Default)]
pub(crate) struct CompletionParser {
    ids: CallIds,
    calls: Vec<Call>,
    usage: Usage,
    reason: Option<String>,
    /// Whether any text has arrived.
    has_text: bool,
    /// The text that is withheld, where calls are searched in the text.
    held: Option<HeldText>,
    /// Whether the model has given words of refusal.
    has_refused: bool,
    over: bool,
}

impl CompletionParser {
    pub(crate) fn new(ids: CallIds) -> Self {
        Self { ids, ..Self::default() }
    }

    /// Reads calls of these tools from the text, if the reply has no regular calls.
    pub(crate) fn reading_calls_in_text(mut self, tools: &[ToolSpec]) -> Self {
        let tools: Vec<KnownTool> = tools.iter().map(KnownTool::of).collect();
        self.held = (!tools.is_empty()).then(|| HeldText::new(tools));
        self
    }

    fn choice(&mut self, choice: &Value<'_>, events: &mut Vec<Event>) {
        let delta = if choice.get("delta").is_object() { choice.get("delta") } else { choice.get("message") };
        self.say(delta.get("content"), events);
        self.has_refused |= delta.get("refusal").as_str().is_some_and(|words| !words.is_empty());
        for piece in delta.get("tool_calls").as_array().into_iter().flatten() {
            calls::add(&mut self.calls, piece);
        }
        if delta.get("function_call").is_object() {
            calls::add_to(&mut self.calls, Some(0), &Value::Null, delta.get("function_call"));
        }
        if let Some(reason) = choice.get("finish_reason").as_str().filter(|reason| !reason.is_empty()) {
            self.reason = Some(reason.to_owned());
        }
    }

    /// Adds content, which is a text or a list of parts with texts.
    fn say(&mut self, content: &Value<'_>, events: &mut Vec<Event>) {
        match content {
            Value::Str(text) => self.add_text(text, events),
            Value::Array(parts) => {
                parts.iter().filter_map(|part| part.get("text").as_str()).for_each(|text| self.add_text(text, events));
            }
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str, events: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        self.has_text = true;
        let settled = self.held.as_mut().map_or_else(|| text.to_owned(), |held| held.add(text));
        if !settled.is_empty() {
            events.push(Event::TextDelta(settled));
        }
    }

    fn count(&mut self, usage: &Value<'_>) {
        let tokens = |name: &str| usage.get(name).as_u64();
        self.usage.input_tokens = tokens("prompt_tokens").unwrap_or(self.usage.input_tokens);
        self.usage.output_tokens = tokens("completion_tokens").unwrap_or(self.usage.output_tokens);
        let cached = usage
            .get("prompt_tokens_details")
            .get("cached_tokens")
            .as_u64()
            .or_else(|| tokens("prompt_cache_hit_tokens"));
        self.usage.cached_input_tokens = cached.unwrap_or(self.usage.cached_input_tokens);
    }

    fn ends(&mut self, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        if self.has_refused && self.calls.is_empty() {
            return Err(ReplyError::Refused);
        }
        let reason = match self.reason.as_deref() {
            Some("content_filter" | "refusal") => return Err(ReplyError::Refused),
            Some("error") => return Err(ReplyError::Cut),
            Some("length" | "max_tokens") => FinishReason::Length,
            Some("stop" | "eos" | "end_turn" | "stop_sequence" | "tool_calls" | "function_call") | None => {
                FinishReason::Stop
            }
            Some(_) => FinishReason::Other,
        };
        let made = self.emit_calls(events);
        let reason = if made && reason != FinishReason::Length { FinishReason::ToolCalls } else { reason };
        self.over = true;
        events.push(Event::Done { reason, usage: self.usage });
        Ok(())
    }

    /// Emits the withheld text, then the calls. Returns whether there were any calls.
    fn emit_calls(&mut self, events: &mut Vec<Event>) -> bool {
        let mut made: Vec<(String, String, serde_json::Value)> = std::mem::take(&mut self.calls)
            .into_iter()
            .map(|call| {
                let input = call.input();
                (call.id, call.name, input)
            })
            .collect();
        if let Some(held) = self.held.take() {
            let (text, found) = if made.is_empty() { held.end() } else { (held.into_text(), Vec::new()) };
            made.extend(found.into_iter().take(MOST_CALLS + 1).map(|(name, input)| (String::new(), name, input)));
            if !text.is_empty() {
                events.push(Event::TextDelta(text));
            }
        }
        let any = !made.is_empty();
        for (id, name, input) in made {
            events.push(Event::ToolCall { id: self.ids.claim(&id), name, input });
        }
        any
    }
}

impl ReplyParser for CompletionParser {
    fn read(&mut self, frame: &Value<'_>, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        self.count(frame.get("usage"));
        let choices = frame.get("choices").as_array();
        let first =
            choices.and_then(|choices| choices.iter().find(|choice| choice.get("index").as_u64().unwrap_or(0) == 0));
        if let Some(choice) = first {
            self.choice(choice, events);
        }
        Ok(())
    }

    fn done(&mut self, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        // A proxy may append `[DONE]` to a reply that was cut before its first word.
        let is_empty = self.calls.is_empty() && !self.has_text && !self.has_refused && self.reason.is_none();
        if is_empty { Err(ReplyError::Cut) } else { self.ends(events) }
    }

    fn end(&mut self, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        if self.reason.is_some() { self.ends(events) } else { Err(ReplyError::Cut) }
    }

    fn whole(&mut self, body: &Value<'_>, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        if body.get("choices").get(0).is_null() {
            return Err(ReplyError::Foreign);
        }
        self.read(body, events)?;
        self.ends(events)
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
