//! `move_page`: moves a page and updates everything that leads to it.

use docent_refactor::move_page;
use serde::Deserialize;

use super::{OfferedTo, Tool, object, text};
use crate::parsed_call::{Answer, edits};
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

#[derive(Deserialize)]
struct Input {
    #[serde(alias = "old_path", alias = "source")]
    from: String,
    #[serde(alias = "new_path", alias = "destination")]
    to: String,
}

fn run(Input { from, to }: Input, workbench: &mut Workbench<'_>) -> Answer {
    let (from, to) = (workbench.path(&from)?, workbench.path(&to)?);
    workbench.carry_out(move_page(workbench.tree(), &from, &to))
}
