//! `delete`: a file, and nothing else.

use docent_pages::refactor::Change;
use serde::Deserialize;

use super::{Tool, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "delete",
    description: "Deletes a file. For a page use `delete_page`, which also takes it out of the navigation and tells \
                  which links lead to it.",
    edits: true,
    schema: || object(serde_json::json!({ "path": text("The file, relative to the docs root.") }), &["path"]),
    run,
};

#[derive(Deserialize)]
struct Input {
    path: String,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { path } = input(given)?;
    let (path, _) = desk.read(&path)?;
    desk.make(&[Change::Delete { path: path.clone() }])?;
    Ok(format!("Deleted `{path}`."))
}
