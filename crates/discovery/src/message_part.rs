//! The parts of a message, of which only the texts are read.

use docent_types::Refusal;
use docent_web::Object;
use serde::Deserialize;
use serde_json::Value;

/// Any part. Clients send back what they received: tool calls, sources, steps.
#[derive(Debug, Deserialize)]
pub struct MessagePart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<Value>,
}

/// The texts among the parts. `place` is the place of the parts in the body, for errors.
///
/// # Errors
/// 400 for a part of the type `text` without a text.
pub fn texts<'a>(parts: &'a [Object<MessagePart>], place: &str) -> Result<Vec<&'a str>, Refusal> {
    let texts = parts.iter().enumerate().filter(|(_, Object(part))| part.kind == "text");
    let text = |(index, Object(part)): (usize, &'a Object<MessagePart>)| match &part.text {
        Some(Value::String(text)) => Ok(text.as_str()),
        _ => Err(Refusal::invalid(format!(
            "{place}[{index}].text: a part of the type `text` must have its text here, as a string"
        ))),
    };
    texts.map(text).collect()
}
