//! Parses a streamed reply of Anthropic Messages.
//!
//! ```text
//! message_start ─▶ ( content_block_start ─▶ content_block_delta* ─▶ content_block_stop )* ─▶ message_delta ─▶ message_stop
//! ```
//!
//! Blocks other than text and tool calls (such as thinking) and unknown events are skipped.

use std::collections::BTreeMap;

use docent_llm::{Event, MOST_CALLS};
use docent_types::{FinishReason, Usage};
use serde_json_borrow::Value;

use crate::decoder::{ReplyError, ReplyParser};
use crate::input::{self, CallIds};

/// A message being streamed.
#[derive(Debug, Default)]
pub(crate) struct MessageParser {
    ids: CallIds,
    /// The calls that have begun, keyed by the index of their block.
    calls: BTreeMap<u64, Call>,
    /// Number of calls begun, without those dropped.
    begun: usize,
    tokens: Tokens,
    stop_reason: Option<String>,
    over: bool,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    /// The input, if it arrived in one piece.
    input: serde_json::Value,
    /// The input as JSON text, if it arrives in pieces.
    json: String,
}

#[derive(Debug, Default)]
struct Tokens {
    input: u64,
    cache_writes: u64,
    cache_reads: u64,
    output: u64,
}

impl MessageParser {
    pub(crate) fn new(ids: CallIds) -> Self {
        Self { ids, ..Self::default() }
    }

    fn block_begins(&mut self, index: u64, block: &Value<'_>, events: &mut Vec<Event>) {
        match block.get("type").as_str() {
            Some("text") => say(block.get("text"), events),
            Some("tool_use") if self.begun <= MOST_CALLS => {
                self.begun += 1;
                let text = |name: &str| block.get(name).as_str().unwrap_or_default().to_owned();
                let call = Call {
                    id: text("id"),
                    name: text("name"),
                    input: block.get("input").clone().into(),
                    json: String::new(),
                };
                self.calls.insert(index, call);
            }
            _ => {}
        }
    }

    fn block_grows(&mut self, index: u64, delta: &Value<'_>, events: &mut Vec<Event>) {
        match delta.get("type").as_str() {
            Some("text_delta") => say(delta.get("text"), events),
            Some("input_json_delta") => {
                if let (Some(call), Some(piece)) = (self.calls.get_mut(&index), delta.get("partial_json").as_str()) {
                    call.json.push_str(piece);
                }
            }
            _ => {}
        }
    }

    fn block_ends(&mut self, index: u64, events: &mut Vec<Event>) {
        if let Some(Call { id, name, input, json }) = self.calls.remove(&index) {
            let whole = if json.trim().is_empty() && input.is_object() { input } else { input::read(&json) };
            events.push(Event::ToolCall { id: self.ids.claim(&id), name, input: whole });
        }
    }

    fn ends(&mut self, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        while let Some(index) = self.calls.keys().next().copied() {
            self.block_ends(index, events);
        }
        let reason = match self.stop_reason.as_deref() {
            Some("refusal") => return Err(ReplyError::Refused),
            Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
            // Some compatible servers always send the same reason.
            Some("end_turn" | "stop_sequence" | "tool_use") | None if self.begun > 0 => FinishReason::ToolCalls,
            Some("end_turn" | "stop_sequence" | "tool_use") | None => FinishReason::Stop,
            Some(_) => FinishReason::Other,
        };
        self.over = true;
        events.push(Event::Done { reason, usage: self.tokens.usage() });
        Ok(())
    }
}

impl ReplyParser for MessageParser {
    fn read(&mut self, frame: &Value<'_>, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        let index = frame.get("index").as_u64().unwrap_or_default();
        match frame.get("type").as_str() {
            Some("message_start") => self.tokens.count(frame.get("message").get("usage")),
            Some("content_block_start") => self.block_begins(index, frame.get("content_block"), events),
            Some("content_block_delta") => self.block_grows(index, frame.get("delta"), events),
            Some("content_block_stop") => self.block_ends(index, events),
            Some("message_delta") => {
                self.tokens.count(frame.get("usage"));
                if let Some(reason) = frame.get("delta").get("stop_reason").as_str() {
                    self.stop_reason = Some(reason.to_owned());
                }
            }
            Some("message_stop") => return self.ends(events),
            _ => {}
        }
        Ok(())
    }

    fn done(&mut self, _: &mut Vec<Event>) -> Result<(), ReplyError> {
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<Event>) -> Result<(), ReplyError> {
        Err(ReplyError::Cut)
    }

    fn whole(&mut self, body: &Value<'_>, events: &mut Vec<Event>) -> Result<(), ReplyError> {
        let Some(blocks) = body.get("content").as_array() else { return Err(ReplyError::Foreign) };
        for (index, block) in (0..).zip(blocks) {
            self.block_begins(index, block, events);
            self.block_ends(index, events);
        }
        self.tokens.count(body.get("usage"));
        self.stop_reason = body.get("stop_reason").as_str().map(str::to_owned);
        self.ends(events)
    }

    fn is_over(&self) -> bool {
        self.over
    }
}

impl Tokens {
    /// Reads the counts that are present. They are totals, so later ones replace earlier ones.
    fn count(&mut self, usage: &Value<'_>) {
        for (field, name) in [
            (&mut self.input, "input_tokens"),
            (&mut self.cache_writes, "cache_creation_input_tokens"),
            (&mut self.cache_reads, "cache_read_input_tokens"),
            (&mut self.output, "output_tokens"),
        ] {
            *field = usage.get(name).as_u64().unwrap_or(*field);
        }
    }

    fn usage(&self) -> Usage {
        let input_tokens = self.input.saturating_add(self.cache_writes).saturating_add(self.cache_reads);
        Usage { input_tokens, output_tokens: self.output, cached_input_tokens: self.cache_reads }
    }
}

fn say(text: &Value<'_>, events: &mut Vec<Event>) {
    if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
        events.push(Event::TextDelta(text.to_owned()));
    }
}
