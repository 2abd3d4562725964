//! `delete_page`: a page and its place in the navigation.

use docent_refactor::delete_page;
use serde::Deserialize;

use super::{Offered, Tool, object, text};
use crate::desk::Desk;
use crate::work::{Answer, edits};

pub(super) const TOOL: Tool = Tool {
    name: "delete_page",
    offered: Offered::Always,
    description: "Deletes a page and takes it out of the navigation. Links that lead to it are listed, for you to \
                  change.",
    schema: || object(serde_json::json!({ "page": text("The page, with or without its ending.") }), &["page"]),
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct Input {
    #[serde(alias = "path")]
    page: String,
}

fn run(Input { page }: Input, desk: &mut Desk<'_>) -> Answer {
    let page = desk.path(&page)?;
    desk.carry_out(delete_page(desk.tree(), &page))
}
