//! Finds tool calls that a small model writes into its text, because its server does not enforce the protocol's own
//! format.
//!
//! A call is a JSON object, or several of them, in `<tool_call>` tags, in a fence, or as the whole text. The object
//! names an offered tool, with the arguments in a field of it or beside the name, or matches the input of exactly one
//! tool. A call may also be in tags: `<function=NAME><parameter=FIELD>…` or `<invoke name="NAME"><parameter
//! name="FIELD">…`. Anything else remains text.

use docent_llm::ToolSpec;
use memchr::memchr2_iter;
use serde_json::Value;

/// The properties of a tool by which its calls are recognised.
#[derive(Debug)]
pub(super) struct KnownTool {
    name: String,
    members: Vec<String>,
    required: Vec<String>,
    /// The members that are strings.
    texts: Vec<String>,
}

impl KnownTool {
    pub(super) fn of(tool: &ToolSpec) -> Self {
        let members = tool.schema["properties"].as_object().into_iter().flat_map(|members| members.keys().cloned());
        let is_text = |(_, schema): &(&String, &Value)| schema["type"] == "string";
        let texts = tool.schema["properties"].as_object().into_iter().flatten().filter(is_text);
        let required = tool.schema["required"].as_array().into_iter().flatten();
        Self {
            name: tool.name.clone(),
            members: members.collect(),
            required: required.filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            texts: texts.map(|(name, _)| name.clone()).collect(),
        }
    }

    fn is_text(&self, member: &str) -> bool {
        self.texts.iter().any(|text| text == member)
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
    while let Some(block) = next_block(rest, tools) {
        left.push_str(block.before);
        match block.calls {
            Some(calls) => found.extend(calls),
            None => left.push_str(&rest[block.before.len()..rest.len() - block.after.len()]),
        }
        rest = block.after;
    }
    left.push_str(rest);
    (left, found)
}

/// The length of the fence that a text begins with, if it is complete and holds no call.
pub(super) fn fence_without_calls(text: &str, tools: &[KnownTool]) -> Option<usize> {
    let block = next_block(text, tools)?;
    let (open, close, _) = FENCE;
    let block_text = &text[..text.len() - block.after.len()];
    let inner = block_text.strip_prefix(open)?.strip_suffix(close)?;
    // The end of the fence may be inside a text of an unfinished object.
    let is_cut = serde_json::from_str::<Value>(of_language(inner)).is_err_and(|error| error.is_eof());
    (block.calls.is_none() && !is_cut).then_some(block_text.len())
}

/// Whether a fence with this beginning of its inside holds no call, whatever follows.
pub(super) fn is_fence_of_code(inner: &str) -> bool {
    of_language(inner).trim_start().starts_with(|first: char| !matches!(first, '{' | '[' | '<' | '`'))
}

/// The inside of a fence without its language.
fn of_language(inner: &str) -> &str {
    inner.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
}

/// A block of a text that may hold calls.
struct Block<'t> {
    before: &'t str,
    calls: Option<Vec<FoundCall>>,
    after: &'t str,
}

/// What opens a block, what ends it, and how its inside is written.
const TAGS: [(&str, &str, Inside); 5] = [
    ("<tool_call>", "</tool_call>", Inside::Json),
    FENCE,
    ("<function=", "</function>", Inside::Tags { parameter: "<parameter=", end: "</parameter>" }),
    ("<invoke name=", "</invoke>", Inside::Tags { parameter: "<parameter name=", end: "</parameter>" }),
    ("<function name=", "</function>", Inside::Tags { parameter: "<parameter name=", end: "</parameter>" }),
];

const FENCE: (&str, &str, Inside) = ("```", "```", Inside::Json);

/// What opens a block that may hold calls.
pub(super) const OPENINGS: [&str; 5] = [TAGS[0].0, TAGS[1].0, TAGS[2].0, TAGS[3].0, TAGS[4].0];

#[derive(Clone, Copy)]
enum Inside {
    /// JSON, or a call in tags.
    Json,
    /// The name, then a tag for each argument.
    Tags { parameter: &'static str, end: &'static str },
}

