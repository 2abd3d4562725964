//! `list`: which files there are.

use docent_pages::Routes;
use docent_pages::refactor::Selection;
use serde::Deserialize;

use super::{Tool, number, object, within};
use crate::desk::{Answer, Desk, Patterns, input};

pub(super) const TOOL: Tool = Tool {
    name: "list",
    description: "Lists the files of the docs, in order. Narrow it with `in`; go on with `from` when there are more.",
    edits: false,
    schema: || object(serde_json::json!({ "in": within(), "from": number("How many files to skip.") }), &[]),
    run,
};

/// How many files are listed at a time.
const PAGE: usize = 500;

#[derive(Deserialize)]
struct Input {
    #[serde(default, rename = "in")]
    within: Patterns,
    #[serde(default)]
    from: usize,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { within, from } = input(given)?;
    let routes = Routes::of(desk.tree());
    let selection = Selection::of(&routes, &desk.patterns(&within)).map_err(|why| why.to_string())?;
    let chosen = |file: &&str| !selection.is_narrowed() || selection.has(file);
    let files: Vec<&str> = routes.files().filter(chosen).collect();
    let shown: Vec<&str> = files.iter().skip(from).take(PAGE).copied().collect();
    let end = from + shown.len();
    let mut text = shown.join("\n");
    if end < files.len() {
        text.push_str(&format!("\n… {} more; go on with `from`: {end}", files.len() - end));
    }
    Ok(if text.is_empty() { "there are no files".to_owned() } else { text })
}
