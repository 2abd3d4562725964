//! `finish`: the end of a turn, once the docs are as sound as they were.

use docent_pages::new_findings;
use serde::Deserialize;
use serde_json::json;

use super::check_docs::listed;
use super::{Tool, flag, object, text};
use crate::desk::{Answer, Desk, input};
use crate::next::Outcome;
use crate::secrets::secrets;

pub(super) const TOOL: Tool = Tool {
    name: "finish",
    description: "Ends your work. The docs are checked first: problems that your changes made come back to you. Fix \
                  them, or, where they have to be, call it again with `known_problems` and name them in the summary.",
    edits: false,
    schema: || {
        let properties = json!({
            "outcome": {
                "enum": ["done", "cannot"],
                "description": "`cannot` when the instruction cannot be carried out; nothing you changed is kept then.",
            },
            "title": text("What was done, in one line of at most 72 characters."),
            "summary": text("What changed, what was left and why, in Markdown."),
            "known_problems": flag("Whether problems that the check finds are meant to stay."),
        });
        object(properties, &["outcome", "title", "summary"])
    },
    run,
};

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ending {
    Done,
    Cannot,
}

#[derive(Deserialize)]
struct Input {
    outcome: Ending,
    title: String,
    summary: String,
    #[serde(default)]
    known_problems: bool,
}

fn run(given: &serde_json::Value, desk: &mut Desk<'_>) -> Answer {
    let Input { outcome, title, summary, known_problems } = input(given)?;
    if summary.trim().is_empty() {
        return Err("the summary is empty; say what changed, or why nothing could be done".to_owned());
    }
    let outcome = match outcome {
        Ending::Done => Outcome::Done,
        Ending::Cannot => Outcome::Cannot,
    };
    if outcome == Outcome::Cannot {
        return Ok("Finished.".to_owned());
    }
    if title.trim().is_empty() {
        return Err("the title is empty; say in a few words what was done".to_owned());
    }
    let changed = desk.files.changed();
    let found = secrets(desk.files.base(), desk.tree(), &changed);
    if !found.is_empty() {
        let lines: Vec<String> = found.iter().take(20).map(|secret| format!("- {secret}")).collect();
        return Err(format!("Secrets may not be committed; take them out:\n\n{}", lines.join("\n")));
    }
    if known_problems {
        return Ok("Finished.".to_owned());
    }
    match new_findings(desk.files.base(), desk.tree(), &changed) {
        found if found.is_empty() => Ok("Finished.".to_owned()),
        found => Err(listed(&found)),
    }
}
