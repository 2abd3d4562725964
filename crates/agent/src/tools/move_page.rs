//! `move_page`: a page with everything that leads to it.

use docent_pages::refactor::move_page;
use serde::Deserialize;

use super::{Tool, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "move_page",
    description: "Moves or renames a page. Links to it and from it, the navigation and a redirect from the old path \
                  follow.",
    edits: true,
    schema: || {
        let properties = serde_json::json!({
            "from": text("The page, with or without its ending."),
            "to": text("Its new path; the ending may be left out, and a trailing slash means into that folder."),
        });
        object(properties, &["from", "to"])
    },
    run,
};

#[derive(Deserialize)]
struct Input {
    from: String,
    to: String,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { from, to } = input(given)?;
    let (from, to) = (desk.path(&from), desk.path(&to));
    desk.carry_out(move_page(desk.tree(), &from, &to))
}
