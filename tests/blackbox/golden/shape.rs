//! The shape of a streamed reply: its parts in order, each with its keys and the kinds of their values, without the
//! values.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

/// The protocol of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// Lines of a letter and a JSON value (data stream protocol).
    DataStream,
    /// Server-sent events with JSON objects, ended by `[DONE]` (UI message stream protocol).
    UiMessages,
}

/// One part of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The letter, or the `type`.
    pub(super) kind: String,
    /// `usage.promptTokens: number`, `result[].path: string`; for a value without keys only its kind.
    pub(super) keys: BTreeSet<String>,
    /// The tool that is called, or whose result this is.
    pub(super) tool: Option<String>,
}

impl Wire {
    /// # Panics
    /// When the text is not a stream.
    pub(super) fn of(text: &str) -> Self {
        if text.lines().any(|line| line.starts_with("data: ")) { Self::UiMessages } else { Self::DataStream }
    }

    /// The parts of a stream, without comments, and without the lines before a recorded body.
    ///
    /// # Panics
    /// When a part is malformed.
    pub(super) fn parts(self, text: &str) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut callers: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            let Some((kind, value)) = self.part(line) else { continue };
            let id = value["toolCallId"].as_str().unwrap_or_default();
            if let Some(tool) = value["toolName"].as_str() {
                callers.push((id.to_owned(), tool.to_owned()));
            }
            let tool = callers.iter().find(|(caller, _)| caller == id).map(|(_, tool)| tool.clone());
            let mut keys = BTreeSet::new();
            collect("", &value, &mut keys);
            keys.remove("type: string");
            parts.push(Part { kind, keys, tool });
        }
        parts
    }

    fn part(self, line: &str) -> Option<(String, Value)> {
        let json = |text: &str| serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {line}"));
        match self {
            Self::DataStream => {
                let (letter, value) = line.split_once(':').filter(|(letter, _)| letter.len() == 1)?;
                Some((letter.to_owned(), json(value)))
            }
            Self::UiMessages => match line.strip_prefix("data: ")? {
                "[DONE]" => Some(("[DONE]".to_owned(), Value::Null)),
                data => {
                    let value = json(data);
                    Some((value["type"].as_str().expect("a part has a type").to_owned(), value))
                }
            },
        }
    }
}

/// Collects the paths of a value's keys. A tool's input is only recorded as present: its keys are up to the model.
fn collect(path: &str, value: &Value, keys: &mut BTreeSet<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(_) if matches!(path, "args" | "input") => drop(keys.insert(format!("{path}: object"))),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| collect(&below(key), value, keys)),
        Value::Array(items) => {
            keys.insert(format!("{path}: list").trim_start_matches(": ").to_owned());
            items.iter().for_each(|item| collect(&format!("{path}[]"), item, keys));
        }
        Value::Null => drop(keys.insert(format!("{path}: null").trim_start_matches(": ").to_owned())),
        Value::Bool(_) => drop(keys.insert(format!("{path}: bool"))),
        Value::Number(_) => drop(keys.insert(format!("{path}: number"))),
        Value::String(_) => drop(keys.insert(format!("{path}: string").trim_start_matches(": ").to_owned())),
    }
}

/// Folds repetitions: a part or a run of parts that follows itself is kept once.
pub(super) fn folded(mut parts: Vec<Part>) -> Vec<Part> {
    let mut length = 1;
    while length <= parts.len() / 2 {
        let mut at = 0;
        while at + 2 * length <= parts.len() {
            if parts[at..at + length] == parts[at + length..at + 2 * length] {
                parts.drain(at..at + length);
            } else {
                at += 1;
            }
        }
        length += 1;
    }
    parts
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        write!(f, "{} {{{}}}", self.kind, keys.join(", "))
    }
}

/// The parts as lines of text.
pub(super) fn told(parts: &[Part]) -> String {
    parts.iter().map(|part| format!("{part}\n")).collect()
}

#[test]
fn repeated_parts_are_folded() {
    let text = "f:{\"messageId\":\"m\"}\n0:\"a\"\n0:\"b\"\n9:{\"toolCallId\":\"c\",\"toolName\":\"search\",\"args\":{}}\n\
                a:{\"toolCallId\":\"c\",\"result\":[]}\n9:{\"toolCallId\":\"d\",\"toolName\":\"search\",\"args\":{\"q\":1}}\n\
                a:{\"toolCallId\":\"d\",\"result\":[]}\nd:{\"usage\":{\"promptTokens\":1}}\n";
    let kinds: Vec<String> = folded(Wire::of(text).parts(text)).into_iter().map(|part| part.kind).collect();
    assert_eq!(kinds, ["f", "0", "9", "a", "d"]);
}
