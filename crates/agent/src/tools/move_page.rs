//! `move_page`: moves a page and updates the links and navigation entries that lead to it.

use docent_refactor::move_page;

use super::{MoveArguments, OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "move_page",
    offered: OfferedTo::Always,
    description: "Moves or renames a page. Links to it and from it, the navigation and a redirect from the old path \
                  follow.",
    schema: || {
        let properties = serde_json::json!({
            "from": text("The page, with or without its ending."),
            "to": text("Its new path; the ending may be left out, and a trailing slash means into that folder."),
        });
        object(properties, &["from", "to"])
    },
    begin: |given| edits(given, run),
};

fn run(MoveArguments { from, to }: MoveArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let (from, to) = (workbench.path(&from)?, workbench.path(&to)?);
    workbench.carry_out(move_page(workbench.tree(), workbench.files.origin(), &from, &to))
}
