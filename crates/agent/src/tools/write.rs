//! `write`: a whole file.

use serde::Deserialize;

use super::{Tool, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "write",
    description: "Writes a whole file, new or in the place of the old one. For a small change to a file use `edit`; a \
                  new page is better made with `add_page`, which also names it in the navigation.",
    edits: true,
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "content": text("All of its text."),
        });
        object(properties, &["path", "content"])
    },
    run,
};

#[derive(Deserialize)]
struct Input {
    path: String,
    content: String,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { path, content } = input(given)?;
    let path = desk.path(&path);
    let is_new = desk.tree().read(&path).is_none();
    let lines = content.lines().count();
    desk.write(&path, content.into_bytes())?;
    Ok(format!("{} `{path}`, {lines} lines.", if is_new { "Made" } else { "Replaced" }))
}
