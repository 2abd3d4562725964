//! Small sites for tests.

use std::collections::BTreeMap;

use docent_site::Tree;

use super::{Change, RefactorError, Refactored};

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A tree from paths and texts.
pub(crate) fn site(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// The tree after a refactor.
pub(crate) fn after(tree: &Files, refactored: &Refactored) -> Files {
    let mut files = tree.clone();
    for change in &refactored.changes {
        match change.bytes_after(tree) {
            Some(bytes) => files.insert(change.path().to_owned(), bytes),
            None => files.remove(change.path()),
        };
    }
    files
}

/// Moves a page of a tree without earlier changes.
pub(crate) fn move_page(tree: &dyn Tree, from: &str, to: &str) -> Result<Refactored, RefactorError> {
    super::move_page(tree, tree, from, to)
}

/// A file of a tree as text.
#[track_caller]
pub(crate) fn text(tree: &dyn Tree, path: &str) -> String {
    String::from_utf8(tree.read(path).unwrap_or_else(|| panic!("no file {path}"))).expect("text")
}

/// The paths that changed, in order.
pub(crate) fn touched(refactored: &Refactored) -> Vec<&str> {
    let mut paths: Vec<&str> = refactored.changes.iter().map(Change::path).collect();
    paths.sort_unstable();
    paths
}
