//! The problems that a generator or a browser finds in a site, so that two builds of it can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The folder into which the chores move pages.
pub(super) const MOVED: &str = "moved-here/";

/// A line with the original paths of moved pages.
pub(super) fn as_before_the_move(line: &str) -> String {
    line.replace(MOVED, "")
}

/// A set of lines.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    /// Each line, with the form in which it is shown (with a page that has it, if known). A dead link is its target, a
    /// tab, and the link verbatim.
    lines: BTreeMap<String, String>,
    /// For dead links: the link verbatim, and its target.
    known: BTreeSet<String>,
}

impl Warnings {
    /// The warnings in the output of a generator. Digits and scratch paths, which differ between builds, are removed.
    pub(super) fn of(said: &str, scratch: &Path) -> Self {
        let scratch = scratch.to_string_lossy();
        let mut warnings = Self::default();
        for line in without_colours(said).lines() {
            let line = line.replace(&format!("{scratch}/before"), "").replace(&format!("{scratch}/after"), "");
            let line = as_before_the_move(&line);
            let lower = line.to_lowercase();
            let is_warning = ["warn", "error", "broken", "dead link", "not found", "linking to", "missing", "unknown"]
                .iter()
                .any(|word| lower.contains(word));
            // Lines that only name a page, a count, or announce a list carry no warning of their own.
            let is_told_by_others = [
                "source page path",
                "frequent broken links",
                "some of the broken links",
                "maybe those",
                "found broken links!",
                "list of all broken links found",
                "possible to ignore broken links",
            ]
            .iter()
            .any(|words| lower.contains(words));
            if is_warning && !is_told_by_others {
                let without_digits: String = line.chars().filter(|c| !c.is_ascii_digit()).collect();
                warnings.lines.insert(without_digits.trim().to_owned(), line.trim().to_owned());
            }
        }
        warnings
    }

    /// Lines that are not in `before`. A broken relative link of a moved page has a new target but is not a new fault;
    /// a broken link of the theme is written differently on a moved page.
    pub(super) fn more_than(&self, before: &Self) -> Vec<String> {
        let is_new = |line: &&String| {
            let is_dead_link = line.contains('\t');
            let is_known = is_dead_link && line.split('\t').any(|part| before.known.contains(part));
            !before.lines.contains_key(*line) && !is_known
        };
        self.lines.iter().filter(|(line, _)| is_new(line)).map(|(_, shown)| shown.clone()).collect()
    }
}

/// Parses the lines of the example `dead_links`: the page, the link verbatim, its target.
pub(super) fn of_dead_links(lines: &str) -> Warnings {
    let mut warnings = Warnings::default();
    for line in lines.lines() {
        let mut columns = line.split('\t');
        let (Some(page), Some(written), Some(target)) = (columns.next(), columns.next(), columns.next()) else {
            continue;
        };
        let [written, target] = [written, target].map(as_before_the_move);
        warnings.lines.insert(format!("{target}\t{written}"), format!("{target}\t{written} on {page}"));
        warnings.known.extend([written, target]);
    }
    warnings
}

/// Parses the output of `tests/sites/mintlify/judge.mjs`.
pub(super) fn of_mintlify(judged: &Path) -> Result<Warnings, String> {
    let fault = |why: String| format!("could not read what Mintlify's checker found: {why}");
    let bytes = std::fs::read(judged).map_err(|error| fault(error.to_string()))?;
    let judged: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| fault(error.to_string()))?;
    let mut warnings = Warnings::default();
    for broken in judged["broken"].as_array().into_iter().flatten() {
        let line = broken["target"].as_str().unwrap_or_default();
        let page = broken["file"].as_str().unwrap_or_default();
        warnings.lines.insert(format!("{line}\t{line}"), format!("{line}\t{line} on {page}"));
    }
    Ok(warnings)
}

/// The text without ANSI colour sequences.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest = rest.get(1..).unwrap_or_default();
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_told() {
        let scratch = Path::new("/tmp/x");
        let before = Warnings::of("WARNING - /tmp/x/before/a.md has `gone`\nBuilt in 3 s\n", scratch);
        let after = Warnings::of(
            "\u{1b}[33mWARNING\u{1b}[0m - /tmp/x/after/moved-here/a.md has `gone`\nWARNING: `b` is missing\nBuilt in 4 s\n",
            scratch,
        );
        assert_eq!(after.more_than(&before), ["WARNING: `b` is missing"]);
    }

    #[test]
    fn a_dead_link_of_a_page_that_moved_is_not_new() {
        let before = of_dead_links("/a\t../gone\t/gone\n");
        let after = of_dead_links("/moved/a\t../gone\t/moved/gone\n/b\t/a\t/a\n");
        assert_eq!(after.more_than(&before), ["/a\t/a on /b"]);
    }
}
