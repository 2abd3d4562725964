//! A tree with changes made.

use std::collections::BTreeMap;

use docent_site::Tree;

use super::Refactored;
use super::edit::Change;

/// A tree with other files on top of it.
#[derive(Clone)]
pub struct ChangedTree<'a> {
    pub below: &'a dyn Tree,
    /// Files that were written, and those that are gone.
    pub files: BTreeMap<String, Option<Vec<u8>>>,
}

impl<'a> ChangedTree<'a> {
    pub fn new(below: &'a dyn Tree) -> Self {
        Self { below, files: BTreeMap::new() }
    }

    pub fn make(&mut self, done: &Refactored) {
        let bytes: Vec<_> =
            done.changes.iter().map(|change| (change.path().to_owned(), change.bytes_after(self))).collect();
        self.files.extend(bytes);
    }

    /// What is different from the tree below.
    pub fn changes(self) -> Vec<Change> {
        let change = |(path, bytes)| match bytes {
            Some(bytes) => Change::Create { path, bytes },
            None => Change::Delete { path },
        };
        self.files.into_iter().map(change).collect()
    }
}

impl std::fmt::Debug for ChangedTree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangedTree").field("files", &self.files.keys()).finish_non_exhaustive()
    }
}

impl Tree for ChangedTree<'_> {
    fn paths(&self) -> Vec<String> {
        let kept = self.below.paths().into_iter().filter(|path| !self.files.contains_key(path));
        let new = self.files.iter().filter(|(path, bytes)| bytes.is_some() && !path.starts_with("../"));
        kept.chain(new.map(|(path, _)| path.clone())).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned().unwrap_or_else(|| self.below.read(path))
    }

    fn root(&self) -> &str {
        self.below.root()
    }

    fn paths_outside(&self) -> Vec<String> {
        self.below.paths_outside()
    }
}
