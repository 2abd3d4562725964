use std::sync::Arc;

use docent_types::{MessageId, Usage};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;

fn encoded(finish: FinishStyle, events: &[StreamEvent]) -> String {
    let mut stream = UiMessageStream::new(finish);
    let mut out = BytesMut::new();
    for event in events {
        stream.encode(event, &mut out);
    }
    String::from_utf8(out.to_vec()).expect("frames are UTF-8")
}

fn message() -> MessageId {
    MessageId::new(Uuid::from_u128(1))
}

fn thread() -> ThreadId {
    ThreadId::new(Uuid::from_u128(2))
}

fn passage() -> Passage {
    Passage {
        path: "guides/retries".into(),
        href: "/guides/retries#backoff".into(),
        title: "Retries".into(),
        headings: vec!["Backoff".into()],
        content: "Wait \"twice\" as long\neach time.".into(),
        score: 0.75,
        version: None,
        language: None,
    }
}

fn delta(text: &str) -> StreamEvent {
    StreamEvent::TextDelta { id: "0".into(), text: text.into() }
}

fn finish(thread_id: Option<ThreadId>) -> StreamEvent {
    StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::of(10, 5), thread_id }
}

fn reply() -> Vec<StreamEvent> {
    vec![
        StreamEvent::Start { message_id: message(), thread_id: Some(thread()) },
        StreamEvent::StepStart,
        StreamEvent::ToolCall { id: "c1".into(), name: "search".into(), input: json!({"query": "retries"}) },
        StreamEvent::ToolResult { id: "c1".into(), output: ToolOutput::Passages(vec![passage().into()]) },
        StreamEvent::Source { id: "s1".into(), passage: passage().into() },
        StreamEvent::TextStart { id: "0".into() },
        delta("Retries "),
        delta("wait.\r\nÜnïcode 🎈"),
        StreamEvent::TextEnd { id: "0".into() },
        StreamEvent::StepFinish { reason: FinishReason::Stop, usage: Usage::default() },
        finish(Some(thread())),
    ]
}

