//! `fix_links`: links that lead nowhere.

use docent_pages::refactor::fix_links;
use serde::Deserialize;

use super::{Tool, object, within};
use crate::desk::{Answer, Desk, Patterns, input};

pub(super) const TOOL: Tool = Tool {
    name: "fix_links",
    description: "Points broken links and anchors at the page or heading that is clearly meant. Those where none or \
                  several could be meant are listed, for you to decide.",
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
    desk.carry_out(fix_links(desk.tree(), &within))
}
