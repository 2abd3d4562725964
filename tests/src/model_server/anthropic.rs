//! Anthropic Messages: validates requests, and streams replies.

use serde_json::{Value, json};

use super::asked::Wire;
use super::frames::{Frame, Frames, fragments, pieces};
use super::reply::{ErrorBody, Refusal, Reply, ReplyStep, StopReason};

/// The reason why the service would refuse the request.
pub(super) fn fault(body: &Value, headers: &std::collections::HashMap<String, String>) -> Option<String> {
    if !headers.contains_key("anthropic-version") {
        return Some("anthropic-version: header is required".to_owned());
    }
    for field in ["model", "max_tokens", "messages"] {
        if body[field].is_null() {
            return Some(format!("{field}: Field required"));
        }
    }
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return Some("max_tokens: must be greater than or equal to 1".to_owned());
    }
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if messages.first().is_none_or(|first| first["role"] != "user") {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    if body.to_string().matches("\"cache_control\"").count() > 4 {
        return Some("A maximum of 4 blocks with cache_control may be provided.".to_owned());
    }
    tool_fault(body).or_else(|| messages_fault(messages))
}

fn tool_fault(body: &Value) -> Option<String> {
    let mut names = Vec::new();
    for (n, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Some(format!("tools.{n}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"));
        }
        let is_of_ours = tool["type"].is_null() || tool["type"] == "custom";
        if is_of_ours && tool["input_schema"]["type"] != "object" {
            return Some(format!("tools.{n}.input_schema.type: Field required"));
        }
        if names.contains(&name) {
            return Some("tools: Tool names must be unique.".to_owned());
        }
        names.push(name);
    }
    None
}

fn messages_fault(messages: &[Value]) -> Option<String> {
    let ids = |message: Option<&Value>, kind: &str, field: &str| -> Vec<String> {
        let parts = message.and_then(|message| message["content"].as_array()).into_iter().flatten();
        let parts = parts.filter(|part| part["type"] == kind);
        parts.map(|part| part[field].as_str().unwrap_or_default().to_owned()).collect()
    };
    for (n, message) in messages.iter().enumerate() {
        let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        if message["content"] == "" || (message["content"].is_array() && parts.is_empty()) {
            return Some(format!("messages.{n}: all messages must have non-empty content"));
        }
        for part in parts {
            if part["type"] == "text" && part["text"].as_str().is_none_or(|text| text.trim().is_empty()) {
                return Some("messages: text content blocks must contain non-whitespace text".to_owned());
            }
            if part["type"] == "tool_use" && !part["input"].is_object() {
                return Some(format!("messages.{n}.content: tool_use.input: Input should be a valid dictionary"));
            }
        }
        let (asked, after) = (ids(Some(message), "tool_use", "id"), messages.get(n + 1));
        let answered = ids(after, "tool_result", "tool_use_id");
        if let Some(open) = asked.iter().find(|id| !answered.contains(id)) {
            return Some(format!(
                "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {open}"
            ));
        }
        if let Some(stray) = answered.iter().find(|id| !asked.contains(id)) {
            return Some(format!(
                "messages.{}: unexpected `tool_use_id` found in `tool_result` blocks: {stray}",
                n + 1
            ));
        }
        if !parts.iter().is_sorted_by_key(|part| part["type"] != "tool_result") {
            return Some(format!("messages.{n}: `tool_result` blocks must come first"));
        }
    }
    None
}

pub(super) fn error(refusal: &Refusal, id: &str) -> Value {
    let (kind, message) = match (refusal.status, &refusal.why) {
        (_, ErrorBody::TooLong) => {
            ("invalid_request_error", "prompt is too long: 215000 tokens > 200000 maximum".to_owned())
        }
        (400, _) => ("invalid_request_error", "the request is not valid".to_owned()),
        (401, _) => ("authentication_error", "invalid x-api-key".to_owned()),
        (403, _) => ("permission_error", "Your API key does not have permission to use this model.".to_owned()),
        (404, _) => ("not_found_error", "model: no-such-model".to_owned()),
        (413, _) => ("request_too_large", "Request exceeds the maximum size".to_owned()),
        (429, _) => ("rate_limit_error", "This request would exceed your organization’s rate limit.".to_owned()),
        (529, _) => ("overloaded_error", "Overloaded".to_owned()),
        _ => ("api_error", "Internal server error".to_owned()),
    };
    told(kind, &message, id)
}

