//! `delete`: deletes a file without updating links or the navigation.

use docent_refactor::Change;
use serde::Deserialize;

use super::{OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "delete",
    offered: OfferedTo::Always,
    description: "Deletes a file. For a page use `delete_page`, which also takes it out of the navigation and tells \
                  which links lead to it.",
    schema: || object(serde_json::json!({ "path": text("The file, relative to the docs root.") }), &["path"]),
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct DeleteArguments {
    #[serde(alias = "file_path")]
    path: String,
}

fn run(DeleteArguments { path }: DeleteArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let (path, _) = workbench.bytes(&path)?;
    workbench.make(&[Change::Delete { path: path.clone() }])?;
    Ok(format!("Deleted `{path}`."))
}