/// The first block. An unclosed block extends to the end.
fn next_block<'t>(text: &'t str, tools: &[KnownTool]) -> Option<Block<'t>> {
    let tag_at = |at: usize| TAGS.iter().position(|(open, ..)| text[at..].starts_with(open)).map(|tag| (at, tag));
    let (at, tag) = memchr2_iter(b'`', b'<', text.as_bytes()).find_map(tag_at)?;
    let (open, close, inside) = TAGS[tag];
    let (before, inner) = (&text[..at], &text[at + open.len()..]);
    // A fence may have a language tag.
    let inner = if open == FENCE.0 { of_language(inner) } else { inner };
    // JSON says itself where it ends: its texts may hold the end of the block.
    if let Inside::Json = inside
        && let Some((calls, rest)) = leading_calls(inner, tools)
        && let Some(after) = rest.trim_start().strip_prefix(close)
    {
        return Some(Block { before, calls: Some(calls), after });
    }
    let (inner, after) = inner.split_once(close).unwrap_or((inner, ""));
    let calls = match inside {
        Inside::Json => calls(inner, tools).or_else(|| tagged_call(inner, tools)),
        Inside::Tags { parameter, end } => call_in_tags(inner, parameter, end, tools),
    };
    Some(Block { before, calls, after })
}

/// The call in tags inside of `<tool_call>` or a fence.
fn tagged_call(inner: &str, tools: &[KnownTool]) -> Option<Vec<FoundCall>> {
    let inner = inner.trim();
    let (open, close, inside) = TAGS.into_iter().find(|(open, ..)| inner.starts_with(open))?;
    let Inside::Tags { parameter, end } = inside else { return None };
    let call = inner[open.len()..].split_once(close).map_or(&inner[open.len()..], |(call, _)| call);
    call_in_tags(call, parameter, end, tools)
}

/// A call whose name and arguments are in tags: `read><parameter=path>a.md</parameter>`.
fn call_in_tags(inner: &str, parameter: &str, end: &str, tools: &[KnownTool]) -> Option<Vec<FoundCall>> {
    let named = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let (name, rest) = inner.split_once('>')?;
    let name = named(name);
    let tool = tools.iter().find(|tool| tool.name == name)?;
    if let Some(Value::Object(input)) = crate::input::parse(rest.trim()) {
        return Some(vec![(name, Value::Object(input))]);
    }
    let mut input = serde_json::Map::new();
    for part in rest.split(parameter).skip(1) {
        let (key, value) = part.split_once('>')?;
        let value = value.rsplit_once(end).map_or(value, |(value, _)| value);
        // Line breaks beside the tags are of the form and not of the value.
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        let key = named(key);
        let value = if tool.is_text(&key) { None } else { crate::input::parse(value.trim()) }
            .unwrap_or_else(|| Value::String(value.to_owned()));
        input.insert(key, value);
    }
    Some(vec![(name, Value::Object(input))])
}

/// The calls of a text that consists of calls only.
fn calls(text: &str, tools: &[KnownTool]) -> Option<Vec<FoundCall>> {
    if let Some((calls, rest)) = leading_calls(text, tools) {
        return rest.trim().is_empty().then_some(calls);
    }
    // Lone surrogates are replaced first.
    calls_of(crate::input::parse(text.trim())?, tools)
}

/// The calls that a text begins with: a list of them, or one object after the other. Also returns the rest of the text.
fn leading_calls<'t>(text: &'t str, tools: &[KnownTool]) -> Option<(Vec<FoundCall>, &'t str)> {
    let text = text.trim_start();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (mut calls, mut read) = (Vec::new(), 0);
    while let Some(Ok(value)) = values.next() {
        read = values.byte_offset();
        calls.extend(calls_of(value, tools)?);
    }
    (!calls.is_empty()).then(|| (calls, &text[read..]))
}

fn calls_of(value: Value, tools: &[KnownTool]) -> Option<Vec<FoundCall>> {
    let objects = match value {
        Value::Array(objects) if !objects.is_empty() => objects,
        object @ Value::Object(_) => vec![object],
        _ => return None,
    };
    objects.iter().map(|object| named(object, tools).or_else(|| unnamed(object, tools))).collect()
}