/// The error body for a request that the service would refuse.
pub(super) fn told(kind: &str, message: &str, id: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": id })
}

/// The input tokens of a request, by how prompt caching bills them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) fresh: u64,
    pub(super) written: u64,
    pub(super) read: u64,
}

/// The frames of a reply.
pub(super) fn frames(reply: &Reply, body: &Value, counted: Counted, id: &str) -> Frames {
    let (input, output) = reply.usage.unwrap_or((counted.fresh, reply.tokens()));
    let mut frames = Frames::new(Wire::Anthropic);
    let message = json!({
        "id": format!("msg_{id}"),
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": input,
            "cache_creation_input_tokens": counted.written,
            "cache_read_input_tokens": counted.read,
            "output_tokens": 1,
            "service_tier": "standard",
        },
    });
    frames.event("message_start", &json!({ "message": message }));
    let mut index = 0;
    for (n, beat) in reply.beats.iter().enumerate() {
        match beat {
            ReplyStep::Text(text) => {
                let block = json!({ "type": "text", "text": "" });
                let deltas = pieces(text).map(|piece| json!({ "type": "text_delta", "text": piece }));
                block_of(&mut frames, index, &block, deltas, is_whole(reply, n));
            }
            ReplyStep::Call(tool, input) => {
                let block =
                    json!({ "type": "tool_use", "id": format!("toolu_{id}{index:02}"), "name": tool, "input": {} });
                let parts = std::iter::once("").chain(fragments(input));
                let deltas = parts.map(|part| json!({ "type": "input_json_delta", "partial_json": part }));
                block_of(&mut frames, index, &block, deltas, is_whole(reply, n));
            }
            ReplyStep::Error(kind) => {
                let error = json!({ "type": kind, "message": "Overloaded" });
                frames.event("error", &json!({ "error": error }));
                frames.push(Frame::End);
                return frames;
            }
            other => {
                frames.other(other);
                continue;
            }
        }
        index += 1;
    }
    let reason = match reply.stop {
        Some(StopReason::Length) => "max_tokens",
        Some(StopReason::Refused) => "refusal",
        None if reply.has_calls() => "tool_use",
        None => "end_turn",
    };
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    frames.event("message_delta", &json!({ "delta": delta, "usage": { "output_tokens": output } }));
    frames.event("message_stop", &json!({}));
    frames.push(Frame::End);
    frames
}

/// Whether the block ends before the next step: steps that cut a reply cut it within a block.
fn is_whole(reply: &Reply, n: usize) -> bool {
    !matches!(
        reply.beats.get(n + 1),
        Some(
            ReplyStep::Cut
                | ReplyStep::CutInFrame
                | ReplyStep::Truncated
                | ReplyStep::Silent
                | ReplyStep::Garbage(_)
                | ReplyStep::BadFrame
        )
    )
}

fn block_of(frames: &mut Frames, index: usize, block: &Value, deltas: impl Iterator<Item = Value>, whole: bool) {
    frames.event("content_block_start", &json!({ "index": index, "content_block": block }));
    if index == 0 {
        frames.event("ping", &json!({}));
    }
    for delta in deltas {
        frames.event("content_block_delta", &json!({ "index": index, "delta": delta }));
    }
    if whole {
        frames.event("content_block_stop", &json!({ "index": index }));
    }
}

/// Merges the events of a stream into one message.
pub(super) fn whole(events: impl Iterator<Item = Value>) -> Value {
    let mut message = Value::Null;
    let mut input = String::new();
    for event in events {
        match event["type"].as_str() {
            Some("message_start") => message = event["message"].clone(),
            Some("content_block_start") => {
                input.clear();
                if let Some(content) = message["content"].as_array_mut() {
                    content.push(event["content_block"].clone());
                }
            }
            Some("content_block_delta") => {
                let Some(block) = message["content"].as_array_mut().and_then(|content| content.last_mut()) else {
                    continue;
                };
                if let Some(text) = event["delta"]["text"].as_str() {
                    block["text"] = json!(format!("{}{text}", block["text"].as_str().unwrap_or_default()));
                }
                if let Some(part) = event["delta"]["partial_json"].as_str() {
                    input.push_str(part);
                    if let Ok(whole) = serde_json::from_str(&input) {
                        block["input"] = whole;
                    }
                }
            }
            Some("message_delta") => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"]["output_tokens"] = event["usage"]["output_tokens"].clone();
            }
            _ => {}
        }
    }
    message
}
