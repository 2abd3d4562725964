//! `write`: writes a complete file.

use serde::Deserialize;

use super::{OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "write",
    offered: OfferedTo::Separately,
    description: "Writes a whole file, new or in the place of the old one. For a small change to a file use `edit`; a \
                  new page is better made with `add_page`, which also names it in the navigation.",
    schema: || {
        let properties = serde_json::json!({
            "path": text("The file, relative to the docs root."),
            "content": text("All of its text."),
        });
        object(properties, &["path", "content"])
    },
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct WriteArguments {
    #[serde(alias = "file_path")]
    path: String,
    #[serde(alias = "file_text", alias = "text", alias = "contents")]
    content: String,
}

fn run(WriteArguments { path, content }: WriteArguments, workbench: &mut Workbench<'_>) -> CallResult {
    write(workbench, &path, content)
}

/// Writes this text as the complete content of a file.
pub(super) fn write(workbench: &mut Workbench<'_>, path: &str, content: String) -> CallResult {
    let path = workbench.path(path)?;
    let is_new = workbench.tree().read(&path).is_none();
    let lines = content.lines().count();
    workbench.write(&path, content.into_bytes())?;
    Ok(format!("{} `{path}`, {lines} lines.", if is_new { "Made" } else { "Replaced" }))
}
