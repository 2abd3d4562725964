//! `fix_links`: repairs broken links.

use docent_refactor::fix_links;

use super::{OfferedTo, SelectionArguments, Tool, object, within};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "fix_links",
    offered: OfferedTo::Always,
    description: "Points broken links and anchors at the page or heading that is meant, where history, a redirect, \
                  letter case, the ending, the same path from another folder, or the only page of that name says which. The \
                  others are listed, for you to decide.",
    schema: || object(serde_json::json!({ "in": within() }), &[]),
    begin: |given| edits(given, run),
};

fn run(SelectionArguments { within }: SelectionArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let within = workbench.patterns(&within)?;
    workbench.carry_out(fix_links(workbench.tree(), &within, workbench.history()))
}
