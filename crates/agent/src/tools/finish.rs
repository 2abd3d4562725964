//! `finish`: ends a turn once the docs have no new problems.

use docent_site::{DoubtedFindings, Finding, Rule, new_findings, unwritten};
use serde::Deserialize;
use serde_json::json;

use super::check_docs::listed;
use super::{OfferedTo, Tool, flag, object, text};
use crate::parsed_call::{CallResult, ends, lenient_bool};
use crate::secrets::secrets;
use crate::transcript::ToolResult;
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "finish",
    offered: OfferedTo::Always,
    description: "Ends your work. The docs are checked first: problems that your changes made come back to you. Fix \
                  them, or, where they have to be, call it again with `known_problems`: they are added to the summary.",
    schema: || {
        let properties = json!({
            "outcome": {
                "type": "string",
                "enum": ["done", "cannot"],
                "description": "`cannot` when the instruction cannot be carried out; nothing you changed is kept then.",
            },
            "title": text("What was done, in one line of at most 72 characters."),
            "summary": text("What changed, what was left and why, in Markdown."),
            "known_problems": flag("Whether problems that the check finds are meant to stay."),
        });
        object(properties, &["outcome", "title", "summary"])
    },
    begin: |given| ends(given, run),
};

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ending {
    Done,
    Cannot,
}

#[derive(Deserialize)]
struct FinishArguments {
    outcome: Ending,
    title: String,
    summary: String,
    #[serde(default, deserialize_with = "lenient_bool")]
    known_problems: bool,
    #[serde(default, rename = "failed_edits")]
    failed_edits: FailedEdits,
    /// The summary names every edit that failed. Models are not told of it: they are asked to try again.
    #[serde(default)]
    tells_failures: bool,
}

/// The value of [`FAILED_EDITS`], which is added to a model's call when every edit of its turn failed.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FailedEdits {
    #[default]
    None,
    New,
    /// The model was told of them.
    Told,
}

/// The name of a field of the input that is not offered to models.
pub(crate) const FAILED_EDITS: &str = "failed_edits";

fn run(
    FinishArguments { outcome, title, summary, known_problems, failed_edits, tells_failures }: FinishArguments,
    workbench: &Workbench<'_>,
) -> CallResult {
    if summary.trim().is_empty() {
        return Err("the summary is empty; say what changed, or why nothing could be done".to_owned());
    }
    if matches!(outcome, Ending::Cannot) {
        return Ok(ACCEPTED.to_owned());
    }
    if title.trim().is_empty() {
        return Err("the title is empty; say in a few words what was done".to_owned());
    }
    let changed = workbench.files.changed();
    match failed_edits {
        FailedEdits::New if changed.is_empty() && !tells_failures => return Err(NOTHING_CHANGED.to_owned()),
        FailedEdits::Told if changed.is_empty() && !tells_failures => return Ok(WITHOUT_CHANGE.to_owned()),
        _ => {}
    }
    let found = secrets(workbench.files.base(), workbench.tree(), &changed);
    if !found.is_empty() {
        let lines: Vec<String> = found.iter().take(20).map(|secret| format!("- {secret}")).collect();
        return Err(format!("Secrets may not be committed; take them out:\n\n{}", lines.join("\n")));
    }
    // Constructs that could not be parsed are not problems to fix.
    let checked = new_findings(workbench.files.base(), workbench.tree(), &changed);
    let (found, asked) = (checked.findings, questions(checked.doubts, workbench));
    let parts = [("Left for you to decide:", HANDED_BACK, found), ("Could not be checked:", ASKED, asked)];
    let parts = parts.into_iter().filter(|(_, _, found)| !found.is_empty());
    if known_problems {
        let parts = parts.map(|(left, _, found)| format!("\n\n{left}\n\n{}", listed(&found)));
        return Ok(format!("{ACCEPTED}{}", parts.collect::<String>()));
    }
    let parts: Vec<String> = parts.map(|(_, back, found)| format!("{back}\n\n{}", listed(&found))).collect();
    if parts.is_empty() { Ok(ACCEPTED.to_owned()) } else { Err(parts.join("\n\n")) }
}

/// The new links that may be broken by rules that are not understood, and that nobody wrote in the docs before.
fn questions(doubts: Vec<DoubtedFindings>, workbench: &Workbench<'_>) -> Vec<Finding> {
    let is_link = |doubt: &DoubtedFindings| matches!(doubt.rule, Rule::Link(_) | Rule::Anchor | Rule::Followable);
    let found = doubts.into_iter().filter(is_link).flat_map(|doubt| doubt.findings).collect();
    unwritten(workbench.files.base(), found)
}

const ACCEPTED: &str = "Finished.";
const HANDED_BACK: &str = "Your changes broke something. Fix it, or call `finish` again with `known_problems` where it \
                           has to be so:";

const ASKED: &str = "Where these links lead is not understood, and nobody wrote them in the docs before. Correct those that \
                     are wrong, and call `finish` again with `known_problems` if they are right:";

const NOTHING_CHANGED: &str = "Nothing is changed: every edit failed. Look at the answers and make the change in another \
                               way, or call `finish` with the outcome `cannot` and say why.";
const WITHOUT_CHANGE: &str = "Ended. Nothing is changed: every edit failed.";

/// Whether this is a result of `finish` that tells the model of failed edits.
pub(crate) fn was_told_of_edits(result: &ToolResult) -> bool {
    result.is_error && [NOTHING_CHANGED, super::UNSEEN].contains(&result.output.as_str())
}

/// Whether an accepted `finish` ended a turn whose edits all failed.
pub(crate) fn changed_nothing(output: &str) -> bool {
    output == WITHOUT_CHANGE
}

/// Whether this is a result of `finish` that returns problems to the model.
pub(crate) fn is_handed_back(result: &ToolResult) -> bool {
    result.is_error && [HANDED_BACK, ASKED].iter().any(|back| result.output.starts_with(back))
}

/// The text that an accepted `finish` adds to the summary of its call: the remaining problems.
pub(crate) fn remaining_problems(output: &str) -> &str {
    output.strip_prefix(ACCEPTED).unwrap_or("").trim()
}
