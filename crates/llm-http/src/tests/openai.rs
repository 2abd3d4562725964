use docent_llm::{Editor, Event, Model, ToolChoice};
use docent_types::{FinishReason, Usage};
use serde_json::{Value, json};

use super::*;
use crate::TokenLimit;
use crate::openai::CompletionParser;

fn delta(delta: &Value) -> Value {
    json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn piece(piece: &Value) -> Value {
    delta(&json!({ "tool_calls": [piece] }))
}

fn finish(reason: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

const DONE: &str = "data: [DONE]\n\n";

/// A reply that follows the specification: thinking, text, two calls, usage.
pub(super) fn reply() -> String {
    let frames = [
        delta(&json!({ "role": "assistant", "content": null, "refusal": null })),
        delta(&json!({ "reasoning_content": "hm" })),
        delta(&json!({ "content": "Ich schaue " })),
        delta(&json!({ "content": "nach – 😀." })),
        piece(&json!({ "index": 0, "id": "k1", "type": "function", "function": { "name": "read", "arguments": "" } })),
        piece(&json!({ "index": 0, "function": { "arguments": "{\"path\": \"ü" } })),
        piece(&json!({ "index": 0, "function": { "arguments": ".md\"}" } })),
        piece(
            &json!({ "index": 1, "id": "k2", "type": "function", "function": { "name": "check_docs", "arguments": "{}" } }),
        ),
        finish(&json!("tool_calls")),
        json!({ "choices": [], "usage": { "prompt_tokens": 330, "completion_tokens": 42, "total_tokens": 372,
            "prompt_tokens_details": { "cached_tokens": 300 } } }),
    ];
    chunks(&frames) + DONE
}

pub(super) fn events() -> Vec<Event> {
    let usage = Usage { input_tokens: 330, output_tokens: 42, cached_input_tokens: 300 };
    vec![
        text("Ich schaue nach – 😀."),
        call("k1", "read", json!({ "path": "ü.md" })),
        call("k2", "check_docs", json!({})),
        Event::Done { reason: FinishReason::ToolCalls, usage },
    ]
}

#[tokio::test]
async fn a_request_is_put_as_chat_messages() {
    let mut server = Server::answering(vec![sse(&reply())]).await;
    let (got, ended) = ask(&openai(&server.base()), long_request()).await;
    ended.expect("a whole reply");
    assert_eq!(joined(got), events());
    let asked = server.was_asked().await;
    assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
    assert!(asked.head.contains("authorization: Bearer sk-test-0123456789\r\n"), "{}", asked.head);
    insta::assert_json_snapshot!("openai_request", asked.body);
}

#[tokio::test]
async fn a_model_may_be_held_to_its_tools_or_kept_from_them() {
    let mut server = Server::answering(vec![sse(&reply()), sse(&reply())]).await;
    let dialect =
        Dialect { force_tools: true, token_limit: Some(TokenLimit::MaxCompletionTokens), ..Dialect::default() };
    let keyless = Endpoint { key: None, ..endpoint(&server.base()) };
    let model = OpenAi::new(client(), keyless, dialect).expect("a base URL");
    ask(&model, request()).await.1.expect("a reply");
    let asked = server.was_asked().await;
    assert_eq!((&asked.body["tool_choice"], &asked.body["max_completion_tokens"]), (&json!("required"), &json!(4096)));
    assert!(!asked.head.contains("authorization"), "{}", asked.head);
    ask(&model, Request { tool_choice: ToolChoice::None, ..request() }).await.1.expect("a reply");
    let body = server.was_asked().await.body;
    assert_eq!((&body["tool_choice"], &body["tools"][0]["type"]), (&json!("none"), &json!("function")));
}

#[tokio::test]
async fn unsupported_parameters_are_left_out_from_then_on() {
    let no_options =
        json!({ "error": { "message": "Unrecognized request argument supplied: stream_options", "code": null } });
    let other_name = json!({ "error": { "param": "max_tokens", "type": "invalid_request_error",
        "message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." } });
    let answers = vec![
        json_answer("400 Bad Request", &[], &no_options),
        sse(&reply()),
        json_answer("400 Bad Request", &[], &other_name),
        sse(&reply()),
        sse(&reply()),
        json_answer("400 Bad Request", &[], &no_options),
        json_answer("400 Bad Request", &[], &no_options),
        json_answer("400 Bad Request", &[], &other_name),
        sse(&reply()),
    ];
    let mut server = Server::answering(answers).await;
    let model = openai(&server.base());
    for _ in 0..3 {
        ask(&model, request()).await.1.expect("a reply");
    }
    let mut asked = Vec::new();
    for _ in 0..5 {
        let body = server.was_asked().await.body;
        asked.push((
            body["stream_options"].is_object(),
            body["max_tokens"].is_u64(),
            body["max_completion_tokens"].is_u64(),
        ));
    }
    let (all, less, other) = ((true, true, false), (false, true, false), (false, false, true));
    assert_eq!(asked, [all, less, less, other, other]);
    let error = ask(&model, request()).await.1.expect_err("it was left out already");
    assert_eq!(error.kind, docent_llm::ModelErrorKind::Fatal);
    let new = openai(&server.base());
    ask(&new, request()).await.1.expect("both in one call");
}

#[test]
fn the_address_is_understood_with_or_without_its_path() {
    for (base, understood) in [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://h/v1/chat/completions", "https://h/v1"),
        ("https://h/openai", "https://h/openai"),
    ] {
        assert_eq!(openai(base).exchange.upstream.base.to_string(), understood, "{base}");
    }
    let own = OpenAi::new(client(), Endpoint::new("m"), Dialect::default()).expect("its own base");
    assert_eq!(own.exchange.upstream.base.to_string(), "https://api.openai.com/v1");
    assert_eq!(own.wording().token_limit, TokenLimit::MaxCompletionTokens);
    let description = own.describe();
    assert_eq!((description.to_string().as_str(), description.context_tokens), ("openai m", 128_000));
    assert_eq!(description.editor, Editor::Separate);
}

#[test]
fn calls_are_put_together_however_a_server_sends_them() {
    let read = |id: &str, path: &str| call(id, "read", json!({ "path": path }));
    let whole = |path: &str| json!({ "name": "read", "arguments": format!("{{\"path\":\"{path}\"}}") });
    let part = |text: &str| json!({ "arguments": text });
    for (way, pieces, expected) in [
        (
            "whole, all with the same index",
            vec![
                json!({ "index": 0, "id": "x", "function": whole("a") }),
                json!({ "index": 0, "id": "y", "function": whole("b") }),
            ],
            vec![read("x", "a"), read("y", "b")],
        ),
        (
            "whole, without index and id",
            vec![json!({ "function": whole("a") }), json!({ "function": whole("b") })],
            vec![read("call_0_0", "a"), read("call_0_1", "b")],
        ),
        (
            "without index, in pieces",
            vec![
                json!({ "id": "x", "function": { "name": "read", "arguments": "{\"path\"" } }),
                json!({ "function": part(":\"a\"}") }),
                json!({ "id": "y", "function": { "name": "read", "arguments": "{\"path\"" } }),
                json!({ "id": "y", "function": part(":\"b\"}") }),
            ],
            vec![read("x", "a"), read("y", "b")],
        ),
        (
            "id and name in every piece",
            vec![
                json!({ "index": 0, "id": "x", "function": { "name": "read", "arguments": "{\"path\"" } }),
                json!({ "index": 0, "id": "x", "function": { "name": "read", "arguments": ":\"a\"}" } }),
            ],
            vec![read("x", "a")],
        ),
        (
            "another id in every piece",
            vec![
                json!({ "index": 0, "id": "x", "function": { "name": "read", "arguments": "{\"path\"" } }),
                json!({ "index": 0, "id": "z", "function": { "name": null, "arguments": ":\"a\"}" } }),
            ],
            vec![read("x", "a")],
        ),
        (
            "arguments as an object, and none",
            vec![
                json!({ "index": 0, "id": "x", "function": { "name": "read", "arguments": { "path": "a" } } }),
                json!({ "index": 1, "id": "y", "function": { "name": "finish", "arguments": "" } }),
                json!({ "index": 2, "id": "y", "function": { "name": "finish", "arguments": null } }),
            ],
            vec![read("x", "a"), call("y", "finish", json!({})), call("call_0_0", "finish", json!({}))],
        ),
        (
            "interleaved",
            vec![
                json!({ "index": 1, "id": "y", "function": { "name": "read", "arguments": "{\"path\"" } }),
                json!({ "index": 0, "id": "x", "function": { "name": "read", "arguments": "{\"path\"" } }),
                json!({ "index": 1, "function": part(":\"b\"}") }),
                json!({ "index": 0, "function": part(":\"a\"}") }),
            ],
            vec![read("y", "b"), read("x", "a")],
        ),
        (
            "no JSON",
            vec![json!({ "index": 0, "id": "x", "function": { "name": "read", "arguments": "path=a" } })],
            vec![call("x", "read", json!("path=a"))],
        ),
    ] {
        let frames: Vec<_> = pieces.iter().map(piece).chain([finish(&json!("stop"))]).collect();
        let (mut events, ended) = decode(CompletionParser::default(), chunks(&frames).as_bytes(), 9999);
        let done = Event::Done { reason: FinishReason::ToolCalls, usage: Usage::default() };
        assert_eq!((events.pop(), ended), (Some(done), Ok(())), "{way}");
        assert_eq!(events, expected, "{way}");
    }
}

#[test]
fn the_way_of_calling_functions_before_tools_is_known() {
    let frames = [
        delta(&json!({ "function_call": { "name": "read", "arguments": "{\"path\":" } })),
        delta(&json!({ "function_call": { "arguments": "\"a\"}" } })),
        finish(&json!("function_call")),
    ];
    let (events, ended) = decode(CompletionParser::default(), chunks(&frames).as_bytes(), 9999);
    assert_eq!((&events[0], ended), (&call("call_0_0", "read", json!({ "path": "a" })), Ok(())));
}

#[test]
fn every_reason_to_stop_has_its_meaning_and_the_end_may_be_missing() {
    let hi = || delta(&json!({ "content": [{ "type": "text", "text": "hi" }] }));
    for (reason, meaning) in [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        // This reason announces calls, but there are none.
        ("tool_calls", FinishReason::Stop),
        ("eos", FinishReason::Stop),
        ("a new one", FinishReason::Other),
    ] {
        let stream = chunks(&[hi(), finish(&json!(reason))]);
        for end in ["", DONE, "data: [DONE]"] {
            let (events, ended) = decode(CompletionParser::default(), (stream.clone() + end).as_bytes(), 9999);
            let done = Event::Done { reason: meaning, usage: Usage::default() };
            assert_eq!((events, ended), (vec![text("hi"), done], Ok(())), "{reason}");
        }
    }
    let whole = |stream: String| decode(CompletionParser::default(), stream.as_bytes(), 9999);
    assert_eq!(whole(chunks(&[hi()]) + DONE).1, Ok(()), "a server that gives no reason");
    assert_eq!(
        whole(chunks(&[hi(), finish(&json!("content_filter"))]) + DONE),
        (vec![text("hi")], Err(ReplyError::Refused))
    );
    let refuses = || delta(&json!({ "refusal": "I cannot help with that." }));
    assert_eq!(whole(chunks(&[refuses(), finish(&json!("stop"))]) + DONE), (vec![], Err(ReplyError::Refused)));
    assert_eq!(whole(chunks(&[refuses()]) + DONE).1, Err(ReplyError::Refused));
    assert_eq!(whole(chunks(&[hi()])), (vec![text("hi")], Err(ReplyError::Cut)));
    assert_eq!(whole(DONE.to_owned()), (vec![], Err(ReplyError::Cut)));
    assert_eq!(whole(chunks(&[hi(), finish(&json!("error"))])).1, Err(ReplyError::Cut));
}

#[test]
fn a_call_written_as_text_counts_where_that_is_wanted_and_none_was_made() {
    let say = |text: &str| delta(&json!({ "content": text }));
    let stream = chunks(&[
        say("Let me see.\n<tool_"),
        say("call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}"),
        say("</tool_call>"),
        finish(&json!("stop")),
    ]);
    let reading = || CompletionParser::default().reading_calls_in_text(&[read_tool()]);
    let (events, ended) = decode(reading(), stream.as_bytes(), 9999);
    let done = |reason| Event::Done { reason, usage: Usage::default() };
    assert_eq!(ended, Ok(()));
    assert_eq!(
        events,
        [text("Let me see."), call("call_0_0", "read", json!({ "path": "a" })), done(FinishReason::ToolCalls)]
    );
    let (events, _) = decode(CompletionParser::default(), stream.as_bytes(), 9999);
    assert_eq!((events.len(), events.last()), (2, Some(&done(FinishReason::Stop))));

    let both = chunks(&[
        say("{\"name\":\"read\"}"),
        piece(&json!({ "index": 0, "id": "x", "function": { "name": "read" } })),
        finish(&json!("tool_calls")),
    ]);
    let (events, _) = decode(reading(), both.as_bytes(), 9999);
    assert_eq!(events[..2], [text("{\"name\":\"read\"}"), call("x", "read", json!({}))]);
}

#[tokio::test]
async fn a_reply_in_one_piece_is_understood_too() {
    let body = json!({ "object": "chat.completion", "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "hi", "tool_calls": [
            { "id": "t", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a\"}" } } ] } }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": null } });
    let server = Server::answering(vec![json_answer("200 OK", &[], &body)]).await;
    let (events, ended) = ask(&openai(&server.base()), request()).await;
    ended.expect("a whole reply");
    let done = Event::Done { reason: FinishReason::ToolCalls, usage: Usage::of(3, 2) };
    assert_eq!(events, [text("hi"), call("t", "read", json!({ "path": "a" })), done]);
}
