//! Finds tool calls that a small model writes into its text, because its server does not enforce the protocol's own
//! format.
//!
//! A call is a JSON object, or a list of them, in `<tool_call>` tags, in a fence, or as the whole text. The object
//! names an offered tool, or matches the input of exactly one of them. Anything else remains text.

use docent_llm::ToolSpec;
use memchr::memchr2_iter;
use serde_json::Value;

/// The properties of a tool by which its calls are recognised.
#[derive(Debug)]
pub(super) struct KnownTool {
    name: String,
    members: Vec<String>,
    required: Vec<String>,
}

impl KnownTool {
    pub(super) fn of(tool: &ToolSpec) -> Self {
        let members = tool.schema["properties"].as_object().into_iter().flat_map(|members| members.keys().cloned());
        let required = tool.schema["required"].as_array().into_iter().flatten();
        Self {
            name: tool.name.clone(),
            members: members.collect(),
            required: required.filter_map(|name| name.as_str().map(str::to_owned)).collect(),
        }
    }

    /// Whether an object matches the input of this tool, by its keys.
    fn takes(&self, object: &serde_json::Map<String, Value>) -> bool {
        // One key is too little evidence: many objects have a `path`.
        self.required.len() > 1
            && self.required.iter().all(|name| object.contains_key(name))
            && object.keys().all(|name| self.members.contains(name))
    }
}

/// A call found in a text: its name and its input.
pub(super) type FoundCall = (String, Value);

/// Extracts the calls from a text. Returns the remaining text and the calls.
pub(super) fn extract(text: &str, tools: &[KnownTool]) -> (String, Vec<FoundCall>) {
    if let Some(calls) = calls(text, tools) {
        return (String::new(), calls);
    }
    let (mut left, mut found, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, inner, after)) = next_block(rest) {
        left.push_str(before);
        match calls(inner, tools) {
            Some(calls) => found.extend(calls),
            None => left.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    left.push_str(rest);
    if found.is_empty() { (text.to_owned(), found) } else { (left.trim().to_owned(), found) }
}

const TAGS: [(&str, &str); 2] = [("<tool_call>", "</tool_call>"), ("```", "```")];

/// The first block: the text before, in and after it. An unclosed block extends to the end.
fn next_block(text: &str) -> Option<(&str, &str, &str)> {
    let tag_at = |at: usize| TAGS.iter().find(|(open, _)| text[at..].starts_with(open)).map(|tag| (at, tag));
    let (at, (open, close)) = memchr2_iter(b'`', b'<', text.as_bytes()).find_map(tag_at)?;
    let inner = &text[at + open.len()..];
    let (inner, after) = inner.split_once(close).unwrap_or((inner, ""));
    // A fence may have a language tag.
    let inner =
        if *open == "```" { inner.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_') } else { inner };
    Some((&text[..at], inner, after))
}

/// The calls of a text that consists of calls only.
fn calls(text: &str, tools: &[KnownTool]) -> Option<Vec<FoundCall>> {
    let objects = match crate::input::parse(text.trim())? {
        Value::Array(objects) if !objects.is_empty() => objects,
        object @ Value::Object(_) => vec![object],
        _ => return None,
    };
    objects.iter().map(|object| named(object, tools).or_else(|| unnamed(object, tools))).collect()
}

fn named(object: &Value, tools: &[KnownTool]) -> Option<FoundCall> {
    let function = if object["function"].is_object() { &object["function"] } else { object };
    let name = function["name"].as_str().filter(|name| tools.iter().any(|tool| tool.name == *name))?;
    let given =
        ["arguments", "parameters", "input"].iter().map(|field| &function[*field]).find(|given| !given.is_null());
    let input = match given {
        Some(Value::String(text)) => crate::input::read(text),
        Some(input) => input.clone(),
        None => Value::Object(serde_json::Map::new()),
    };
    Some((name.to_owned(), input))
}

/// An object without a tool name that matches exactly one tool.
fn unnamed(object: &Value, tools: &[KnownTool]) -> Option<FoundCall> {
    let members = object.as_object()?;
    let mut takers = tools.iter().filter(|tool| tool.takes(members));
    match (takers.next(), takers.next()) {
        (Some(tool), None) => Some((tool.name.clone(), object.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn offered() -> Vec<KnownTool> {
        let tool = |name: &str, members: &[&str], required: &[&str]| KnownTool {
            name: name.to_owned(),
            members: members.iter().map(|name| (*name).to_owned()).collect(),
            required: required.iter().map(|name| (*name).to_owned()).collect(),
        };
        vec![
            tool("read", &["path", "from_line"], &["path"]),
            tool("write", &["path", "text"], &["path", "text"]),
            tool("append", &["path", "text", "line"], &["path", "text"]),
            tool("finish", &["outcome", "title", "note"], &["outcome", "title"]),
        ]
    }

    #[test]
    fn a_call_is_found_however_it_is_written() {
        let call = || ("read".to_owned(), json!({ "path": "a.md" }));
        for (text, left, calls) in [
            (r#"{"name":"read","arguments":{"path":"a.md"}}"#, "", vec![call()]),
            (
                "Let me see.\n```json\n{\"name\":\"read\",\"parameters\":{\"path\":\"a.md\"}}\n```",
                "Let me see.",
                vec![call()],
            ),
            (r#"<tool_call>{"name":"read","arguments":"{\"path\":\"a.md\"}"}</tool_call>"#, "", vec![call()]),
            (r#"<tool_call>{"name":"read","input":{"path":"a.md"}}"#, "", vec![call()]),
            (
                r#"```[{"function":{"name":"read","arguments":{"path":"a.md"}}},{"name":"finish"}]```"#,
                "",
                vec![call(), ("finish".to_owned(), json!({}))],
            ),
            (
                "a <tool_call>{\"name\":\"finish\"}</tool_call> b\n```rust\nfn a() {}\n```",
                "a  b\n```rust\nfn a() {}\n```",
                vec![("finish".to_owned(), json!({}))],
            ),
            (r#"{"name":"unknown","arguments":{}}"#, r#"{"name":"unknown","arguments":{}}"#, vec![]),
            ("```json\n{\"name\": \"Docent\"}\n```\n", "```json\n{\"name\": \"Docent\"}\n```\n", vec![]),
            ("just words ```", "just words ```", vec![]),
            (
                "```json\n{\"outcome\":\"done\",\"title\":\"A\"}\n```",
                "",
                vec![("finish".to_owned(), json!({ "outcome": "done", "title": "A" }))],
            ),
            // Two tools match this object, and a path alone could be anything.
            (r#"{"path":"a.md","text":"b"}"#, r#"{"path":"a.md","text":"b"}"#, vec![]),
            (r#"{"path":"a.md"}"#, r#"{"path":"a.md"}"#, vec![]),
            (r#"{"outcome":"done","title":"A","extra":1}"#, r#"{"outcome":"done","title":"A","extra":1}"#, vec![]),
        ] {
            assert_eq!(extract(text, &offered()), (left.to_owned(), calls), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_calls_is_left_as_it_is(text in "(```(json)?\n?|</?tool_call>|[{}\\[\\]\":a]|→){0,20}") {
            prop_assert_eq!(extract(&text, &offered()), (text.clone(), vec![]));
        }
    }
}
