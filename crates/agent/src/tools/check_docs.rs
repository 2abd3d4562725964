//! `check_docs`: problems of the docs.

use docent_refactor::Selection;
use docent_site::{DoubtedFindings, Finding, Site, findings, findings_in, new_findings};
use serde::Deserialize;

use super::{OfferedTo, Tool, flag, object, within};
use crate::parsed_call::{CallResult, Patterns, lenient_bool, reads};
use crate::workbench::Workbench;

pub(super) const TOOL: Tool = Tool {
    name: "check_docs",
    offered: OfferedTo::Always,
    description: "Checks links, anchors, MDX, titles and the navigation. Tells what your changes broke; with `all`, \
                  also what was broken before.",
    schema: || {
        let properties = serde_json::json!({
            "all": flag("Whether to tell of problems that were there before, too."),
            "in": within(),
        });
        object(properties, &[])
    },
    begin: |given| reads(given, run),
};

/// Most findings listed one by one.
const MOST_LISTED: usize = 60;

#[derive(Deserialize)]
struct CheckDocsArguments {
    #[serde(default, deserialize_with = "lenient_bool")]
    all: bool,
    #[serde(default, rename = "in", alias = "paths", alias = "path", alias = "glob")]
    within: Patterns,
}

fn run(CheckDocsArguments { all, within }: CheckDocsArguments, workbench: &Workbench<'_>) -> CallResult {
    let site = Site::read(workbench.tree());
    let selection = Selection::of(&site, &workbench.patterns(&within)?).map_err(|why| why.to_string())?;
    let mut checked = match (all, selection.is_narrowed()) {
        (false, _) => new_findings(workbench.files.base(), workbench.tree(), &workbench.files.changed()),
        (true, false) => findings(workbench.tree()),
        (true, true) => {
            let files: Vec<String> = site.files().filter(|file| selection.has(file)).map(str::to_owned).collect();
            findings_in(workbench.tree(), &files)
        }
    };
    if selection.is_narrowed() {
        checked.findings.retain(|finding| selection.has(&finding.path));
    }
    let report = match (checked.findings.is_empty(), all) {
        (true, _) if !checked.is_certain() => "Nothing is known to be wrong.".to_owned(),
        (true, true) => "Nothing is wrong.".to_owned(),
        (true, false) => "Your changes broke nothing.".to_owned(),
        (false, _) => listed(&checked.findings),
    };
    Ok(format!("{report}{}", doubted(&checked.doubts)))
}

/// What could not be checked, as a paragraph of its own; empty when there is nothing.
pub(super) fn doubted(doubts: &[DoubtedFindings]) -> String {
    let lines: Vec<String> = doubts.iter().map(|doubt| format!("\n- {doubt}")).collect();
    if lines.is_empty() { String::new() } else { format!("\n\nNot understood:\n{}", lines.concat()) }
}

/// Findings as a list.
pub(super) fn listed(found: &[Finding]) -> String {
    let mut lines: Vec<String> = found.iter().take(MOST_LISTED).map(|finding| format!("- {finding}")).collect();
    if found.len() > MOST_LISTED {
        lines.push(format!("- … and {} more", found.len() - MOST_LISTED));
    }
    lines.join("\n")
}
