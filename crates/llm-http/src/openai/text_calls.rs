//! Tool calls that a small model writes into its text, because nobody holds it to the wire's own way.
//!
//! Read are a JSON object, or a list of them, in `<tool_call>` tags, in a fence, or as all there is. An object is a call
//! when it names a tool that was offered; anything else is text and stays where it was.

use serde_json::Value;

/// A call found in a text: its name and its input.
pub(super) type Found = (String, Value);

/// Takes the calls out of a text, and gives what is left of it.
pub(super) fn extract(text: &str, is_offered: impl Fn(&str) -> bool) -> (String, Vec<Found>) {
    if let Some(calls) = calls(text, &is_offered) {
        return (String::new(), calls);
    }
    let (mut left, mut found, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, inner, after)) = next_block(rest) {
        left.push_str(before);
        match calls(inner, &is_offered) {
            Some(calls) => found.extend(calls),
            None => left.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    left.push_str(rest);
    if found.is_empty() { (text.to_owned(), found) } else { (left.trim().to_owned(), found) }
}

const TAGS: [(&str, &str); 2] = [("<tool_call>", "</tool_call>"), ("```", "```")];

/// The first block: what stands before it, in it and behind it. One that is never closed goes to the end.
fn next_block(text: &str) -> Option<(&str, &str, &str)> {
    let begins = TAGS.iter().filter_map(|tag| Some((text.find(tag.0)?, tag)));
    let (at, (open, close)) = begins.min_by_key(|(at, _)| *at)?;
    let inner = &text[at + open.len()..];
    let (inner, after) = inner.split_once(close).unwrap_or((inner, ""));
    // A fence may name its language.
    let inner =
        if *open == "```" { inner.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_') } else { inner };
    Some((&text[..at], inner, after))
}

/// The calls that a text is, if it is nothing else.
fn calls(text: &str, is_offered: impl Fn(&str) -> bool) -> Option<Vec<Found>> {
    let objects = match serde_json::from_str(text.trim()).ok()? {
        Value::Array(objects) if !objects.is_empty() => objects,
        object @ Value::Object(_) => vec![object],
        _ => return None,
    };
    objects.iter().map(|object| call(object, &is_offered)).collect()
}

fn call(object: &Value, is_offered: impl Fn(&str) -> bool) -> Option<Found> {
    let function = if object["function"].is_object() { &object["function"] } else { object };
    let name = function["name"].as_str().filter(|name| is_offered(name))?;
    let given =
        ["arguments", "parameters", "input"].iter().map(|field| &function[*field]).find(|given| !given.is_null());
    let input = match given {
        Some(Value::String(text)) => crate::input::read(text),
        Some(input) => input.clone(),
        None => Value::Object(serde_json::Map::new()),
    };
    Some((name.to_owned(), input))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn offered(name: &str) -> bool {
        ["read", "finish"].contains(&name)
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
        ] {
            assert_eq!(extract(text, offered), (left.to_owned(), calls), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_calls_is_left_as_it_is(text in "(```(json)?\n?|</?tool_call>|[{}\\[\\]\":a]|→){0,20}") {
            prop_assert_eq!(extract(&text, offered), (text.clone(), vec![]));
        }
    }
}
