//! Replies with more calls than any real model makes.

use docent_llm::MOST_CALLS;

use super::*;
use crate::anthropic::MessageParser;
use crate::openai::CompletionParser;

const MANY: usize = 3_000;

/// The number of calls that a parser emits for a reply, which must end well.
fn calls_given(parser: impl ReplyParser, bytes: &str) -> usize {
    let (events, ended) = decode(parser, bytes.as_bytes(), 16 << 10);
    assert_eq!(ended, Ok(()));
    assert!(matches!(events.last(), Some(Event::Done { .. })));
    let mut ids: Vec<&str> = Vec::new();
    for event in &events {
        if let Event::ToolCall { id, .. } = event {
            ids.push(id);
        }
    }
    let given = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), given, "no two calls share an id");
    given
}

#[test]
fn of_too_many_calls_one_too_many_is_given_on_either_wire() {
    let ids: [fn(usize) -> String; 3] = [|n| format!("call-{n}"), |_| "same".to_owned(), |_| String::new()];
    for id in ids {
        let openai = |n: usize| {
            let function = json!({ "name": "read", "arguments": "{\"path\":\"a.md\"}" });
            let piece = json!({ "index": n, "id": id(n), "type": "function", "function": function });
            json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [piece] } }] })
        };
        let end = [json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] })];
        let stream: Vec<Value> = (0..MANY).map(openai).chain(end).collect();
        assert_eq!(calls_given(CompletionParser::new(Default::default()), &chunks(&stream)), MOST_CALLS + 1);

        let anthropic = |n: usize| {
            let block = json!({ "type": "tool_use", "id": id(n), "name": "read", "input": { "path": "a.md" } });
            let begins = json!({ "type": "content_block_start", "index": n, "content_block": block });
            [begins, json!({ "type": "content_block_stop", "index": n })]
        };
        let end = [
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
            json!({ "type": "message_stop" }),
        ];
        let stream: Vec<Value> = (0..MANY).flat_map(anthropic).chain(end).collect();
        assert_eq!(calls_given(MessageParser::new(Default::default()), &frames(&stream)), MOST_CALLS + 1);
    }
}

#[test]
fn so_are_those_that_are_written_as_text_and_fences_without_one_are_passed_by() {
    let stream = |text: String| {
        let said = json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": "stop" }] });
        chunks(&[said]) + "data: [DONE]\n\n"
    };
    let reply = || CompletionParser::new(Default::default()).reading_calls_in_text(&[read_tool()]);
    let call = r#"<tool_call>{"name":"read","arguments":{"path":"a.md"}}</tool_call>"#;
    assert_eq!(calls_given(reply(), &stream(call.repeat(MANY / 2))), MOST_CALLS + 1);
    assert_eq!(calls_given(reply(), &stream("``` ".repeat(MANY) + call)), 1);
}
