//! `set_front_matter`: one field, on one page or many.

use docent_refactor::{FieldContent, set_front_matter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Offered, Tool, object, text, within};
use crate::desk::Desk;
use crate::work::{Answer, Patterns, edits};

pub(super) const TOOL: Tool = Tool {
    name: "set_front_matter",
    offered: Offered::Always,
    description: "Sets a front matter field on pages. Comments and the order of fields stay as they are.",
    schema: || {
        let properties = json!({
            "field": text("The field's name, for example `sidebarTitle`."),
            "value": { "type": ["string", "boolean", "number"], "description": "What it is set to." },
            "in": within(),
        });
        object(properties, &["field", "value"])
    },
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct Input {
    field: String,
    value: Value,
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob")]
    within: Patterns,
}

fn run(Input { field, value, within }: Input, desk: &mut Desk<'_>) -> Answer {
    let content = match value {
        Value::String(text) => FieldContent::Text(text),
        Value::Bool(flag) => FieldContent::Flag(flag),
        Value::Number(number) => FieldContent::Number(number.to_string()),
        _ => return Err("`value` has to be a text, a number, true or false".to_owned()),
    };
    let within = desk.patterns(&within)?;
    desk.carry_out(set_front_matter(desk.tree(), &field, &content, &within))
}
