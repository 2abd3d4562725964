//! Reads a transcript: its tool calls with their results, and where the newest turn begins.

use docent_types::{ContentPart, Message, Role};
use serde_json::Value;

/// A tool call that was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AnsweredCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) output: &'a str,
    pub(crate) is_error: bool,
}

/// The number of tool calls in the transcript.
pub(crate) fn count_calls(messages: &[Message]) -> usize {
    messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter(|part| matches!(part, ContentPart::ToolCall { .. }))
        .count()
}

/// The answered calls of a transcript in order of their answers.
pub(crate) fn answered(messages: &[Message]) -> Vec<AnsweredCall<'_>> {
    let mut calls: Vec<(&str, &str, &Value)> = Vec::new();
    let mut answers = Vec::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            ContentPart::ToolCall { id, name, input } => calls.push((id, name, input)),
            ContentPart::ToolResult { call_id, output, is_error } => {
                if let Some(&(_, name, input)) = calls.iter().rev().find(|(id, _, _)| id == call_id) {
                    answers.push(AnsweredCall { name, input, output, is_error: *is_error });
                }
            }
            ContentPart::Text { .. } => {}
        }
    }
    answers
}

/// The messages after the last one that ended a turn: the result of an accepted `finish`, or a text of the assistant
/// without a call.
pub(crate) fn newest_turn<'a>(messages: &'a [Message], finish: &str) -> &'a [Message] {
    let ends_turn = |index: usize| {
        let message = &messages[index];
        match message.role {
            Role::Assistant => !message.parts.iter().any(|part| matches!(part, ContentPart::ToolCall { .. })),
            Role::User => answered(&messages[index.saturating_sub(1)..=index])
                .iter()
                .any(|answer| answer.name == finish && !answer.is_error),
            Role::System => false,
        }
    };
    let start = (0..messages.len()).rev().find(|&index| ends_turn(index)).map_or(0, |index| index + 1);
    &messages[start..]
}

/// The texts of all messages with this role, without empty ones.
pub(crate) fn texts_of(messages: &[Message], role: Role) -> Vec<String> {
    let texts = messages.iter().filter(|message| message.role == role).map(Message::plain_text);
    texts.filter(|text| !text.trim().is_empty()).collect()
}
