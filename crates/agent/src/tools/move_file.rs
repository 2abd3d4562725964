//! `move`: moves a file to another path, and changes nothing else.

use docent_markdown::is_page;
use docent_refactor::Change;

use super::{MoveArguments, OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "move",
    offered: OfferedTo::Always,
    description: "Moves a file as it is. Links to it do not follow: for a page use `move_page`.",
    schema: || {
        let properties = serde_json::json!({
            "from": text("The file, relative to the docs root."),
            "to": text("Its new path."),
        });
        object(properties, &["from", "to"])
    },
    begin: |given| edits(given, run),
};

fn run(MoveArguments { from, to }: MoveArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let (from, bytes) = workbench.bytes(&from)?;
    let to = workbench.path(&to)?;
    if from == to {
        return Err(format!("`{from}` is there already"));
    }
    if workbench.tree().read(&to).is_some() {
        return Err(format!("there is a file `{to}` already"));
    }
    workbench.make(&[Change::Delete { path: from.clone() }, Change::Create { path: to.clone(), bytes }])?;
    let page = if is_page(&from) { "; to have them follow, move it back and use `move_page`" } else { "" };
    Ok(format!("Moved `{from}` to `{to}`. Links to it are as they were{page}."))
}
