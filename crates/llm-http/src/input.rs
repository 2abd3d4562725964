//! Inputs and ids of tool calls, for both protocols.

use std::collections::HashSet;

use docent_types::{ContentPart, Message, replace_lone_surrogates};
use serde_json::{Map, Value, json};

/// Parses the input of a call. An empty text is an empty object, and an object in a string is unwrapped. A text that is
/// not JSON is returned as a string.
pub(crate) fn read(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    match parse(text) {
        Some(Value::Null) => json!({}),
        Some(Value::String(inner)) => match parse(&inner) {
            Some(object @ Value::Object(_)) => object,
            _ => Value::String(inner),
        },
        Some(value) => value,
        None => Value::String(text.to_owned()),
    }
}

/// Parses JSON that a model wrote, with U+FFFD for lone surrogates.
pub(crate) fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| {
        let mut replaced = text.as_bytes().to_vec();
        replace_lone_surrogates(&mut replaced).then(|| serde_json::from_slice(&replaced).ok())?
    })
}

/// The input in the form that is sent back to a model. Both protocols require an object, so other values are wrapped in
/// one.
pub(crate) fn write(input: &Value) -> Value {
    if input.is_object() {
        input.clone()
    } else {
        Value::Object(Map::from_iter([("not_an_object".to_owned(), input.clone())]))
    }
}

/// An id or a name restricted to the characters that both protocols accept in a request: letters, digits, `_` and `-`.
pub(crate) fn plain(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}

/// Assigns each call of a reply an id that is unique in the transcript: some servers send none, or always the same.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    taken: HashSet<String>,
    /// Number of messages in the transcript, which makes generated ids unique.
    turn: usize,
    /// Number of the next generated id.
    next: usize,
}

impl CallIds {
    pub(crate) fn after(transcript: &[Message]) -> Self {
        let parts = transcript.iter().flat_map(|message| &message.parts);
        let taken = parts.filter_map(|part| match part {
            ContentPart::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        Self { taken: taken.collect(), turn: transcript.len(), next: 0 }
    }

    /// The given id, or a generated one if that is empty or taken.
    pub(crate) fn claim(&mut self, given: &str) -> String {
        let mut id = plain(given);
        let mut is_free = !given.is_empty() && !self.taken.contains(&id);
        while !is_free {
            id = format!("call_{}_{}", self.turn, self.next);
            self.next += 1;
            is_free = !self.taken.contains(&id);
        }
        self.taken.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use docent_types::Role;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_input_is_read_as_it_was_meant() {
        for (text, input) in [
            ("", json!({})),
            (" null ", json!({})),
            (r#"{"path":"a.md"}"#, json!({"path": "a.md"})),
            (r#""{\"path\":\"a.md\"}""#, json!({"path": "a.md"})),
            (r#"{"path":"a."#, json!(r#"{"path":"a."#)),
            (r#"{"path":"a\ud83d"}"#, json!({"path": "a\u{fffd}"})),
            (r#""{\"path\":\"a\\ud83d\"}""#, json!({"path": "a\u{fffd}"})),
            ("[1]", json!([1])),
        ] {
            assert_eq!(read(text), input, "{text}");
        }
        assert_eq!(write(&json!({"a": 1})), json!({"a": 1}));
        assert_eq!(write(&json!("{broken")), json!({"not_an_object": "{broken"}));
    }

    #[test]
    fn an_id_is_kept_unless_the_transcript_has_it() {
        let call = ContentPart::ToolCall { id: "call_0".into(), name: "read".into(), input: json!({}) };
        let mut ids = CallIds::after(&[Message { role: Role::Assistant, parts: vec![call] }]);
        let claimed: Vec<_> = ["toolu_1", "call_0", "", "toolu_1"].map(|given| ids.claim(given)).into();
        assert_eq!(claimed, ["toolu_1", "call_1_0", "call_1_1", "call_1_2"]);
        assert_eq!(ids.claim("functions.read:0"), "functions_read_0");
    }

    proptest! {
        #[test]
        fn any_text_is_an_input_and_goes_back_as_an_object(text in "\\PC{0,40}|[\\[\\]{}\",:0-9a-c]{0,20}") {
            prop_assert!(write(&read(&text)).is_object());
        }
    }
}
