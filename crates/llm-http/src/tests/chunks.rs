//! The events do not depend on how the bytes are split, and no input makes a parser panic.

use docent_llm::Event;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::anthropic::MessageParser;
use crate::openai::CompletionParser;

/// Frames that resemble real ones, in any order: each protocol parses those of both.
fn scraps() -> impl Strategy<Value = String> {
    let known = super::anthropic::reply();
    let mut known: Vec<String> = known.iter().map(Value::to_string).collect();
    known.extend(super::openai::reply().lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned));
    known.extend(
        ["{\"error\":{}}", "{\"choices\":3}", "{\"choices\":[{\"delta\":{\"tool_calls\":[{}]}}]}", "null", "{"]
            .map(str::to_owned),
    );
    prop::collection::vec(prop::sample::select(known), 0..12)
        .prop_map(|frames| frames.iter().map(|frame| format!("data: {frame}\r\n\r\n")).collect())
}

/// Whether there is exactly one `Done`, as the last event, if the reply ended well, and none otherwise.
fn is_sound((events, ended): &(Vec<Event>, Result<(), ReplyError>)) -> bool {
    let done = |event: &Event| matches!(event, Event::Done { .. });
    let count = events.iter().filter(|event| done(event)).count();
    if ended.is_ok() { count == 1 && events.last().is_some_and(done) } else { count == 0 }
}

proptest! {
    #[test]
    fn however_it_is_cut_a_reply_says_the_same(size in 1_usize..200) {
        let bytes = frames(&super::anthropic::reply());
        prop_assert_eq!(decode(MessageParser::default(), bytes.as_bytes(), size), (super::anthropic::events(), Ok(())));
        let bytes = super::openai::reply();
        prop_assert_eq!(decode(CompletionParser::default(), bytes.as_bytes(), size), (super::openai::events(), Ok(())));
    }

    #[test]
    fn a_reply_that_is_cut_short_is_never_taken_for_whole(kept in 0.0_f64..1.0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length is one")]
        let part = |bytes: &str, of: usize| bytes.as_bytes()[..(of as f64 * kept) as usize].to_vec();
        let bytes = frames(&super::anthropic::reply());
        let stop = bytes.find("data: {\"type\":\"message_stop\"}").expect("its end");
        prop_assert_eq!(decode(MessageParser::default(), &part(&bytes, stop), 64).1, Err(ReplyError::Cut));
        let bytes = super::openai::reply();
        let finish = bytes.find("\"finish_reason\":\"tool_calls\"").expect("its end");
        let (events, ended) = decode(CompletionParser::default(), &part(&bytes, finish), 64);
        prop_assert_eq!(ended, Err(ReplyError::Cut));
        prop_assert!(events.iter().all(|event| matches!(event, Event::TextDelta(_))), "no call is given before the end");
    }

    #[test]
    fn frames_in_any_order_break_nothing(scraps in scraps(), size in 1_usize..100) {
        let once = decode(MessageParser::default(), scraps.as_bytes(), size);
        prop_assert!(is_sound(&once), "{:?}", once);
        prop_assert_eq!(&once, &decode(MessageParser::default(), scraps.as_bytes(), scraps.len()));
        let reading = || CompletionParser::default().reading_calls_in_text(&[read_tool()]);
        let once = decode(reading(), scraps.as_bytes(), size);
        prop_assert!(is_sound(&once), "{:?}", once);
        prop_assert_eq!(&once, &decode(reading(), scraps.as_bytes(), scraps.len()));
    }

    #[test]
    fn any_bytes_break_nothing(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1_usize..100) {
        prop_assert!(decode(MessageParser::default(), &bytes, size).1.is_err());
        prop_assert!(decode(CompletionParser::default(), &bytes, size).1.is_err());
    }
}

#[test]
fn a_character_that_was_cut_in_two_is_two_replacements() {
    for (first, second, shown) in [
        (r"a\ud83d", r"\ude00b", "a\u{fffd}\u{fffd}b"),
        (r"\ud83d\ude00", r"\\ud83d", "😀\\ud83d"),
        (r"a\ud83d", "", "a\u{fffd}"),
        ("", r"\uDE00", "\u{fffd}"),
    ] {
        let streamed = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{first}\"}}}}]}}\n\n\
             data: {{\"choices\":[{{\"delta\":{{\"content\":\"{second}\"}},\"finish_reason\":\"stop\"}}]}}\n\n"
        );
        let (events, ended) = decode(CompletionParser::default(), streamed.as_bytes(), 5);
        assert_eq!((&events[0], ended), (&text(shown), Ok(())), "{first} {second}");
        let streamed = format!(
            "data: {{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"text_delta\",\"text\":\"{first}\"}}}}\n\n\
             data: {{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"text_delta\",\"text\":\"{second}\"}}}}\n\n\
             data: {{\"type\":\"message_stop\"}}\n\n"
        );
        let (events, ended) = decode(MessageParser::default(), streamed.as_bytes(), 5);
        assert_eq!((&events[0], ended), (&text(shown), Ok(())), "{first} {second}");
    }
    let whole = br#"{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}"#;
    let (mut decoder, mut events) = (Decoder::of_whole(CompletionParser::default()), Vec::new());
    assert_eq!(decoder.feed(whole, &mut events).and_then(|()| decoder.end(&mut events)), Ok(()));
    assert_eq!(events[0], text("a\u{fffd}"));
}
