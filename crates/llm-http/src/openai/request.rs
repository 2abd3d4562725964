//! Builds the body of a request for a chat completion.

use docent_llm::{Request, ToolChoice, ToolSpec};
use docent_types::ContentPart;
use serde_json::{Value, json};

use super::TokenLimit;
use crate::input::{plain, write};
use crate::transcript::{MessageTurn, system, turns};

/// The values that a body needs in addition to the port's request.
#[derive(Debug)]
pub(super) struct RequestOptions<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u32,
    pub(super) token_limit: TokenLimit,
    pub(super) stream_options: bool,
    pub(super) force_tools: bool,
}

/// The body of a request.
pub(super) fn body(request: &Request, options: &RequestOptions<'_>) -> Value {
    let mut messages = Vec::new();
    let system = system(request).join("\n\n");
    if !system.is_empty() {
        messages.push(json!({ "role": "system", "content": system }));
    }
    for turn in turns(&request.messages) {
        if turn.is_assistant { messages.push(assistant(&turn)) } else { user(&turn, &mut messages) }
    }
    let mut body = json!({ "model": options.model, "stream": true, "messages": messages });
    body[options.token_limit.name()] = options.max_tokens.into();
    if options.stream_options {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = match request.tool_choice {
            ToolChoice::None => "none",
            ToolChoice::Auto if options.force_tools => "required",
            ToolChoice::Auto => "auto",
        }
        .into();
    }
    body
}

fn tool(spec: &ToolSpec) -> Value {
    let function = json!({ "name": spec.name, "description": spec.description, "parameters": spec.schema });
    json!({ "type": "function", "function": function })
}

fn assistant(turn: &MessageTurn<'_>) -> Value {
    let text = text(turn);
    let calls: Vec<Value> = turn.parts.iter().filter_map(|part| call(part)).collect();
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn call(part: &ContentPart) -> Option<Value> {
    let ContentPart::ToolCall { id, name, input } = part else { return None };
    let function = json!({ "name": plain(name), "arguments": write(input).to_string() });
    Some(json!({ "id": plain(id), "type": "function", "function": function }))
}

/// A user's turn: a message for each tool result, then the text.
fn user(turn: &MessageTurn<'_>, messages: &mut Vec<Value>) {
    for part in &turn.parts {
        if let ContentPart::ToolResult { call_id, output, is_error } = part {
            // This protocol cannot mark a call as failed.
            let content = if *is_error { format!("Error: {output}") } else { output.clone() };
            messages.push(json!({ "role": "tool", "tool_call_id": plain(call_id), "content": content }));
        }
    }
    let text = text(turn);
    if !text.is_empty() {
        messages.push(json!({ "role": "user", "content": text }));
    }
}

fn text(turn: &MessageTurn<'_>) -> String {
    let texts = turn.parts.iter().filter_map(|part| match part {
        ContentPart::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}