#[test]
fn a_whole_reply_for_a_plain_reader() {
    assert!(crate::Grammar::check(&reply()).is_ok());
    assert_snapshot!(encoded(FinishStyle::Open, &reply()), @r##"
    data: {"type":"start","messageId":"00000000-0000-0000-0000-000000000001","messageMetadata":{"threadId":"00000000-0000-0000-0000-000000000002"}}

    data: {"type":"start-step"}

    data: {"type":"tool-input-available","toolCallId":"c1","toolName":"search","input":{"query":"retries"}}

    data: {"type":"tool-output-available","toolCallId":"c1","output":{"type":"search","results":[{"content":"# Retries\n## Backoff\n\nWait \"twice\" as long\neach time.","path":"guides/retries","metadata":{"title":"Retries","href":"/guides/retries#backoff","score":0.75}}]}}

    data: {"type":"source-url","sourceId":"s1","url":"/guides/retries#backoff","title":"Retries","providerMetadata":{"docent":{"path":"guides/retries","score":0.75}}}

    data: {"type":"text-start","id":"0"}

    data: {"type":"text-delta","id":"0","delta":"Retries "}

    data: {"type":"text-delta","id":"0","delta":"wait.\r\nÜnïcode 🎈"}

    data: {"type":"text-end","id":"0"}

    data: {"type":"finish-step"}

    data: {"type":"finish","finishReason":"stop","threadId":"00000000-0000-0000-0000-000000000002","messageMetadata":{"threadId":"00000000-0000-0000-0000-000000000002","finishReason":"stop"}}

    data: [DONE]
    "##);
}

#[test]
fn the_bytes_end_in_done_and_a_blank_line() {
    let bytes = encoded(FinishStyle::Open, &reply());
    assert!(bytes.ends_with("}\n\ndata: [DONE]\n\n"));
    assert!(!bytes.contains('\r'), "line breaks of the text are escaped");
}

#[test]
fn a_strict_finish_says_everything_in_its_metadata() {
    assert_snapshot!(encoded(FinishStyle::Strict, &[finish(Some(thread()))]), @r##"
    data: {"type":"finish","messageMetadata":{"threadId":"00000000-0000-0000-0000-000000000002","finishReason":"stop"}}

    data: [DONE]
    "##);
}

#[test]
fn unknown_fields_are_left_out_and_never_null() {
    let nameless = Passage { title: String::new(), score: f32::NAN, ..passage() };
    let events = [
        StreamEvent::Start { message_id: message(), thread_id: None },
        StreamEvent::ToolResult { id: "c1".into(), output: ToolOutput::Passages(vec![nameless.clone().into()]) },
        StreamEvent::Source { id: "s1".into(), passage: nameless.into() },
        StreamEvent::Data { name: "status", id: None, value: json!("active") },
        finish(None),
    ];
    assert_snapshot!(encoded(FinishStyle::Open, &events), @r##"
    data: {"type":"start","messageId":"00000000-0000-0000-0000-000000000001"}

    data: {"type":"tool-output-available","toolCallId":"c1","output":{"type":"search","results":[{"content":"# Backoff\n\nWait \"twice\" as long\neach time.","path":"guides/retries","metadata":{"title":"","href":"/guides/retries#backoff"}}]}}

    data: {"type":"source-url","sourceId":"s1","url":"/guides/retries#backoff","providerMetadata":{"docent":{"path":"guides/retries"}}}

    data: {"type":"data-status","data":"active"}

    data: {"type":"finish","finishReason":"stop","messageMetadata":{"finishReason":"stop"}}

    data: [DONE]
    "##);
}

#[test]
fn tools_of_any_name_and_data_with_an_id() {
    let events = [
        StreamEvent::ToolCall { id: "c2".into(), name: "edit_page".into(), input: json!({"path": "a.md"}) },
        StreamEvent::ToolResult { id: "c2".into(), output: ToolOutput::Json(json!({"ok": true})) },
        StreamEvent::Data { name: "todos", id: Some("todos".into()), value: json!([{"id": "1"}]) },
        StreamEvent::KeepAlive,
    ];
    assert_snapshot!(encoded(FinishStyle::Strict, &events), @r##"
    data: {"type":"tool-input-available","toolCallId":"c2","toolName":"edit_page","input":{"path":"a.md"}}

    data: {"type":"tool-output-available","toolCallId":"c2","output":{"ok":true}}

    data: {"type":"data-todos","id":"todos","data":[{"id":"1"}]}

    : keep-alive
    "##);
}

#[test]
fn an_error_ends_the_reply_without_a_finish() {
    let error = StreamEvent::Error { sentence: "The model stopped answering. Ask again.".into() };
    assert_snapshot!(encoded(FinishStyle::Open, &[delta("Retr"), error, delta("ies"), finish(None)]), @r##"
    data: {"type":"text-delta","id":"0","delta":"Retr"}

    data: {"type":"error","errorText":"The model stopped answering. Ask again."}
    "##);
}

#[test]
fn the_end_is_known_to_the_caller() {
    for last in [finish(None), StreamEvent::Error { sentence: "No.".into() }] {
        let mut stream = UiMessageStream::new(FinishStyle::Strict);
        let mut out = BytesMut::new();
        stream.encode(&delta("a"), &mut out);
        assert!(!stream.ended());
        stream.encode(&last, &mut out);
        assert!(stream.ended());
    }
}

#[test]
fn a_delta_of_plain_text_needs_no_second_growth_of_the_buffer() {
    let mut stream = UiMessageStream::new(FinishStyle::Strict);
    let mut out = BytesMut::with_capacity(4096);
    let start = out.as_ptr();
    for _ in 0..50 {
        stream.encode(&delta("ordinary words"), &mut out);
        assert_eq!(out.as_ptr(), start);
        out.clear();
    }
}

/// Parses frames in the way of the clients: events end at a blank line, comments are skipped, `data:` is JSON.
fn decoded(bytes: &str) -> Vec<Value> {
    assert!(bytes.is_empty() || bytes.ends_with("\n\n"), "the last frame has its blank line");
    bytes
        .split_terminator("\n\n")
        .filter(|frame| !frame.starts_with(':'))
        .map(|frame| {
            let data = frame.strip_prefix("data: ").expect("a frame is one data line");
            assert!(!data.contains(['\n', '\r']), "a frame is one line");
            data
        })
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).expect("a frame is JSON"))
        .collect()
}

proptest! {
    #[test]
    fn any_text_arrives_as_it_was(texts in prop::collection::vec(any::<String>(), 0..8), id in any::<String>()) {
        let events: Vec<_> =
            texts.iter().map(|text| StreamEvent::TextDelta { id: id.as_str().into(), text: text.clone() }).collect();
        let frames = decoded(&encoded(FinishStyle::Open, &events));
        prop_assert_eq!(frames.len(), texts.len());
        for (frame, text) in frames.iter().zip(&texts) {
            prop_assert_eq!(frame, &json!({"type": "text-delta", "id": &id, "delta": text}));
        }
    }

    #[test]
    fn any_passages_arrive_as_they_were(texts in prop::collection::vec(any::<String>(), 0..4), eighths in 0_u8..=8) {
        let score = f32::from(eighths) / 8.0;
        let found = texts.iter().map(|text| Passage {
            path: format!("p{text}"), href: format!("/{text}"), title: text.clone(), content: text.repeat(9), score, ..passage()
        });
        let found: Vec<Arc<Passage>> = found.map(Arc::new).collect();
        let output = ToolOutput::Passages(found.clone());
        let frames = decoded(&encoded(FinishStyle::Open, &[StreamEvent::ToolResult { id: "c".to_owned(), output }]));
        let results: Vec<_> = texts.iter().zip(found).map(|(text, passage)| json!({
            "content": passage.under_headings(),
            "path": passage.encoded_path(),
            "metadata": { "title": text, "href": format!("/{text}"), "score": score },
        })).collect();
        let output = json!({ "type": "search", "results": results });
        prop_assert_eq!(frames, [json!({ "type": "tool-output-available", "toolCallId": "c", "output": output })]);
    }

    #[test]
    fn every_frame_is_json_without_a_null(
        text in any::<String>(),
        score in any::<f32>(),
        threaded in any::<bool>(),
        strict in any::<bool>(),
    ) {
        let thread_id = threaded.then(thread);
        let wild = Passage {
            path: text.clone(), href: text.clone(), title: text.clone(), content: text.clone(), score, ..passage()
        };
        let events = [
            StreamEvent::Start { message_id: message(), thread_id },
            StreamEvent::ToolCall { id: text.clone(), name: text.clone(), input: json!({ text.clone(): text }) },
            StreamEvent::ToolResult { id: text.clone(), output: ToolOutput::Passages(vec![wild.clone().into()]) },
            StreamEvent::Source { id: text.clone(), passage: wild.into() },
            StreamEvent::Data { name: "todos", id: threaded.then(|| text.clone()), value: json!(text) },
            StreamEvent::KeepAlive,
            finish(thread_id),
            StreamEvent::Error { sentence: text.clone() },
        ];
        let style = if strict { FinishStyle::Strict } else { FinishStyle::Open };
        let frames = decoded(&encoded(style, &events));
        prop_assert_eq!(frames.len(), 6, "a comment is no frame, and nothing follows the finish");
        for frame in frames {
            prop_assert!(frame["type"].is_string());
            prop_assert!(!has_null(&frame), "{}", frame);
        }
    }
}

#[test]
fn every_character_there_is_arrives_as_it_was() {
    let all: String = (0..=u32::from(char::MAX)).filter_map(char::from_u32).collect();
    let frames = decoded(&encoded(FinishStyle::Open, &[delta(&all)]));
    assert!(frames[0]["delta"] == json!(all));
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

#[test]
fn a_tool_that_failed_says_why() {
    let failed = StreamEvent::ToolResult { id: "c1".into(), output: ToolOutput::Error("No such page.".into()) };
    assert_snapshot!(encoded(FinishStyle::Open, &[failed]), @r#"data: {"type":"tool-output-error","toolCallId":"c1","errorText":"No such page."}"#);
}

#[test]
fn chat_clients_and_browsers_are_told_what_they_all_take() {
    let style = |headers: &[(&'static str, &'static str)], sdk, trigger| {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, http::HeaderValue::from_static(value));
        }
        FinishStyle::for_reader(&map, sdk, trigger)
    };
    for (why, style, expected) in [
        ("a script", style(&[("user-agent", "curl/8")], None, false), FinishStyle::Open),
        ("nobody we know", style(&[], Some("open"), false), FinishStyle::Open),
        ("a trigger", style(&[], None, true), FinishStyle::Strict),
        ("asked for", style(&[], Some("strict"), false), FinishStyle::Strict),
        ("asked for all of it", style(&[("origin", "null")], Some("current"), true), FinishStyle::Open),
        (
            "the SDK, asked for all of it",
            style(&[("user-agent", "ai-sdk/7")], Some("current"), true),
            FinishStyle::Open,
        ),
        ("a word nobody knows", style(&[], Some("Current"), true), FinishStyle::Strict),
        ("a browser", style(&[("origin", "null")], None, false), FinishStyle::Strict),
        ("the SDK", style(&[("user-agent", "node AI-SDK/5.0")], None, false), FinishStyle::Strict),
        (
            "the SDK's second",
            style(&[("user-agent", "a"), ("user-agent", "ai-sdk/5")], None, false),
            FinishStyle::Strict,
        ),
    ] {
        assert_eq!(style, expected, "{why}");
    }
}

/// A reply whose text comes in these pieces, as blocks.
fn as_blocks<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut stream = UiMessageStream::new(FinishStyle::Strict).with_blocks();
    let mut out = BytesMut::new();
    stream.encode(&StreamEvent::TextStart { id: "0".into() }, &mut out);
    pieces.into_iter().for_each(|piece| stream.encode(&delta(piece), &mut out));
    stream.encode(&StreamEvent::TextEnd { id: "0".into() }, &mut out);
    String::from_utf8(out.to_vec()).expect("frames are UTF-8")
}

#[test]
fn an_answer_comes_as_blocks() {
    assert_snapshot!(as_blocks(["Wait *twice", "* as long, ", "see [retries](/guides/retries):\n\n- one", "\n- two"]));
}

#[test]
fn an_answer_that_breaks_off_has_its_last_words() {
    let mut stream = UiMessageStream::new(FinishStyle::Strict).with_blocks();
    let mut out = BytesMut::new();
    // More markup than may be sent again with each letter.
    let text = "*a ".repeat(1_000) + "end";
    for piece in text.split_inclusive(' ') {
        stream.encode(&delta(piece), &mut out);
    }
    stream.encode(&StreamEvent::Error { sentence: "Ask again.".into() }, &mut out);
    let text = String::from_utf8(out.to_vec()).expect("frames are UTF-8");
    let (before, error) = text.trim_end().rsplit_once("\n\n").expect("frames");
    assert!(before.ends_with("end\"]]}") && error.ends_with(r#""errorText":"Ask again."}"#), "{before}");
}

/// 64 KiB as a model writes them, in 2,000 pieces.
#[test]
fn a_long_answer_as_blocks_is_at_most_three_times_its_text() {
    let prose = "The worker takes the oldest delivery of an endpoint first, and none of it again before the one before has ended. \
                 An endpoint that answers slowly holds up its *own* deliveries alone.\n\n";
    let part = "## How retries work\n\nA delivery that **fails** is retried `five` times with exponential backoff, see \
                [Webhooks](/guides/webhooks#retries) and the *limits*; then it is parked for a day, and `job.dead` is sent. Somebody \
                looks at it then and decides whether the endpoint may be tried again or the delivery is given up.\n\n\
                - Set `retry.max` to the number of attempts\n- Set `retry.base` to the **first** delay, for example `1s`\n\n\
                | Field | Meaning |\n|---|---|\n| `max` | How often a delivery is tried before it is parked |\n\n\
                ```ts\nconst job = await client.jobs.create({ retry: { max: 5, base: \"1s\" } });\nfor await (const event of client.jobs.events(job.id)) {\n  console.log(event.type, event.at);\n}\n```\n\n";
    let mixed = format!("{prose}{prose}{part}{prose}");
    let links = "- [Retries](/guides/retries), *then* **[Limits](/limits)**\n".repeat(6) + "\n";
    for part in [&mixed, part, &links] {
        let text = part.repeat(64 * 1024 / part.len() + 1);
        let pieces = text.as_bytes().chunks(text.len() / 2_000).map(|piece| std::str::from_utf8(piece).expect("ASCII"));
        let sent = as_blocks(pieces).len();
        assert!(sent <= 3 * text.len(), "{:.2} times of {part}", sent as f64 / text.len() as f64);
    }
}
