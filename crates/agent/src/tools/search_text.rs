//! `search_text`: where a pattern stands.

use docent_pages::Routes;
use docent_pages::refactor::Selection;
use regex::RegexBuilder;
use serde::Deserialize;

use super::{Tool, flag, object, text, within};
use crate::desk::{Answer, Desk, Patterns, input};

pub(super) const TOOL: Tool = Tool {
    name: "search_text",
    description: "Searches the text files of the docs line by line with a regular expression (Rust syntax, no \
                  look-around) and gives file, line and text of each match.",
    edits: false,
    schema: || {
        let properties = serde_json::json!({
            "pattern": text("The regular expression."),
            "in": within(),
            "ignore_case": flag("Whether case does not matter."),
        });
        object(properties, &["pattern"])
    },
    run,
};

const MATCHES: usize = 200;
const WIDTH: usize = 300;
/// Files beyond this many bytes are no docs.
const LARGEST: usize = 4 << 20;

#[derive(Deserialize)]
struct Input {
    pattern: String,
    #[serde(default, rename = "in")]
    within: Patterns,
    #[serde(default)]
    ignore_case: bool,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { pattern, within, ignore_case } = input(given)?;
    let pattern = RegexBuilder::new(&pattern)
        .case_insensitive(ignore_case)
        .size_limit(1 << 20)
        .build()
        .map_err(|why| format!("the pattern is no regular expression: {why}"))?;
    let routes = Routes::of(desk.tree());
    let selection = Selection::of(&routes, &desk.patterns(&within)).map_err(|why| why.to_string())?;
    let (mut shown, mut count, mut files) = (String::new(), 0, 0);
    for file in routes.files().filter(|file| !selection.is_narrowed() || selection.has(file)) {
        let Some(bytes) = desk.tree().read(file).filter(|bytes| bytes.len() <= LARGEST && !bytes.contains(&0)) else {
            continue;
        };
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        let before = count;
        for (index, line) in text.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            count += 1;
            if count <= MATCHES {
                let line: String = line.trim().chars().take(WIDTH).collect();
                shown.push_str(&format!("{file}:{}: {line}\n", index + 1));
            }
        }
        files += usize::from(count > before);
    }
    Ok(match count {
        0 => "nothing matches".to_owned(),
        count if count > MATCHES => {
            format!("{shown}… {} more matches, {files} files in all; narrow the pattern or use `in`", count - MATCHES)
        }
        _ => shown,
    })
}
