//! `add_descriptions`: descriptions that are missing.

use docent_pages::refactor::add_descriptions;
use serde::Deserialize;

use super::{Tool, object, within};
use crate::desk::{Answer, Desk, Patterns, input};

pub(super) const TOOL: Tool = Tool {
    name: "add_descriptions",
    description: "Adds a `description` to the front matter of every page without one, from the page's own first \
                  words.",
    edits: true,
    schema: || object(serde_json::json!({ "in": within() }), &[]),
    run,
};

#[derive(Deserialize)]
struct Input {
    #[serde(default, rename = "in")]
    within: Patterns,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { within } = input(given)?;
    let within = desk.patterns(&within);
    desk.carry_out(add_descriptions(desk.tree(), &within))
}
