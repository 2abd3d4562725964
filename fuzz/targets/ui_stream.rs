#![no_main]
//! Any events in any order, written in each protocol and read back: whole frames of JSON, texts as they were, and nothing
//! after the last word.

use arbitrary::{Arbitrary, Result, Unstructured};
use bytes::BytesMut;
use docent_types::{FinishReason, MessageId, Passage, StreamEvent, ThreadId, ToolOutput, Usage};
use docent_ui_stream::{DataStream, Encoder, FinishStyle, UiMessageStream};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let mut events = Vec::new();
    while !bytes.is_empty() && events.len() < 64 {
        let Ok(event) = event(&mut bytes) else { break };
        events.push(event);
    }
    let lines = written(DataStream::new(), &events);
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (code, value) = line.split_once(':').expect("a code and a value");
        assert!("023489aefdh".contains(code), "{line}");
        let value: Value = serde_json::from_str(value).expect("JSON");
        assert!(code != "0" || value.is_string(), "{line}");
    }
    for style in [FinishStyle::Strict, FinishStyle::Open] {
        let text = written(UiMessageStream::new(style), &events);
        let mut told = String::new();
        for frame in text.split_terminator("\n\n").filter(|frame| !frame.starts_with(':')) {
            let data = frame.strip_prefix("data: ").expect("a frame");
            if data != "[DONE]" {
                let value: Value = serde_json::from_str(data).expect("JSON");
                assert!(
                    value["type"].is_string() && value.as_object().expect("an object").values().all(|v| !v.is_null())
                );
                told.push_str(value["delta"].as_str().unwrap_or_default());
            }
        }
        let is_last = |event: &StreamEvent| matches!(event, StreamEvent::Finish { .. } | StreamEvent::Error { .. });
        let said = events.iter().take_while(|event| !is_last(event)).filter_map(|event| match event {
            StreamEvent::TextDelta { text, .. } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(told, said.collect::<String>(), "what was said arrives");
    }
});

/// All that is written, until the reply has ended.
fn written<E: Encoder>(mut encoder: E, events: &[StreamEvent]) -> String {
    let mut out = BytesMut::new();
    for event in events {
        let (before, ended) = (out.len(), encoder.ended());
        encoder.encode(event, &mut out);
        assert!(!ended || out.len() == before, "nothing follows the last word");
        assert!(out.is_empty() || out.ends_with(b"\n"), "whole frames");
    }
    String::from_utf8(out.to_vec()).expect("text")
}

fn event(bytes: &mut Unstructured<'_>) -> Result<StreamEvent> {
    let id = |bytes: &mut Unstructured<'_>| -> Result<String> { Ok(format!("id-{}", u8::arbitrary(bytes)? % 4)) };
    Ok(match bytes.int_in_range(0..=12)? {
        0 => StreamEvent::Start { message_id: MessageId::new(uuid(bytes)?), thread_id: thread(bytes)? },
        1 => StreamEvent::StepStart,
        2 => {
            StreamEvent::ToolCall { id: id(bytes)?, name: "search".to_owned(), input: json!({ "query": text(bytes)? }) }
        }
        3 => {
            let output = match bytes.int_in_range(0..=2)? {
                0 => ToolOutput::Passages(vec![passage(bytes)?.into()]),
                1 => ToolOutput::Json(json!([text(bytes)?])),
                _ => ToolOutput::Error(text(bytes)?),
            };
            StreamEvent::ToolResult { id: id(bytes)?, output }
        }
        4 => StreamEvent::Source { id: id(bytes)?, passage: passage(bytes)?.into() },
        5 => StreamEvent::TextStart { id: id(bytes)?.into() },
        6 | 7 => StreamEvent::TextDelta { id: id(bytes)?.into(), text: text(bytes)? },
        8 => StreamEvent::TextEnd { id: id(bytes)?.into() },
        9 => StreamEvent::Data { name: "suggestions", id: None, value: json!([text(bytes)?]) },
        10 => StreamEvent::StepFinish { reason: FinishReason::Stop, usage: Usage::default() },
        11 => StreamEvent::Finish { reason: FinishReason::Length, usage: Usage::default(), thread_id: thread(bytes)? },
        _ if bool::arbitrary(bytes)? => StreamEvent::Error { sentence: text(bytes)? },
        _ => StreamEvent::KeepAlive,
    })
}

fn passage(bytes: &mut Unstructured<'_>) -> Result<Passage> {
    Ok(Passage {
        path: text(bytes)?,
        href: text(bytes)?,
        title: text(bytes)?,
        headings: vec![text(bytes)?],
        content: text(bytes)?,
        score: f32::arbitrary(bytes)?,
        version: None,
        language: None,
    })
}

fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    String::arbitrary(bytes)
}

fn thread(bytes: &mut Unstructured<'_>) -> Result<Option<ThreadId>> {
    Ok(if bool::arbitrary(bytes)? { Some(ThreadId::new(uuid(bytes)?)) } else { None })
}

fn uuid(bytes: &mut Unstructured<'_>) -> Result<uuid::Uuid> {
    Ok(uuid::Uuid::from_u128(u128::arbitrary(bytes)?))
}
