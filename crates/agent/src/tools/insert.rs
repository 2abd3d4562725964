//! `insert`: inserts lines after a line.

use serde::Deserialize;

use super::{OfferedTo, Tool, number, object, text};
use crate::parsed_call::{CallResult, edits, whole};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "insert",
    offered: OfferedTo::Separately,
    description: "Inserts lines into a file after the line with this number; 0 is the top of the file.",
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "after_line": number("The line to insert after, counted from 1; 0 for the top."),
            "text": text("The lines to insert."),
        });
        object(properties, &["path", "after_line", "text"])
    },
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct InsertArguments {
    #[serde(alias = "file_path")]
    path: String,
    #[serde(alias = "insert_line", alias = "line", deserialize_with = "whole")]
    after_line: Option<usize>,
    #[serde(alias = "insert_text", alias = "new_str", alias = "content")]
    text: String,
}

fn run(InsertArguments { path, after_line, text }: InsertArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let after_line = after_line.ok_or("`after_line` is null; give the line to insert after, or 0 for the top")?;
    insert(workbench, &path, after_line, &text)
}

/// Inserts lines after a line, counted from 1, or at the top for 0, with the line ends of the file.
pub(super) fn insert(workbench: &mut Workbench<'_>, path: &str, after_line: usize, text: &str) -> CallResult {
    let (path, before) = workbench.text(path)?;
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    if after_line > lines.len() {
        return Err(format!("`{path}` has {} lines; there is no line {after_line}", lines.len()));
    }
    if text.is_empty() {
        return Err("there is no text to insert".to_owned());
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
    workbench.write(&path, after.into_bytes())?;
    Ok(format!("Inserted {} lines into `{path}` after line {after_line}.", text.lines().count()))
}
