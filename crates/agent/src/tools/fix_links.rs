//! `fix_links`: links that lead nowhere.

use docent_refactor::fix_links;
use serde::Deserialize;

use super::{Offered, Tool, object, within};
use crate::desk::Desk;
use crate::work::{Answer, Patterns, edits};

pub(super) const TOOL: Tool = Tool {
    name: "fix_links",
    offered: Offered::Always,
    description: "Points broken links and anchors at the page or heading that is meant, where history, a redirect, \
                  letter case, the ending, or the only page of that name says which. The others are listed, for you to decide.",
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
    desk.carry_out(fix_links(desk.tree(), &within, &|old| desk.files.moved(old)))
}
