//! `add_titles`: adds missing titles.

use docent_refactor::add_titles;

use super::{OfferedTo, SelectionArguments, Tool, object, within};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "add_titles",
    offered: OfferedTo::Always,
    description: "Adds a `title` to the front matter of every page without one, from the page's own headings and first \
                  words.",
    schema: || object(serde_json::json!({ "in": within() }), &[]),
    begin: |given| edits(given, run),
};

fn run(SelectionArguments { within }: SelectionArguments, workbench: &mut Workbench<'_>) -> CallResult {
    let within = workbench.patterns(&within)?;
    workbench.carry_out(add_titles(workbench.tree(), &within))
}
