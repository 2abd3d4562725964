//! `delete_page`: deletes a page and its navigation entry.

use docent_refactor::delete_page;
use serde::Deserialize;

use super::{OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "delete_page",
    offered: OfferedTo::Always,
    description: "Deletes a page and takes it out of the navigation. Links that lead to it are listed, for you to \
                  change.",
    schema: || object(serde_json::json!({ "page": text("The page, with or without its ending.") }), &["page"]),
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct DeletePageArguments {
    #[serde(alias = "path")]
    page: String,
}

fn run(DeletePageArguments { page }: DeletePageArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let page = workbench.path(&page)?;
    workbench.carry_out(delete_page(workbench.tree(), &page))
}
