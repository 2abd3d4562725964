use std::collections::HashSet;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::Grammar;

fn encoded(events: &[StreamEvent]) -> String {
    let mut stream = DataStream::new();
    let mut out = BytesMut::new();
    for event in events {
        stream.encode(event, &mut out);
    }
    String::from_utf8(out.to_vec()).expect("lines are UTF-8")
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

fn search(id: &str) -> StreamEvent {
    StreamEvent::ToolCall { id: id.into(), name: "search".into(), input: json!({"query": "retries"}) }
}

fn found(id: &str, output: ToolOutput) -> StreamEvent {
    StreamEvent::ToolResult { id: id.into(), output }
}

fn step_finish(reason: FinishReason, usage: Usage) -> StreamEvent {
    StreamEvent::StepFinish { reason, usage }
}

fn finish(thread_id: Option<ThreadId>) -> StreamEvent {
    StreamEvent::Finish { reason: FinishReason::Stop, usage: Usage::of(19, 8), thread_id }
}

fn reply() -> Vec<StreamEvent> {
    vec![
        StreamEvent::Start { message_id: message(), thread_id: Some(thread()) },
        StreamEvent::StepStart,
        search("c1"),
        found("c1", ToolOutput::Passages(vec![passage().into()])),
        step_finish(FinishReason::ToolCalls, Usage::of(9, 3)),
        StreamEvent::StepStart,
        StreamEvent::Source { id: "s1".into(), passage: passage().into() },
        StreamEvent::TextStart { id: "0".into() },
        delta("Retries "),
        StreamEvent::KeepAlive,
        StreamEvent::Data { name: "status", id: None, value: json!("active") },
        delta("wait.\r\nÜnïcode 🎈"),
        StreamEvent::TextEnd { id: "0".into() },
        step_finish(FinishReason::Stop, Usage::of(10, 5)),
        finish(Some(thread())),
    ]
}

#[test]
fn a_whole_reply_of_two_steps() {
    Grammar::check(&reply()).expect("in order");
    let bytes = encoded(&reply());
    assert!(bytes.ends_with("}\n") && !bytes.contains('\r'), "{bytes}");
    assert_snapshot!(bytes, @r##"
    f:{"messageId":"00000000-0000-0000-0000-000000000001"}
    8:[{"threadId":"00000000-0000-0000-0000-000000000002"}]
    9:{"toolCallId":"c1","toolName":"search","args":{"query":"retries"}}
    a:{"toolCallId":"c1","result":{"type":"search","results":[{"content":"# Retries\n## Backoff\n\nWait \"twice\" as long\neach time.","path":"guides/retries","url":"/guides/retries#backoff","metadata":{"title":"Retries","href":"/guides/retries#backoff","score":0.75}}],"content":"# Retries\n## Backoff\n\nWait \"twice\" as long\neach time.","path":"guides/retries","url":"/guides/retries#backoff","metadata":{"title":"Retries","href":"/guides/retries#backoff","score":0.75}}}
    e:{"finishReason":"tool-calls","usage":{"promptTokens":9,"completionTokens":3},"isContinued":false}
    f:{"messageId":"00000000-0000-0000-0000-000000000001"}
    h:{"sourceType":"url","id":"s1","url":"/guides/retries#backoff","title":"Retries","providerMetadata":{"docent":{"path":"guides/retries","score":0.75}}}
    0:"Retries "

    0:"wait.\r\nÜnïcode 🎈"
    e:{"finishReason":"stop","usage":{"promptTokens":10,"completionTokens":5},"isContinued":false}
    2:[{"type":"finish","threadId":"00000000-0000-0000-0000-000000000002"}]
    d:{"finishReason":"stop","usage":{"promptTokens":19,"completionTokens":8},"threadId":"00000000-0000-0000-0000-000000000002"}
    "##);
}

#[test]
fn unknown_fields_are_left_out_and_never_null() {
    let nameless = Passage { title: String::new(), score: f32::NAN, ..passage() };
    let events = [
        StreamEvent::Start { message_id: message(), thread_id: None },
        StreamEvent::StepStart,
        search("c1"),
        found("c1", ToolOutput::Passages(vec![nameless.clone().into()])),
        StreamEvent::Source { id: "s1".into(), passage: nameless.into() },
        finish(None),
    ];
    assert_snapshot!(encoded(&events), @r##"
    f:{"messageId":"00000000-0000-0000-0000-000000000001"}
    9:{"toolCallId":"c1","toolName":"search","args":{"query":"retries"}}
    a:{"toolCallId":"c1","result":{"type":"search","results":[{"content":"# Backoff\n\nWait \"twice\" as long\neach time.","path":"guides/retries","url":"/guides/retries#backoff","metadata":{"title":"","href":"/guides/retries#backoff"}}],"content":"# Backoff\n\nWait \"twice\" as long\neach time.","path":"guides/retries","url":"/guides/retries#backoff","metadata":{"title":"","href":"/guides/retries#backoff"}}}
    h:{"sourceType":"url","id":"s1","url":"/guides/retries#backoff","providerMetadata":{"docent":{"path":"guides/retries"}}}
    d:{"finishReason":"stop","usage":{"promptTokens":19,"completionTokens":8}}
    "##);
}

#[test]
fn a_tool_gives_what_it_gives_and_a_failed_one_nothing() {
    let events = [
        StreamEvent::ToolCall { id: "c1".into(), name: "odd".into(), input: json!(5) },
        found("c1", ToolOutput::Json(json!({"ok": true}))),
        found("c2", ToolOutput::Json(json!([1, 2]))),
        found("c3", ToolOutput::Error("No such page.".into())),
    ];
    assert_snapshot!(encoded(&events), @r##"
    9:{"toolCallId":"c1","toolName":"odd","args":{"input":5}}
    a:{"toolCallId":"c1","result":{"ok":true}}
    a:{"toolCallId":"c2","result":[1,2]}
    a:{"toolCallId":"c3","result":{"type":"search","results":[],"content":"","path":"","url":"","metadata":{"title":"","href":""}}}
    "##);
}

#[test]
fn an_error_ends_the_reply_without_a_finish() {
    let error = StreamEvent::Error { sentence: "The model stopped answering. Ask again.".into() };
    assert_snapshot!(encoded(&[delta("Retr"), error, delta("ies"), finish(None)]), @r##"
    0:"Retr"
    3:"The model stopped answering. Ask again."
    "##);
}

#[test]
fn the_end_is_known_to_the_caller() {
    for last in [finish(None), StreamEvent::Error { sentence: "No.".into() }] {
        let mut stream = DataStream::new();
        let mut out = BytesMut::new();
        stream.encode(&delta("a"), &mut out);
        assert!(!stream.ended());
        stream.encode(&last, &mut out);
        assert!(stream.ended());
    }
}

#[test]
fn every_character_there_is_arrives_as_it_was() {
    let all: String = (0..=u32::from(char::MAX)).filter_map(char::from_u32).collect();
    let mut client = Client::default();
    client.read(encoded(&[delta(&all)]).as_bytes());
    assert!(client.text == all);
}

/// The clients' state after a reply, and all of their errors.
#[derive(Debug, Default)]
struct Client {
    text: String,
    sources: usize,
    calls: HashSet<String>,
    annotations: Vec<Value>,
    data: Vec<Value>,
    finish: Option<Value>,
    error: Option<String>,
}

impl Client {
    /// Parses the bytes of one write.
    fn read(&mut self, bytes: &[u8]) {
        assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "a client waits for the end of the line");
        let text = std::str::from_utf8(bytes).expect("no character is split");
        for line in text.split_terminator('\n').filter(|line| !line.is_empty()) {
            assert!(self.finish.is_none() && self.error.is_none(), "nothing follows the end: {line}");
            let (letter, value) = line.split_once(':').expect("a letter and a value");
            self.line(letter, serde_json::from_str(value).expect("a line holds JSON"));
        }
    }

    fn line(&mut self, letter: &str, value: Value) {
        let id = |name: &str| value[name].as_str().expect("an id").to_owned();
        match letter {
            "0" => self.text.push_str(value.as_str().expect("text is a string")),
            "2" => self.data.extend(value.as_array().expect("data is an array").clone()),
            "3" => self.error = Some(value.as_str().expect("an error is a string").to_owned()),
            "8" => self.annotations.extend(value.as_array().expect("annotations are an array").clone()),
            "9" => {
                assert!(value["args"].is_object() && value["toolName"].is_string(), "{value}");
                self.calls.insert(id("toolCallId"));
            }
            "a" => assert!(self.calls.contains(&id("toolCallId")) && value["result"]["results"].is_array(), "{value}"),
            "d" | "e" => {
                let usage = &value["usage"];
                assert!(value["finishReason"].is_string(), "{value}");
                assert!(usage["promptTokens"].is_u64() && usage["completionTokens"].is_u64(), "{value}");
                if letter == "d" {
                    self.finish = Some(value);
                }
            }
            "f" => assert!(value["messageId"].is_string(), "{value}"),
            "h" => {
                assert!(value["sourceType"] == "url" && value["url"].is_string() && value["id"].is_string(), "{value}");
                assert!(value.get("title").is_none_or(Value::is_string), "{value}");
                self.sources += 1;
            }
            other => panic!("a client knows no `{other}`"),
        }
    }
}

/// One step of a reply: the number of searches, the number of sources, and the texts in pieces.
type Step = (usize, usize, Vec<Vec<String>>);

fn any_step() -> impl Strategy<Value = Step> {
    (0..3usize, 0..3usize, prop::collection::vec(prop::collection::vec(any::<String>(), 0..4), 0..3))
}

/// A well-formed reply with these steps.
fn reply_of(steps: &[Step], thread_id: Option<ThreadId>, wild: &Passage) -> Vec<StreamEvent> {
    let mut events = vec![StreamEvent::Start { message_id: message(), thread_id }];
    for (number, (calls, sources, texts)) in steps.iter().enumerate() {
        events.push(StreamEvent::StepStart);
        for call in 0..*calls {
            let id = format!("c{number}-{call}");
            events.extend([
                search(&id),
                StreamEvent::KeepAlive,
                found(&id, ToolOutput::Passages(vec![wild.clone().into()])),
            ]);
        }
        for source in 0..*sources {
            let passage = Passage { href: format!("/{number}/{source}"), ..wild.clone() }.into();
            events.push(StreamEvent::Source { id: format!("s{number}-{source}"), passage });
        }
        for (place, pieces) in texts.iter().enumerate() {
            let id = format!("{number}-{place}");
            events.push(StreamEvent::TextStart { id: id.as_str().into() });
            events.extend(
                pieces.iter().map(|text| StreamEvent::TextDelta { id: id.as_str().into(), text: text.clone() }),
            );
            events.push(StreamEvent::TextEnd { id: id.into() });
        }
        events.push(StreamEvent::Data { name: "todos", id: None, value: Value::Null });
        events.push(step_finish(FinishReason::Stop, Usage::of(1, 1)));
    }
    events.push(finish(thread_id));
    events
}

proptest! {
    #[test]
    fn whatever_reply_is_in_order_a_client_reads_whole(
        steps in prop::collection::vec(any_step(), 1..4),
        threaded in any::<bool>(),
        broken_off in any::<Option<prop::sample::Index>>(),
        text in any::<String>(),
        score in any::<f32>(),
    ) {
        let wild = Passage {
            path: text.clone(), href: text.clone(), title: text.clone(), content: text.clone(), score, ..passage()
        };
        let thread_id = threaded.then(thread);
        let mut events = reply_of(&steps, thread_id, &wild);
        if let Some(at) = broken_off {
            events.truncate(at.index(events.len()));
            events.push(StreamEvent::Error { sentence: text.clone() });
        }
        Grammar::check(&events).map_err(|error| TestCaseError::fail(error.to_string()))?;

        let (mut stream, mut client) = (DataStream::new(), Client::default());
        for event in &events {
            let mut out = BytesMut::new();
            stream.encode(event, &mut out);
            client.read(&out);
        }
        prop_assert!(stream.ended());
        let said: String = events.iter().filter_map(|event| match event {
            StreamEvent::TextDelta { text, .. } => Some(text.as_str()),
            _ => None,
        }).collect();
        prop_assert_eq!(&client.text, &said);
        let sources = events.iter().filter(|event| matches!(event, StreamEvent::Source { .. })).count();
        prop_assert_eq!(client.sources, sources);
        if broken_off.is_some() {
            prop_assert_eq!(client.error, Some(text));
            prop_assert!(client.finish.is_none() && client.data.is_empty());
            return Ok(());
        }
        let finish = client.finish.expect("a finish");
        let id = thread_id.map(|id| json!(id.to_string()));
        prop_assert_eq!(finish.get("threadId"), id.as_ref());
        prop_assert_eq!(client.annotations.first().map(|annotation| &annotation["threadId"]), id.as_ref());
        prop_assert_eq!(client.data.first().map(|data| &data["threadId"]), id.as_ref());
        prop_assert!(client.data.iter().all(|data| data["type"] == "finish"));
    }
}
