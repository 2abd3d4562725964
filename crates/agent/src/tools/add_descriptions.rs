//! `add_descriptions`: descriptions that are missing.

use docent_refactor::add_descriptions;
use serde::Deserialize;

use super::{Offered, Tool, object, within};
use crate::desk::Desk;
use crate::work::{Answer, Patterns, edits};

pub(super) const TOOL: Tool = Tool {
    name: "add_descriptions",
    offered: Offered::Always,
    description: "Adds a `description` to the front matter of every page without one, from the page's own first \
                  words.",
    schema: || object(serde_json::json!({ "in": within() }), &[]),
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct Input {
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob")]
    within: Patterns,
}

fn run(Input { within }: Input, desk: &mut Desk<'_>) -> Answer {
    let within = desk.patterns(&within)?;
    desk.carry_out(add_descriptions(desk.tree(), &within))
}
