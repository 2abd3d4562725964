//! Chat completions: validates requests, and streams replies.

use serde_json::{Value, json};

use super::asked::Wire;
use super::frames::{Frame, Frames, fragments, pieces};
use super::reply::{ErrorBody, Refusal, Reply, ReplyStep, StopReason};

/// The reason why the service would refuse the request.
pub(super) fn fault(body: &Value) -> Option<String> {
    if !body["model"].is_string() {
        return Some("you must provide a model parameter".to_owned());
    }
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if messages.is_empty() {
        return Some("Invalid 'messages': empty array. Expected an array with minimum length 1.".to_owned());
    }
    for (n, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        if tool["type"] != "function" || !tool["function"]["name"].is_string() {
            return Some(format!("Missing required parameter: 'tools[{n}].function.name'."));
        }
    }
    calls_fault(messages)
}

fn calls_fault(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(at) = open.iter().position(|open| *open == id) else {
                return Some(format!(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                     'tool_calls' (messages[{n}])."
                ));
            };
            open.remove(at);
            continue;
        }
        if let Some(fault) = unanswered(&open) {
            return Some(fault);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            if call["type"] != "function" || !call["function"]["arguments"].is_string() {
                return Some(format!("Invalid type for 'messages[{n}].tool_calls[0].function.arguments'."));
            }
            open.push(call["id"].as_str().unwrap_or_default());
        }
        let has_calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        if message["content"].is_null() && !has_calls {
            return Some(format!("Invalid value for 'content': expected a string, got null. (messages[{n}])"));
        }
    }
    unanswered(&open)
}

fn unanswered(open: &[&str]) -> Option<String> {
    (!open.is_empty()).then(|| {
        format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            open.join(", ")
        )
    })
}

pub(super) fn error(refusal: &Refusal) -> Value {
    let (kind, code, message) = match (refusal.status, &refusal.why) {
        (_, ErrorBody::TooLong) => (
            "invalid_request_error",
            json!("context_length_exceeded"),
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 215000 tokens.",
        ),
        (401, _) => ("invalid_request_error", json!("invalid_api_key"), "Incorrect API key provided."),
        (403, _) => ("invalid_request_error", Value::Null, "You are not allowed to use this model."),
        (404, _) => ("invalid_request_error", json!("model_not_found"), "The model does not exist."),
        (429, _) => ("requests", json!("rate_limit_exceeded"), "Rate limit reached for requests."),
        (400, _) => ("invalid_request_error", Value::Null, "The request is not valid."),
        _ => ("server_error", Value::Null, "The server had an error while processing your request."),
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}

/// The error body for a request that the service would refuse.
pub(super) fn told(kind: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
}

/// The frames of a reply.
pub(super) fn frames(reply: &Reply, body: &Value, input: u64, id: &str) -> Frames {
    let (input, output) = reply.usage.unwrap_or((input, reply.tokens()));
    let with_usage = body["stream"] != true || body["stream_options"]["include_usage"] == true;
    let mut frames = Frames::new(Wire::OpenAi);
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{id}"),
            "object": "chat.completion.chunk",
            "created": 1_780_000_000,
            "model": body["model"],
            "service_tier": "default",
            "system_fingerprint": "fp_50cad350e4",
            "choices": choices,
        });
        if with_usage {
            chunk["usage"] = usage;
        }
        chunk.to_string()
    };
    let delta = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        chunk(json!([choice]), Value::Null)
    };
    let speaks = reply.beats.iter().any(|beat| matches!(beat, ReplyStep::Text(_)));
    let content = if speaks || !reply.has_calls() { json!("") } else { Value::Null };
    frames.data(&delta(json!({ "role": "assistant", "content": content, "refusal": null }), Value::Null));
    let mut index = 0;
    for beat in &reply.beats {
        match beat {
            ReplyStep::Text(text) => {
                for piece in pieces(text) {
                    frames.data(&delta(json!({ "content": piece }), Value::Null));
                }
            }
            ReplyStep::Call(tool, input) => {
                let call = json!({
                    "index": index,
                    "id": format!("call_{id}{index:02}"),
                    "type": "function",
                    "function": { "name": tool, "arguments": "" },
                });
                frames.data(&delta(json!({ "tool_calls": [call] }), Value::Null));
                for part in fragments(input) {
                    let call = json!({ "index": index, "function": { "arguments": part } });
                    frames.data(&delta(json!({ "tool_calls": [call] }), Value::Null));
                }
                index += 1;
            }
            ReplyStep::Error(kind) => {
                let error = json!({ "error": { "message": "Overloaded", "type": kind, "code": null } });
                frames.data(&error.to_string());
                frames.push(Frame::End);
                return frames;
            }
            other => frames.other(other),
        }
    }
    let reason = match reply.stop {
        Some(StopReason::Length) => "length",
        Some(StopReason::Refused) => "content_filter",
        None if reply.has_calls() => "tool_calls",
        None => "stop",
    };
    frames.data(&delta(json!({}), json!(reason)));
    if with_usage {
        let details = json!({ "cached_tokens": 0, "audio_tokens": 0 });
        let usage = json!({
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input + output,
            "prompt_tokens_details": details,
        });
        frames.data(&chunk(json!([]), usage));
    }
    frames.data("[DONE]");
    frames.push(Frame::End);
    frames
}

/// Merges the chunks of a stream into one completion.
pub(super) fn whole(chunks: impl Iterator<Item = Value>) -> Value {
    let mut text = String::new();
    let mut calls: Vec<Value> = Vec::new();
    let (mut last, mut finish, mut usage) = (Value::Null, Value::Null, Value::Null);
    for chunk in chunks {
        let choice = &chunk["choices"][0];
        text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for part in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let function = &part["function"];
            if part["id"].is_string() {
                let function = json!({ "name": function["name"], "arguments": "" });
                calls.push(json!({ "id": part["id"], "type": "function", "function": function }));
            } else if let Some(call) = calls.last_mut() {
                let (so_far, more) = (&call["function"]["arguments"], &function["arguments"]);
                let arguments = format!("{}{}", so_far.as_str().unwrap_or_default(), more.as_str().unwrap_or_default());
                call["function"]["arguments"] = json!(arguments);
            }
        }
        if choice["finish_reason"].is_string() {
            finish = choice["finish_reason"].clone();
        }
        if chunk["usage"].is_object() {
            usage = chunk["usage"].clone();
        }
        last = chunk;
    }
    let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish });
    json!({
        "id": last["id"],
        "object": "chat.completion",
        "created": last["created"],
        "model": last["model"],
        "choices": [choice],
        "usage": usage,
    })
}
