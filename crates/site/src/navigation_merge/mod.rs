//! Two changes of one navigation, merged by its entries and not by its lines.
//!
//! Two branches that each add a page change the same line, as a new page goes behind its siblings. Merged as data, both
//! entries stay.
//! The order of the side that is merged into is kept, and what the other side added follows what stood before it there. What
//! does not fit for sure is a conflict.

mod json;
mod outline;
mod sequence;

use crate::generators::mkdocs;
use crate::navigation::Navigation;

/// What became of two changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NavigationMerge {
    /// The file is no navigation, or not one that is understood.
    NotUnderstood,
    Merged(Vec<u8>),
    /// The two changes do not fit together.
    Conflict,
}

/// Two changes do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Conflict;

/// Merges the changes from `base` to `theirs` into `ours`, where the path is that of a navigation: `docs.json`, `mint.json`,
/// sidebars in JSON, the `nav` of `mkdocs.yml`, `SUMMARY.md`.
pub fn merge_navigation(path: &str, [base, ours, theirs]: [&[u8]; 3]) -> NavigationMerge {
    let name = path.rsplit('/').next().unwrap_or(path);
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
