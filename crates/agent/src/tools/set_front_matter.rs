//! `set_front_matter`: sets a frontmatter field on one page or several.

use docent_refactor::{FieldContent, set_front_matter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{OfferedTo, Tool, object, text, within};
use crate::parsed_call::{CallResult, Patterns, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "set_front_matter",
    offered: OfferedTo::Always,
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
struct SetFrontMatterArguments {
    field: String,
    value: Value,
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob")]
    within: Patterns,
}

fn run(
    SetFrontMatterArguments { field, value, within }: SetFrontMatterArguments,
    workbench: &mut Workbench<'_>,
) -> CallResult {
    let content = match value {
        Value::String(text) => FieldContent::Text(text),
        Value::Bool(flag) => FieldContent::Flag(flag),
        Value::Number(number) => FieldContent::Number(number.to_string()),
        _ => return Err("`value` has to be a text, a number, true or false".to_owned()),
    };
    let within = workbench.patterns(&within)?;
    workbench.carry_out(set_front_matter(workbench.tree(), &field, &content, &within))
}
