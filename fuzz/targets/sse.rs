#![no_main]
//! Any bytes as the stream of a model server, in both wires. The first byte says where it is cut: that must not matter.

use docent_llm::{Event, ToolSpec};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

use decoder::{Decoder, ReplyError, ReplyParser};

// The decoders are nobody's business but their crate's, so they are read from its files.
#[path = "../../crates/llm-http/src"]
#[allow(dead_code, unused_imports, reason = "only the reading half of the crate is tried")]
mod llm_http {
    pub mod call_failure;
    pub mod decoder;
    pub mod endpoint;
    pub mod input;
    pub mod sse;

    #[path = "anthropic/reply.rs"]
    pub mod anthropic;

    pub mod openai {
        pub mod calls;
        pub mod held_text;
        pub mod reply;
        pub mod text_calls;
    }
}

use llm_http::{call_failure, decoder, endpoint, input, sse};

use llm_http::anthropic::MessageParser;
use llm_http::openai::reply::CompletionParser;

fuzz_target!(|bytes: &[u8]| {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let size = usize::from(*size) + 1;
    let tool = || ToolSpec {
        name: "read_page".to_owned(),
        description: "Reads a page.".to_owned(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
    };
    is_sound(bytes, size, || Decoder::of_stream(MessageParser::default()));
    is_sound(bytes, size, || Decoder::of_whole(MessageParser::default()));
    is_sound(bytes, size, || Decoder::of_stream(CompletionParser::default()));
    is_sound(bytes, size, || Decoder::of_stream(CompletionParser::default().reading_calls_in_text(&[tool()])));
    is_sound(bytes, size, || Decoder::of_whole(CompletionParser::default()));
});

/// Cut or whole it says the same, with exactly one `Done`, last, when it ends well, and none otherwise.
fn is_sound<R: ReplyParser>(bytes: &[u8], size: usize, decoder: impl Fn() -> Decoder<R>) {
    let (events, ended) = read(decoder(), bytes, size);
    let done = |event: &Event| matches!(event, Event::Done { .. });
    let count = events.iter().filter(|event| done(event)).count();
    let expected = usize::from(ended.is_ok());
    assert!(count == expected && (count == 0 || events.last().is_some_and(done)), "{events:?} {ended:?}");
    assert_eq!((events, ended), read(decoder(), bytes, bytes.len().max(1)));
}

fn read<R: ReplyParser>(mut decoder: Decoder<R>, bytes: &[u8], size: usize) -> (Vec<Event>, Result<(), ReplyError>) {
    let mut events = Vec::new();
    let fed = bytes.chunks(size).try_for_each(|chunk| decoder.feed(chunk, &mut events));
    let ended = fed.and_then(|()| decoder.end(&mut events));
    (events, ended)
}