fn named(object: &Value, tools: &[KnownTool]) -> Option<FoundCall> {
    let function = if object["function"].is_object() { &object["function"] } else { object };
    let name_field = ["name", "tool", "function"].into_iter().find(|field| function[*field].is_string())?;
    let name = function[name_field].as_str()?;
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let given = ["arguments", "parameters", "input", "args"]
        .into_iter()
        .find(|field| !function[*field].is_null() && !tool.members.iter().any(|member| member == field));
    let input = match given.map(|field| &function[field]) {
        Some(Value::String(text)) => crate::input::read(text),
        Some(input) => input.clone(),
        // The arguments stand beside the name.
        None => {
            let beside = function.as_object().into_iter().flatten();
            let beside = beside.filter(|(field, _)| field.as_str() != name_field && tool.members.contains(field));
            Value::Object(beside.map(|(field, value)| (field.clone(), value.clone())).collect())
        }
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
            texts: members.iter().filter(|name| !name.contains("line")).map(|name| (*name).to_owned()).collect(),
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
            // The arguments beside the name, and objects one after the other.
            (
                r#"{"name":"finish","outcome":"done","title":"A","extra":1}"#,
                "",
                vec![("finish".to_owned(), json!({ "outcome": "done", "title": "A" }))],
            ),
            (
                "{\"name\":\"read\",\"path\":\"a.md\"}\n{\"tool\":\"read\",\"args\":{\"path\":\"a.md\"}}",
                "",
                vec![call(), call()],
            ),
            // A fence and a closing tag inside of a text.
            (
                "```json\n{\"name\":\"write\",\"arguments\":{\"path\":\"a.md\",\"text\":\"```sh\\nls\\n```\"}}\n```\nDone.",
                "Done.",
                vec![("write".to_owned(), json!({ "path": "a.md", "text": "```sh\nls\n```" }))],
            ),
            (
                r#"<tool_call>{"name":"write","path":"a.md","text":"</tool_call>"}</tool_call>"#,
                "",
                vec![("write".to_owned(), json!({ "path": "a.md", "text": "</tool_call>" }))],
            ),
            // Tags.
            (
                "<tool_call>\n<function=write>\n<parameter=path>\na.md\n</parameter>\n<parameter=text>\n12\n\n</parameter>\n</function>\n</tool_call>",
                "",
                vec![("write".to_owned(), json!({ "path": "a.md", "text": "12\n" }))],
            ),
            (
                "So: <invoke name=\"read\"><parameter name=\"path\">a.md</parameter><parameter name=\"from_line\">3</parameter></invoke> ok",
                "So:  ok",
                vec![("read".to_owned(), json!({ "path": "a.md", "from_line": 3 }))],
            ),
            (r#"<function=read>{"path":"a.md"}</function>"#, "", vec![call()]),
            ("<function=gone>{}</function>", "<function=gone>{}</function>", vec![]),
            (
                r#"{"path":"\ud83d","text":"a","name":"write"}"#,
                "",
                vec![("write".to_owned(), json!({ "path": "\u{fffd}", "text": "a" }))],
            ),
            (r#"{"outcome":"done","title":"A","extra":1}"#, r#"{"outcome":"done","title":"A","extra":1}"#, vec![]),
        ] {
            let (rest, found) = extract(text, &offered());
            assert_eq!((if found.is_empty() { &rest } else { rest.trim() }, found), (left, calls), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_calls_is_left_as_it_is(text in "(```(json)?\n?|</?tool_call>|</?function=?|<parameter=|[{}\\[\\]\":a>]|→){0,20}") {
            prop_assert_eq!(extract(&text, &offered()), (text.clone(), vec![]));
        }

        #[test]
        fn any_text_of_an_argument_arrives(content in "(```(json)?\n?|</tool_call>|[a \n\"{}\\[\\]]|→){0,20}") {
            let call = json!({ "name": "write", "arguments": { "path": "a.md", "text": content } });
            for text in [format!("Go.\n```json\n{call}\n```"), format!("<tool_call>\n{call}\n</tool_call> Go.")] {
                let (left, calls) = extract(&text, &offered());
                prop_assert_eq!(left.trim(), "Go.");
                prop_assert_eq!(calls, vec![("write".to_owned(), json!({ "path": "a.md", "text": content }))]);
            }
        }
    }
}
