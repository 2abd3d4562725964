//! `move_page`: a page with everything that leads to it.

use docent_refactor::move_page;
use serde::Deserialize;

use super::{Offered, Tool, object, text};
use crate::desk::Desk;
use crate::work::{Answer, edits};

pub(super) const TOOL: Tool = Tool {
    name: "move_page",
    offered: Offered::Always,
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

fn run(Input { from, to }: Input, desk: &mut Desk<'_>) -> Answer {
    let (from, to) = (desk.path(&from)?, desk.path(&to)?);
    desk.carry_out(move_page(desk.tree(), &from, &to))
}
