//! A transcript as both wires want it: system texts apart, one message a turn, results before words.

use docent_llm::Request;
use docent_types::{ContentPart, Message, Role};

/// The turns of a transcript, borrowed.
#[derive(Debug)]
pub(crate) struct MessageTurn<'a> {
    pub(crate) is_assistant: bool,
    pub(crate) parts: Vec<&'a ContentPart>,
}

/// Consecutive messages of one side as one turn. Texts of nothing but white space are left out, because servers refuse
/// them; so are turns that have nothing else. The results of calls come first in a turn, right behind their calls.
pub(crate) fn turns(messages: &[Message]) -> Vec<MessageTurn<'_>> {
    let mut turns: Vec<MessageTurn<'_>> = Vec::new();
    for message in messages.iter().filter(|message| message.role != Role::System) {
        let is_assistant = message.role == Role::Assistant;
        let parts = message.parts.iter().filter(|part| says_something(part));
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

/// The standing instructions, then what the transcript itself has of them.
pub(crate) fn system(request: &Request) -> Vec<String> {
    let said = request.messages.iter().filter(|message| message.role == Role::System).map(Message::plain_text);
    std::iter::once(request.system.clone()).chain(said).filter(|text| !text.trim().is_empty()).collect()
}

fn says_something(part: &ContentPart) -> bool {
    !matches!(part, ContentPart::Text { text } if text.trim().is_empty())
}
