use docent_llm::{Editor, Event, Model, ToolChoice};
use docent_types::{FinishReason, Usage};
use serde_json::{Value, json};

use super::*;
use crate::anthropic::MessageParser;

/// A reply with thinking, text, two calls and a ping.
pub(super) fn reply() -> Vec<Value> {
    vec![
        json!({ "type": "message_start", "message": { "id": "msg_1", "role": "assistant", "content": [], "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": "x" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": "Ich schaue " } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": "nach – 😀." } }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({ "type": "content_block_start", "index": 2, "content_block": {
            "type": "tool_use", "id": "toolu_1", "name": "read", "input": {} } }),
        json!({ "type": "content_block_delta", "index": 2, "delta": { "type": "input_json_delta", "partial_json": "" } }),
        json!({ "type": "content_block_delta", "index": 2, "delta": {
            "type": "input_json_delta", "partial_json": "{\"path\": \"ü" } }),
        json!({ "type": "content_block_delta", "index": 2, "delta": {
            "type": "input_json_delta", "partial_json": ".md\"}" } }),
        json!({ "type": "content_block_stop", "index": 2 }),
        json!({ "type": "content_block_start", "index": 3, "content_block": {
            "type": "tool_use", "id": "toolu_2", "name": "check_docs", "input": {} } }),
        json!({ "type": "content_block_stop", "index": 3 }),
        json!({ "type": "something_new", "index": 4 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null },
            "usage": { "output_tokens": 42 } }),
        json!({ "type": "message_stop" }),
    ]
}

pub(super) fn events() -> Vec<Event> {
    let usage = Usage { input_tokens: 330, output_tokens: 42, cached_input_tokens: 300 };
    vec![
        text("Ich schaue nach – 😀."),
        call("toolu_1", "read", json!({ "path": "ü.md" })),
        call("toolu_2", "check_docs", json!({})),
        Event::Done { reason: FinishReason::ToolCalls, usage },
    ]
}

#[tokio::test]
async fn a_request_is_put_as_messages_and_its_stable_parts_are_marked_for_the_cache() {
    let mut server = Server::answering(vec![sse(&frames(&reply()))]).await;
    let (got, ended) = ask(&anthropic(&server.base()), long_request()).await;
    ended.expect("a whole reply");
    assert_eq!(joined(got), events());
    let asked = server.was_asked().await;
    assert_eq!(asked.line, "POST /v1/messages HTTP/1.1");
    for header in ["x-api-key: sk-test-0123456789", "anthropic-version: 2023-06-01", "content-type: application/json"] {
        assert!(asked.head.contains(&format!("{header}\r\n")), "{}", asked.head);
    }
    insta::assert_json_snapshot!("anthropic_request", asked.body);
}

#[tokio::test]
async fn tools_stay_declared_where_none_may_be_called_and_a_reply_is_limited() {
    let answers = vec![sse(&frames(&reply())), sse(&frames(&reply()))];
    let mut server = Server::answering(answers).await;
    let limited = Endpoint { max_reply_tokens: Some(1000), ..endpoint(&server.base()) };
    let model = Anthropic::new(client(), limited).expect("a base URL");
    let mut request = request();
    request.tool_choice = ToolChoice::None;
    request.system.clear();
    ask(&model, request.clone()).await.1.expect("a reply");
    let body = server.was_asked().await.body;
    assert_eq!((&body["tool_choice"], &body["max_tokens"]), (&json!({ "type": "none" }), &json!(1000)));
    assert_eq!((&body["tools"][0]["name"], &body["system"]), (&json!("read"), &Value::Null));

    // A conversation must begin with the user, even if its beginning was cut off.
    request.tools.clear();
    request.messages.insert(0, Message::text(Role::Assistant, "I am here."));
    ask(&model, request).await.1.expect("a reply");
    let body = server.was_asked().await.body;
    let roles: Vec<_> = body["messages"].as_array().expect("messages").iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!((&body["tools"], &body["tool_choice"]), (&Value::Null, &Value::Null));
}

#[test]
fn it_is_described_with_what_it_can_do() {
    let description = anthropic("https://example.com").describe();
    assert_eq!((description.to_string().as_str(), description.context_tokens), ("anthropic model-1", 200_000));
    assert_eq!((description.editor, description.costs), (Editor::TextEditor, true));
    let shown = format!("{:?}", anthropic("https://example.com"));
    assert!(!shown.contains("0123456789"), "{shown}");
}

#[test]
fn the_address_is_understood_with_or_without_the_path_of_the_api() {
    for base in ["https://h/x", "https://h/x/", "https://h/x/v1", "https://h/x/v1/", "https://h/x/v1/messages"] {
        let model = Anthropic::new(client(), endpoint(base)).expect(base);
        assert_eq!(model.exchange.upstream.base.to_string(), "https://h/x", "{base}");
    }
    let own = Anthropic::new(client(), Endpoint::new("m")).expect("its own base");
    assert_eq!(own.exchange.upstream.base.to_string(), "https://api.anthropic.com");
    assert!(Anthropic::new(client(), endpoint("example.com")).is_err());
}

/// The end of a reply that says "hi", with this reason.
fn ending(reason: &Value) -> String {
    frames(&[
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "hi" } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ])
}

#[test]
fn every_reason_to_stop_has_its_meaning() {
    for (reason, meaning) in [
        (json!("end_turn"), FinishReason::Stop),
        (json!("stop_sequence"), FinishReason::Stop),
        (json!("max_tokens"), FinishReason::Length),
        (json!("model_context_window_exceeded"), FinishReason::Length),
        (json!("pause_turn"), FinishReason::Other),
        (json!("a new one"), FinishReason::Other),
        (Value::Null, FinishReason::Stop),
    ] {
        let (events, ended) = decode(MessageParser::default(), ending(&reason).as_bytes(), 9999);
        assert_eq!((events.last(), ended), (Some(&Event::Done { reason: meaning, usage: Usage::of(0, 1) }), Ok(())));
    }
    let (events, ended) = decode(MessageParser::default(), ending(&json!("refusal")).as_bytes(), 9999);
    assert_eq!((events, ended), (vec![text("hi")], Err(ReplyError::Refused)));
}

#[test]
fn a_call_cut_by_the_limit_arrives_as_the_text_it_is() {
    let stream = frames(&[
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "t", "name": "read" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": "{\"pa" } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "max_tokens" } }),
        json!({ "type": "message_stop" }),
    ]);
    let (events, ended) = decode(MessageParser::default(), stream.as_bytes(), 9999);
    assert_eq!(ended, Ok(()));
    assert_eq!(events[0], call("t", "read", json!("{\"pa")));
    assert!(matches!(events[1], Event::Done { reason: FinishReason::Length, .. }));
}

#[tokio::test]
async fn a_reply_in_one_piece_is_understood_too() {
    let body = json!({ "type": "message", "content": [
        { "type": "text", "text": "hi" }, { "type": "tool_use", "id": "t", "name": "read", "input": { "path": "a" } } ],
        "stop_reason": "tool_use", "usage": { "input_tokens": 3, "output_tokens": 2 } });
    let server = Server::answering(vec![json_answer("200 OK", &[], &body)]).await;
    let (events, ended) = ask(&anthropic(&server.base()), request()).await;
    ended.expect("a whole reply");
    let done = Event::Done { reason: FinishReason::ToolCalls, usage: Usage::of(3, 2) };
    assert_eq!(events, [text("hi"), call("t", "read", json!({ "path": "a" })), done]);
}
