//! `delete_page`: a page and its place in the navigation.

use docent_pages::refactor::delete_page;
use serde::Deserialize;

use super::{Tool, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "delete_page",
    description: "Deletes a page and takes it out of the navigation. Links that lead to it are listed, for you to \
                  change.",
    edits: true,
    schema: || object(serde_json::json!({ "page": text("The page, with or without its ending.") }), &["page"]),
    run,
};

#[derive(Deserialize)]
struct Input {
    page: String,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { page } = input(given)?;
    let page = desk.path(&page);
    desk.carry_out(delete_page(desk.tree(), &page))
}
