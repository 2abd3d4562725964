//! `set_front_matter`: one field, on one page or many.

use docent_pages::refactor::{FieldContent, set_front_matter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, object, text, within};
use crate::desk::{Answer, Desk, Patterns, input};

pub(super) const TOOL: Tool = Tool {
    name: "set_front_matter",
    description: "Sets a front matter field on pages. Comments and the order of fields stay as they are.",
    edits: true,
    schema: || {
        let properties = json!({
            "field": text("The field's name, for example `sidebarTitle`."),
            "value": { "type": ["string", "boolean", "number"], "description": "What it is set to." },
            "in": within(),
        });
        object(properties, &["field", "value"])
    },
    run,
};

#[derive(Deserialize)]
struct Input {
    field: String,
    value: Value,
    #[serde(default, rename = "in")]
    within: Patterns,
}

fn run(given: &Value, desk: &mut Desk<'_>) -> Answer {
    let Input { field, value, within } = input(given)?;
    let content = match value {
        Value::String(text) => FieldContent::Text(text),
        Value::Bool(flag) => FieldContent::Flag(flag),
        Value::Number(number) => FieldContent::Number(number.to_string()),
        _ => return Err("`value` has to be a text, a number, true or false".to_owned()),
    };
    let within = desk.patterns(&within);
    desk.carry_out(set_front_matter(desk.tree(), &field, &content, &within))
}
