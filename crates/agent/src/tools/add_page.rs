//! `add_page`: a new page, and its place in the navigation.

use docent_pages::refactor::{OutlineHeading, add_page};
use serde::Deserialize;
use serde_json::json;

use super::{Tool, object, text};
use crate::desk::{Answer, Desk, input};

pub(super) const TOOL: Tool = Tool {
    name: "add_page",
    description: "Adds a page with a title and headings, and names it in the navigation beside the pages of its \
                  folder. Fill it in with `edit` or `insert`.",
    edits: true,
    schema: || {
        let heading = object(
            json!({
                "level": { "type": "integer", "minimum": 2, "maximum": 6 },
                "heading": text("The words of the heading."),
            }),
            &["heading"],
        );
        let properties = json!({
            "path": text("Where the page goes; the ending may be left out."),
            "title": text("Its title."),
            "outline": { "type": "array", "items": heading, "description": "Its headings, in order." },
        });
        object(properties, &["path", "title"])
    },
    run,
};

#[derive(Deserialize)]
struct Input {
    path: String,
    title: String,
    #[serde(default)]
    outline: Vec<Heading>,
}

#[derive(Deserialize)]
struct Heading {
    #[serde(default = "outermost")]
    level: u8,
    heading: String,
}

fn outermost() -> u8 {
    2
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { path, title, outline } = input(given)?;
    if title.trim().is_empty() {
        return Err("the title is empty".to_owned());
    }
    let path = desk.path(&path);
    let outline: Vec<OutlineHeading> =
        outline.into_iter().map(|item| OutlineHeading { level: item.level, text: item.heading }).collect();
    desk.carry_out(add_page(desk.tree(), &path, &title, &outline))
}
