//! Prepares a transcript for both protocols: system texts apart, one message per turn, tool results first.

use docent_llm::Request;
use docent_types::{ContentPart, Message, Role};

/// The turns of a transcript, borrowed.
#[derive(Debug)]
pub(crate) struct MessageTurn<'a> {
    pub(crate) is_assistant: bool,
    pub(crate) parts: Vec<&'a ContentPart>,
}

/// Merges consecutive messages of one side into a turn. Blank texts are omitted, because servers refuse them, and so
/// are turns without any other content. Tool results come first in a turn, directly after their calls.
pub(crate) fn turns(messages: &[Message]) -> Vec<MessageTurn<'_>> {
    let mut turns: Vec<MessageTurn<'_>> = Vec::new();
    for message in messages.iter().filter(|message| message.role != Role::System) {
        let is_assistant = message.role == Role::Assistant;
        let parts = message.parts.iter().filter(|part| has_content(part));
        match turns.last_mut() {
            Some(turn) if turn.is_assistant == is_assistant => turn.parts.extend(parts),
            _ => turns.push(MessageTurn { is_assistant, parts: parts.collect() }),
        }
        if turns.last().is_some_and(|turn| turn.parts.is_empty()) {
            turns.pop();
        }
    }
    for turn in &mut turns {
        turn.parts.sort_by_key(|part| !matches!(part, ContentPart::ToolResult { .. }));
    }
    turns
}

/// The system texts: those of the request, then those of the transcript.
pub(crate) fn system(request: &Request) -> Vec<String> {
    let said = request.messages.iter().filter(|message| message.role == Role::System).map(Message::plain_text);
    std::iter::once(request.system.clone()).chain(said).filter(|text| !text.trim().is_empty()).collect()
}

fn has_content(part: &ContentPart) -> bool {
    !matches!(part, ContentPart::Text { text } if text.trim().is_empty())
}
