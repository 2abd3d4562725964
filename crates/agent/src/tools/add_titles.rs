//! `add_titles`: titles that are missing.

use docent_refactor::add_titles;
use serde::Deserialize;

use super::{Offered, Tool, object, within};
use crate::desk::Desk;
use crate::work::{Answer, Patterns, edits};

pub(super) const TOOL: Tool = Tool {
    name: "add_titles",
    offered: Offered::Always,
    description: "Adds a `title` to the front matter of every page without one, from the page's own headings and first \
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
    desk.carry_out(add_titles(desk.tree(), &within))
}
