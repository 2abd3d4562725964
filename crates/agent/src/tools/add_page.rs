//! `add_page`: adds a page and its navigation entry.

use docent_refactor::{OutlineHeading, add_page};
use serde::Deserialize;
use serde_json::json;

use super::{OfferedTo, Tool, object, text};
use crate::parsed_call::{CallResult, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "add_page",
    offered: OfferedTo::Always,
    description: "Adds a page with a title and headings, and names it in the navigation beside the pages of its \
                  folder. Its text is for you to fill in afterwards.",
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
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct AddPageArguments {
    #[serde(alias = "file_path")]
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

fn run(AddPageArguments { path, title, outline }: AddPageArguments, workbench: &mut Workbench<'_>) -> CallResult {
    if title.trim().is_empty() {
        return Err("the title is empty".to_owned());
    }
    let path = workbench.path(&path)?;
    let outline: Vec<OutlineHeading> =
        outline.into_iter().map(|item| OutlineHeading { level: item.level, text: item.heading }).collect();
    workbench.carry_out(add_page(workbench.tree(), &path, &title, &outline))
}
