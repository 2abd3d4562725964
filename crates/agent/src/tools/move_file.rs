//! `move`: a file to another path, and nothing else.

use docent_pages::refactor::Change;
use serde::Deserialize;

use super::{Tool, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "move",
    description: "Moves a file as it is. Links to it do not follow: for a page use `move_page`.",
    edits: true,
    schema: || {
        let properties = serde_json::json!({
            "from": text("The file, relative to the docs root."),
            "to": text("Its new path."),
        });
        object(properties, &["from", "to"])
    },
    run,
};

#[derive(Deserialize)]
struct Input {
    from: String,
    to: String,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { from, to } = input(given)?;
    let (from, bytes) = desk.read(&from)?;
    let to = desk.path(&to);
    if from == to {
        return Err(format!("`{from}` is there already"));
    }
    if desk.tree().read(&to).is_some() {
        return Err(format!("there is a file `{to}` already"));
    }
    desk.make(&[Change::Delete { path: from.clone() }, Change::Create { path: to.clone(), bytes }])?;
    Ok(format!("Moved `{from}` to `{to}`. Links to it are as they were."))
}
