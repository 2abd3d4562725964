//! Builds the body of a request to Anthropic Messages.

use docent_llm::{Request, ToolChoice, ToolSpec};
use docent_types::ContentPart;
use serde_json::{Value, json};

use crate::input::{plain, write};
use crate::transcript::{MessageTurn, system, turns};

/// Number of user messages, from the end, that are marked for the cache. The provider searches a limited number of
/// blocks back from a mark, and a reply with many calls exceeds it; the second mark is then still found. With the tools
/// and the system text that makes four marks, the provider's limit.
const MARKED_TURNS: usize = 2;

/// The body of a request.
pub(super) fn body(request: &Request, model: &str, max_tokens: u32) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": max_tokens,
        "stream": true,
        "messages": messages(&turns(&request.messages)),
    });
    let mut system: Vec<Value> = system(request).iter().map(|text| json!({ "type": "text", "text": text })).collect();
    if !system.is_empty() {
        mark(system.last_mut());
        body["system"] = system.into();
    }
    if !request.tools.is_empty() {
        // The server refuses a transcript with calls of unknown tools, so tools are declared even if none may be
        // called.
        let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
        mark(tools.last_mut());
        body["tools"] = tools.into();
        let choice = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
        };
        body["tool_choice"] = json!({ "type": choice });
    }
    body
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "name": spec.name, "description": spec.description, "input_schema": spec.schema })
}

fn messages(turns: &[MessageTurn<'_>]) -> Vec<Value> {
    let mut messages = Vec::new();
    if turns.first().is_none_or(|turn| turn.is_assistant) {
        // The server requires the first message to be the user's.
        messages.push(json!({ "role": "user", "content": [{ "type": "text", "text": "(The conversation begins.)" }] }));
    }
    for turn in turns {
        let role = if turn.is_assistant { "assistant" } else { "user" };
        let blocks: Vec<Value> = turn.parts.iter().map(|part| block(part)).collect();
        messages.push(json!({ "role": role, "content": blocks }));
    }
    for message in messages.iter_mut().rev().filter(|message| message["role"] == "user").take(MARKED_TURNS) {
        mark(message["content"].as_array_mut().and_then(|blocks| blocks.last_mut()));
    }
    messages
}

fn block(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text { text } => json!({ "type": "text", "text": text }),
        ContentPart::ToolCall { id, name, input } => {
            json!({ "type": "tool_use", "id": plain(id), "name": plain(name), "input": write(input) })
        }
        ContentPart::ToolResult { call_id, output, is_error } => {
            let mut block = json!({ "type": "tool_result", "tool_use_id": plain(call_id), "content": output });
            if *is_error {
                block["is_error"] = true.into();
            }
            block
        }
    }
}

/// Marks the end of a prefix for the provider's cache.
fn mark(block: Option<&mut Value>) {
    if let Some(block) = block {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}
