//! Parses the input of a tool call.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::workbench::Workbench;

/// The result of a tool; an error is a sentence for the model that says why nothing was done.
pub(crate) type CallResult = Result<String, String>;

/// A call whose input is parsed.
pub(crate) enum ParsedCall {
    /// Changes nothing, so it may run concurrently with others of its kind.
    Reads(Box<dyn FnOnce(&Workbench<'_>) -> CallResult + Send>),
    /// May change files, so it runs alone.
    Edits(Box<dyn FnOnce(&mut Workbench<'_>) -> CallResult>),
    /// Ends the turn if it is accepted. Changes nothing, and runs after all preceding calls.
    Ends(Box<dyn FnOnce(&Workbench<'_>) -> CallResult>),
}

/// Parses a call that changes nothing.
pub(crate) fn reads<T: DeserializeOwned + Send + 'static>(
    given: &Value,
    run: fn(T, &Workbench<'_>) -> CallResult,
) -> Result<ParsedCall, String> {
    let input: T = input(given)?;
    Ok(ParsedCall::Reads(Box::new(move |workbench| run(input, workbench))))
}

/// Parses a call that may change files.
pub(crate) fn edits<T: DeserializeOwned + 'static>(
    given: &Value,
    run: fn(T, &mut Workbench<'_>) -> CallResult,
) -> Result<ParsedCall, String> {
    let input: T = input(given)?;
    Ok(ParsedCall::Edits(Box::new(move |workbench| run(input, workbench))))
}

/// Parses a call that ends the turn.
pub(crate) fn ends<T: DeserializeOwned + 'static>(
    given: &Value,
    run: fn(T, &Workbench<'_>) -> CallResult,
) -> Result<ParsedCall, String> {
    let input: T = input(given)?;
    Ok(ParsedCall::Ends(Box::new(move |workbench| run(input, workbench))))
}

/// Parses a tool's input; the error says what is wrong with it. An object inside a string is accepted.
pub(crate) fn input<T: DeserializeOwned>(given: &Value) -> Result<T, String> {
    let wrong = |why: serde_json::Error| format!("the input is not what this tool takes: {why}");
    match given {
        Value::Object(_) => T::deserialize(given).map_err(wrong),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => T::deserialize(object).map_err(wrong),
            // The raw text of invalid JSON, or of a call that was cut off.
            _ => {
                let beginning: String = text.chars().take(80).collect();
                Err(format!("the input is not a JSON object: it begins `{beginning}`"))
            }
        },
        Value::Null => T::deserialize(Value::Object(serde_json::Map::new())).map_err(wrong),
        _ => Err("the input is not a JSON object".to_owned()),
    }
}

/// An integer, possibly inside a string; missing or null is `None`.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let number = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        _ => None,
    };
    number.map(Some).ok_or_else(|| D::Error::custom("a number of lines or files has to be a whole number, 0 or more"))
}

/// A boolean, possibly inside a string; missing or null is false.
pub(crate) fn lenient_bool<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(false),
        Value::Bool(yes) => Ok(yes),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") || text.is_empty() => Ok(false),
        _ => Err(D::Error::custom("expected true or false")),
    }
}

/// One pattern or several, possibly as a string that contains a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Patterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a list of paths and globs")]
        enum Written {
            One(String),
            Many(Vec<String>),
            Nothing(()),
        }
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::One(one) if one.trim().is_empty() => Vec::new(),
            Written::One(one) => match serde_json::from_str(&one) {
                Ok(many) => many,
                Err(_) => vec![one],
            },
            Written::Many(many) => many,
            Written::Nothing(()) => Vec::new(),
        }))
    }
}

/// A schema's fields on one line: `{path: string, from_line?: integer}`.
pub(crate) fn shape(schema: &Value) -> String {
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return choices.join(" | ");
    }
    match &schema["type"] {
        Value::String(kind) if kind == "object" => {
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let member = |(name, schema): (&String, &Value)| {
                let optional = if required.contains(&name.as_str()) { "" } else { "?" };
                format!("{name}{optional}: {}", shape(schema))
            };
            let members: Vec<String> = schema["properties"].as_object().into_iter().flatten().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::String(kind) if kind == "array" => format!("[{}]", shape(&schema["items"])),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ => "anything".to_owned(),
    }
}
