//! Refactors a docs site and keeps it consistent: when a page moves, its links, navigation and redirect follow.
//!
//! Each refactor is pure: it reads a [`Tree`](docent_site::Tree) and returns a [`Refactored`] with the changes and a
//! report. Nothing is written to disk. Changes to a file are byte-range edits, so that all other bytes stay the same.

mod add_page;
mod alias;
mod broken_links;
mod delete_page;
mod descriptions;
mod edit;
mod field;
mod fix_links;
mod history;
mod move_page;
mod navigation;
mod nearest;
mod occurrences;
mod protected_ranges;
mod replace;
mod round_trip;
mod selection;

use docent_site::{ChangedTree, GlobError, Site};
use thiserror::Error;

pub use add_page::{OutlineHeading, add_page, new_page_path};
pub use delete_page::delete_page;
pub use descriptions::{add_descriptions, add_titles};
pub use edit::{Change, TextEdit, apply};
pub use field::{FieldContent, set_front_matter};
pub use fix_links::fix_links;
pub use history::History;
pub use move_page::move_page;
pub use occurrences::occurrences;
pub use replace::replace_text;
pub use selection::Selection;

/// The result of a refactor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refactored {
    /// At most one change per file.
    pub changes: Vec<Change>,
    /// What was changed, in one sentence.
    pub summary: String,
    /// What was changed where, one line each.
    pub details: Vec<String>,
    /// What is left to the user and why, one line each.
    pub left: Vec<String>,
}

impl Refactored {
    /// Applies the changes to a tree.
    pub fn make(&self, tree: &mut ChangedTree<'_>) {
        let files: Vec<_> =
            self.changes.iter().map(|change| (change.path().to_owned(), change.bytes_after(tree))).collect();
        tree.files.extend(files);
    }
}

/// Why a refactor was refused. The message says what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RefactorError {
    #[error("there is no page `{0}`")]
    NoSuchPage(String),
    #[error("there is no page `{name}`; did you mean {}?", listed(nearest))]
    NoSuchPageBut { name: String, nearest: Vec<String> },
    #[error("there is a file `{0}` already; choose another path, or move or delete that one first")]
    Occupied(String),
    #[error("`{path}` cannot be the path of a page: {why}")]
    BadPath { path: String, why: &'static str },
    #[error("no page or file matches `{0}`; give a path or a glob relative to the docs root, such as `guides/**`")]
    NothingMatches(String),
    #[error(transparent)]
    BadGlob(#[from] GlobError),
    #[error("the text to replace is empty")]
    EmptyText,
    #[error("`{0}` is not the name of a front matter field; use letters, digits, `_`, `-`, `.` and `:`")]
    BadField(String),
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

/// Pages that were served before and are no longer, such as a translation without its original.
fn unserved(before: &Site, after: &Site) -> Vec<String> {
    let lost = |file: &&str| before.address(file).is_some() && after.address(file).is_none();
    before.files().filter(lost).map(str::to_owned).collect()
}

/// The same page in other languages: the addresses are equal except for the language folder.
fn translations<'s>(site: &'s Site, file: &str) -> Vec<&'s str> {
    let of = |file: &str| {
        let language = site.layout().place(file).language;
        let address = site.address(file)?;
        let (first, rest) = address.split_once('/').unwrap_or((address, ""));
        // The folder of `zh-Hans` may be `zh`.
        let begins = |language: &str| {
            let begins = language.get(..first.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(first));
            begins && first.len() > 1 && !language[first.len()..].starts_with(char::is_alphanumeric)
        };
        let has_folder = language.as_deref().is_some_and(begins);
        Some((language, if has_folder { rest.to_owned() } else { address.to_owned() }))
    };
    let Some((language, path)) = of(file) else { return Vec::new() };
    let is_other = |other: &&str| of(other).is_some_and(|(its, its_path)| its != language && its_path == path);
    site.files().filter(is_other).collect()
}

/// `1 page`, `2 pages`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod properties;
#[cfg(test)]
pub(crate) mod sample;
