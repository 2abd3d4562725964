//! Merges two changes of one navigation file entry by entry instead of line by line.
//!
//! Two branches that each add a page change the same line, because a new page goes after its siblings. Merged as data,
//! both entries are kept. The order of our side is kept, and an addition of their side follows the item that precedes
//! it there. Whatever cannot be merged with certainty is a conflict.

mod json;
mod outline;
mod sequence;

use docent_markdown::file_name;

use crate::generators::mkdocs;
use crate::navigation::Navigation;

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NavigationMerge {
    /// The file is not a navigation file, or not one that can be parsed.
    NotUnderstood,
    Merged(Vec<u8>),
    /// The two changes contradict each other.
    Conflict,
}

/// The two changes contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Conflict;

/// Merges the changes from `base` to `theirs` into `ours` if the path is that of a navigation file: `docs.json`,
/// `mint.json`, sidebars in JSON, the `nav` of `mkdocs.yml`, `SUMMARY.md`.
pub fn merge_navigation(path: &str, [base, ours, theirs]: [&[u8]; 3]) -> NavigationMerge {
    let name = file_name(path);
    let [Ok(base), Ok(ours), Ok(theirs)] = [base, ours, theirs].map(str::from_utf8) else {
        return NavigationMerge::NotUnderstood;
    };
    let merged = if Navigation::FILES.contains(&name) || name.ends_with("sidebars.json") {
        json::merged(base, ours, theirs)
    } else if mkdocs::FILES.contains(&name) {
        outline::merged_nav(base, ours, theirs)
    } else if name.eq_ignore_ascii_case("SUMMARY.md") {
        outline::merged_summary(base, ours, theirs)
    } else {
        None
    };
    match merged {
        None => NavigationMerge::NotUnderstood,
        Some(Ok(text)) => NavigationMerge::Merged(text.into_bytes()),
        Some(Err(Conflict)) => NavigationMerge::Conflict,
    }
}

#[cfg(test)]
mod tests;
