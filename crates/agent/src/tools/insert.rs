//! `insert`: new lines after a line.

use serde::Deserialize;

use super::{Tool, number, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "insert",
    description: "Inserts lines into a file after the line with this number; 0 is the top of the file.",
    edits: true,
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "after_line": number("The line to insert after, counted from 1; 0 for the top."),
            "text": text("The lines to insert."),
        });
        object(properties, &["path", "after_line", "text"])
    },
    run,
};

#[derive(Deserialize)]
struct Input {
    path: String,
    after_line: usize,
    text: String,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { path, after_line, text } = input(given)?;
    let (path, before) = desk.text(&path)?;
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    if after_line > lines.len() {
        return Err(format!("`{path}` has {} lines; there is no line {after_line}", lines.len()));
    }
    if text.is_empty() {
        return Err("`text` is empty".to_owned());
    }
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let mut after: String = lines[..after_line].concat();
    if !after.is_empty() && !after.ends_with('\n') {
        after.push_str(newline);
    }
    after.push_str(&text.replace("\r\n", "\n").replace('\n', newline));
    if !after.ends_with('\n') && (after_line < lines.len() || before.ends_with('\n')) {
        after.push_str(newline);
    }
    after.push_str(&lines[after_line..].concat());
    desk.write(&path, after.into_bytes())?;
    Ok(format!("Inserted {} lines into `{path}` after line {after_line}.", text.lines().count()))
}
