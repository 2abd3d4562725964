//! `replace_text`: replaces a text by another in all docs.

use docent_refactor::replace_text;
use serde::Deserialize;

use super::{OfferedTo, Tool, object, text, within};
use crate::parsed_call::{CallResult, Patterns, edits};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "replace_text",
    offered: OfferedTo::Always,
    description: "Replaces a text on every page: prose, code and front matter, and the labels of the navigation. A \
                  single word is replaced as a whole word only. Names of components and fields are left alone, and so \
                  are links and URLs unless `in` names the pages. Links to headings that change follow.",
    schema: || {
        let properties = serde_json::json!({
            "find": text("The text to replace; case matters."),
            "replace": text("The text to put in its place."),
            "in": within(),
        });
        object(properties, &["find", "replace"])
    },
    begin: |given| edits(given, run),
};

#[derive(Deserialize)]
struct ReplaceTextArguments {
    find: String,
    replace: String,
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob")]
    within: Patterns,
}

fn run(
    ReplaceTextArguments { find, replace, within }: ReplaceTextArguments,
    workbench: &mut Workbench<'_>,
) -> CallResult {
    let within = workbench.patterns(&within)?;
    workbench.carry_out(replace_text(workbench.tree(), &find, &replace, &within))
}
