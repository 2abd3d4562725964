//! The builtin model: it needs no configuration, is local and deterministic, and does not guess.
//!
//! It has two roles, which it recognizes by the tools of a request:
//!
//! - with a `finish` tool it is the **agent**: it parses the instructions of the newest turn by the grammar of
//!   `docs/CHORES.md`, makes one tool call for each chore, and finishes with a report of what was done, and what was
//!   not and why;
//! - otherwise it is the **assistant**: it quotes the passages of the last `search` result that fit the question, with
//!   links, between a few fixed sentences, and says so when the docs do not answer. If the system prompt requests notes
//!   in HTML comments (that the docs do not answer, or suggested questions), it writes them.
//!
//! It is a pure function of the transcript, without state between calls. This crate knows neither the callers of agent
//! and assistant nor the origin of the passages.

mod answer_kind;
mod assistant;
mod block_marks;
mod blocks;
mod chore;
mod cursor;
mod grammar;
mod language;
mod outline;
mod planner;
mod quote;
mod rules;
mod scope;
mod suggestions;
mod transcript;
mod words;

use async_trait::async_trait;
use docent_llm::{BUILTIN, Description, Event, EventStream, Model, ModelError, Request, ToolChoice};
use docent_types::{FinishReason, Usage};
use futures::{StreamExt, stream};
use serde_json::Value;

pub use chore::{Chore, OutlineItem, Scope};
pub use grammar::{FORMS, Instruction, read};

/// The builtin model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Builtin;

/// A reply before it is streamed.
#[derive(Debug, Clone, PartialEq, Default)]
struct Draft {
    text: String,
    calls: Vec<(&'static str, Value)>,
}

#[async_trait]
impl Model for Builtin {
    fn describe(&self) -> Description {
        Description { context_tokens: u32::MAX, costs: false, ..Description::new(BUILTIN, BUILTIN) }
    }

    async fn stream(&self, request: Request) -> Result<EventStream, ModelError> {
        let may_call = |tool: &str| {
            request.tool_choice == ToolChoice::Auto && request.tools.iter().any(|offered| offered.name == tool)
        };
        let draft = if request.tools.iter().any(|tool| tool.name == planner::FINISH) {
            match request.tool_choice {
                ToolChoice::Auto => planner::next(&request.messages),
                ToolChoice::None => planner::early_report(&request.messages),
            }
        } else {
            let notes = assistant::Notes::requested_by(&request.system);
            assistant::next(&request.messages, may_call(assistant::SEARCH), notes)
        };
        Ok(play(draft, &request))
    }
}

/// Turns a draft into stream events. Call ids are numbered by the calls in the transcript, so that the same transcript
/// gives the same ids.
fn play(draft: Draft, request: &Request) -> EventStream {
    let before = transcript::count_calls(&request.messages);
    let read = request.messages.iter().map(|message| tokens(&message.plain_text())).sum();
    let usage = Usage::of(read, tokens(&draft.text));
    let reason = if draft.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let mut events: Vec<Event> = words(&draft.text).map(|word| Event::TextDelta(word.to_owned())).collect();
    for (index, (name, input)) in draft.calls.into_iter().enumerate() {
        events.push(Event::ToolCall { id: format!("call-{}", before + index + 1), name: name.to_owned(), input });
    }
    events.push(Event::Done { reason, usage });
    stream::iter(events.into_iter().map(Ok)).boxed()
}

/// The words of a text, each with the whitespace after it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// Approximate number of tokens of a text for a language model: its number of words.
fn tokens(text: &str) -> u64 {
    words(text).count() as u64
}

#[cfg(test)]
mod tests;
