//! What an agent's tool call does, as a sentence: `Read guides/webhooks.mdx, lines 1 to 80`.

use maud::{Markup, html};
use serde_json::Value;

use crate::text::{Untrusted, shortened};
use crate::words::{Place, file_name};

/// Longest text of an argument in a sentence, in characters.
const MAX_ARGUMENT_CHARS: usize = 80;

/// A tool call as a sentence. A tool that is not known is called by its name.
pub(super) fn sentence(name: &str, input: &Value, place: Place<'_>) -> Markup {
    let text = |names: &[&str]| names.iter().find_map(|name| input.get(name)).map(plain).unwrap_or_default();
    let file = |names: &[&str]| file_name(&shortened(&text(names), MAX_ARGUMENT_CHARS), place);
    let quoted = |names: &[&str]| html! { "“" (Untrusted(&shortened(&text(names), MAX_ARGUMENT_CHARS))) "”" };
    let path = ["path", "file_path", "page"];
    let within = || within(input, place);
    html! {
        @match name {
            "read" => { "Read " (file(&path)) (lines(input)) },
            "list" => { "Looked at the list of files" (within()) },
            "search_text" => { "Searched for " (quoted(&["pattern", "regex", "query"])) (within()) },
            "search_docs" => { "Searched the published docs for " (quoted(&["query", "words", "q"])) },
            "check_docs" => { "Checked the docs" (within()) },
            "edit" => { "Edited " (file(&path)) },
            "insert" => { "Inserted lines into " (file(&path)) },
            "write" => { "Wrote " (file(&path)) },
            "delete" | "delete_page" => { "Deleted " (file(&path)) },
            "move" | "move_page" => { "Moved " (file(&["from", "path", "page"])) " to " (file(&["to", "target", "destination"])) },
            "add_page" => { "Added the page " (file(&path)) ", titled " (quoted(&["title"])) },
            "add_titles" => { "Added missing titles" (within()) },
            "add_descriptions" => { "Added missing descriptions" (within()) },
            "fix_links" => { "Mended links" (within()) },
            "replace_text" => { "Replaced " (quoted(&["find"])) " with " (quoted(&["replace"])) (within()) },
            "set_front_matter" => { "Set " code { (Untrusted(&shortened(&text(&["field"]), MAX_ARGUMENT_CHARS))) } " to " (quoted(&["value"])) (within()) },
            "todo_write" => "Wrote the plan",
            "finish" => { "Finished: " (quoted(&["title"])) },
            "str_replace_based_edit_tool" => (editor(input, &file(&path), &lines_of_range(input))),
            other => { "Called " code { (Untrusted(other)) } },
        }
    }
}

/// A call of the editor whose commands are one tool.
fn editor(input: &Value, file: &Markup, lines: &Markup) -> Markup {
    html! {
        @match input.get("command").and_then(Value::as_str).unwrap_or_default() {
            "view" => { "Read " (file) (lines) },
            "create" => { "Wrote " (file) },
            "insert" => { "Inserted lines into " (file) },
            _ => { "Edited " (file) },
        }
    }
}

fn lines(input: &Value) -> Markup {
    let number = |names: [&str; 2]| names.iter().find_map(|name| input.get(name)?.as_u64());
    span(number(["from_line", "start_line"]), number(["to_line", "end_line"]))
}

fn lines_of_range(input: &Value) -> Markup {
    let at = |index| input.get("view_range").and_then(|range| range.get(index)).and_then(Value::as_u64);
    span(at(0), at(1))
}

fn span(from: Option<u64>, to: Option<u64>) -> Markup {
    html! {
        @match (from, to) {
            (Some(from), Some(to)) => { ", lines " (from) " to " (to) },
            (Some(from), None) => { ", from line " (from) },
            (None, Some(to)) => { ", up to line " (to) },
            (None, None) => {}
        }
    }
}

fn within(input: &Value, place: Place<'_>) -> Markup {
    let found = ["in", "paths", "path", "glob", "within"].iter().find_map(|name| input.get(name));
    let patterns: Vec<String> = match found {
        Some(Value::Array(all)) => all.iter().map(plain).collect(),
        Some(one) => vec![plain(one)],
        None => Vec::new(),
    };
    let patterns: Vec<&String> = patterns.iter().filter(|pattern| !pattern.is_empty()).collect();
    html! {
        @for (at, pattern) in patterns.iter().take(3).enumerate() { @if at == 0 { " in " } @else { ", " } (file_name(&shortened(pattern, MAX_ARGUMENT_CHARS), place)) }
        @if patterns.len() > 3 { " and " (patterns.len() - 3) " more" }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use docent_types::Domain;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_a_sentence() {
        let domain = Domain::parse("acme").expect("a domain");
        let place = Place { domain: &domain, docs_root: "", docs: None };
        let said = |name: &str, input: Value| {
            let html = sentence(name, &input, place).into_string();
            let mut text = String::new();
            let mut is_tag = false;
            for c in html.chars() {
                match c {
                    '<' => is_tag = true,
                    '>' => is_tag = false,
                    c if !is_tag => text.push(c),
                    _ => {}
                }
            }
            text
        };
        for (name, input, expected) in [
            (
                "read",
                json!({ "path": "guides/webhooks.mdx", "from_line": 1, "to_line": 80 }),
                "Read guides/webhooks.mdx, lines 1 to 80",
            ),
            ("read", json!({ "file_path": "a.md" }), "Read a.md"),
            (
                "replace_text",
                json!({ "find": "<b>", "replace": "c", "in": ["x/*", "y.md"] }),
                "Replaced “&lt;b&gt;” with “c” in x/*, y.md",
            ),
            (
                "str_replace_based_edit_tool",
                json!({ "command": "view", "path": "a.md", "view_range": [3, 9] }),
                "Read a.md, lines 3 to 9",
            ),
            ("move_page", json!({ "from": "a", "to": "b" }), "Moved a to b"),
            ("set_front_matter", json!({ "field": "draft", "value": true }), "Set draft to “true”"),
            ("future_tool", json!(7), "Called future_tool"),
        ] {
            assert_eq!(said(name, input), expected);
        }
    }
}
